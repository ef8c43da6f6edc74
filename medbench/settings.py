"""All settings. What differs between places is an environment variable, listed in .env.example."""

from pathlib import Path

import environ
from csp.constants import NONE, SELF

env = environ.FileAwareEnv()  # NAME_FILE is read where NAME is not set
BASE_DIR = Path(__file__).resolve().parent.parent
env.read_env(BASE_DIR / ".env")

VERSION = "0.3.0"

# --- Place -------------------------------------------------------------------
PRODUCTION = env.bool("MEDBENCH_PRODUCTION", default=False)
DEBUG = env.bool("MEDBENCH_DEBUG", default=False)
DEVELOPMENT_KEY = "development-only-key-never-used-in-production"
SECRET_KEY = env.str("MEDBENCH_SECRET_KEY", default=DEVELOPMENT_KEY)
ALLOWED_HOSTS = env.list("MEDBENCH_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("MEDBENCH_TRUSTED_ORIGINS", default=[])
VAR_DIR = Path(env.str("MEDBENCH_VAR_DIR", default=str(BASE_DIR / "var")))
SLIDE_DIR = Path(env.str("MEDBENCH_SLIDE_DIR", default=str(VAR_DIR / "slides")))
VAR_DIR.mkdir(parents=True, exist_ok=True)
MEDIA_ROOT = VAR_DIR / "files"  # uploads; never served by address
TEST_DATA_DIR = Path(env.str("MEDBENCH_TESTDATA", default=str(BASE_DIR.parent / "shared")))

# --- Rules that a site owner may change ----------------------------------------
RESEARCHERS_MAY_REGISTER = env.bool("MEDBENCH_RESEARCHERS_MAY_REGISTER", default=True)
RESULT_FILE_MAX_BYTES = env.int("MEDBENCH_RESULT_FILE_MAX_BYTES", default=20_000_000)
INSIGHT_MAX_CHARACTERS = env.int("MEDBENCH_INSIGHT_MAX_CHARACTERS", default=1_000)
INSIGHTS_MAX_PER_CASE = env.int("MEDBENCH_INSIGHTS_MAX_PER_CASE", default=40)
SUBMISSIONS_PER_DAY = env.int("MEDBENCH_SUBMISSIONS_PER_DAY", default=10)  # of a person; 0 = no limit

# --- Judges: models that score. Their keys are sealed with the first secret; all of them open -----
JUDGE_SECRETS = env.list("MEDBENCH_JUDGE_SECRETS", default=[SECRET_KEY])
JUDGE_ADDRESSES = env.list("MEDBENCH_JUDGE_ADDRESSES", default=[])  # beside the providers' own
JUDGE_NETWORKS = env.list("MEDBENCH_JUDGE_NETWORKS", default=[])  # that are not public, as 10.1.0.0/16
# Clients of providers prefer these to the address and key that they are given, so a key could leak.
_DETOURS = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "GOOGLE_BASE_URL", "OPENAI_BASE_URL")
JUDGE_DETOURS = [name for name in _DETOURS if env.str(name, default="")]

# --- Applications --------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "csp",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "medbench.accounts",
    "medbench.jobs",
    "medbench.api",
    "medbench.web",
    "medbench.slides",
    "medbench.cases",
    "medbench.review",
    "medbench.demo",
    "annotation",
    "leaderboard",
]
MIDDLEWARE = [
    "medbench.slides.middleware.StoredTiles",
    "medbench.web.middleware.Headers",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "medbench.web.middleware.ErrorPages",
]
ROOT_URLCONF = "medbench.urls"
WSGI_APPLICATION = "medbench.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "medbench.web.context.frame",
            ],
            "builtins": ["medbench.web.templatetags.medbench"],
        },
    }
]

# --- Database ------------------------------------------------------------------
DATABASES = {"default": env.db("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'medbench.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = {
        # A writer takes the lock when its transaction begins, so two writers wait for each other
        # instead of failing with "database is locked" half-way.
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Background work: the job row is the truth, the broker is a doorbell ---------
BROKER_URL = env.str("BROKER_URL", default="memory://")
EMBEDDED_WORKER = BROKER_URL.startswith("memory:")
CELERY_BROKER_URL = "memory://localhost" if EMBEDDED_WORKER else BROKER_URL
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"socket_connect_timeout": 2, "socket_timeout": 5} if BROKER_URL.startswith("redis") else {}
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker outlives any absence of its broker
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_max": 0}
CELERY_TASK_IGNORE_RESULT = True
CELERY_IMPORTS = ["medbench.jobs.worker"]
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = 2
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True  # there are none: silences a warning
JOB_SWEEP_SECONDS = env.float("MEDBENCH_JOB_SWEEP_SECONDS", default=0.3 if EMBEDDED_WORKER else 5.0)

# --- People --------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
LOGIN_URL = "accounts:sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("username", "name", "email")},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# How many proxies of ours stand before the site and each add the address they saw to X-Forwarded-For.
TRUSTED_PROXIES = env.int("MEDBENCH_TRUSTED_PROXIES", default=1 if PRODUCTION else 0)
# Annotators hear by mail of new work. Nothing is sent unless both are known.
MAIL_URL = env.str("MEDBENCH_MAIL_URL", default="")
SITE_ADDRESS = env.str("MEDBENCH_ADDRESS", default="").rstrip("/")
SENDS_MAIL = bool(MAIL_URL and SITE_ADDRESS)
DEFAULT_FROM_EMAIL = env.str("MEDBENCH_MAIL_FROM", default="medbench@localhost")
if MAIL_URL:
    globals().update(environ.Env.email_url_config(MAIL_URL))  # EMAIL_HOST and the like
    EMAIL_TIMEOUT = 20  # seconds
PASSWORD_RESET_TIMEOUT = 24 * 3600  # of a link that a curator issues
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# --- Slides: who may see one is decided by the application that owns the cases ----
SLIDE_ACCESS = "medbench.cases.permissions.may_see_slide"
SLIDE_CURATED = "medbench.cases.permissions.curated_slides"
# What must be decoded is decoded by so many processes for each of the site's, and kept on disk.
SLIDE_DECODERS = env.int("MEDBENCH_SLIDE_DECODERS", default=2)
SLIDE_CACHE_BYTES = env.int("MEDBENCH_SLIDE_CACHE_BYTES", default=2_000_000_000)

# --- Health: name -> function that raises errors.Unavailable; see medbench.web.health ---
HEALTH_CHECKS = {"database": "medbench.web.health.database", "jobs": "medbench.jobs.health.sweep"}

# --- API -----------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "medbench.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PAGINATION_CLASS": "medbench.api.pagination.Pages",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "medbench.api.errors.answer",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "DEFAULT_METADATA_CLASS": None,  # OPTIONS would describe what the schema describes better
    # A brake for scripts that run away, counted in each process by itself.
    "DEFAULT_THROTTLE_CLASSES": [
        "rest_framework.throttling.AnonRateThrottle",
        "rest_framework.throttling.UserRateThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {"anon": "120/min", "user": "1200/min"},
    "NUM_PROXIES": TRUSTED_PROXIES,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "MedBench",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {"StudyStateEnum": "annotation.models.Study.State"},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "medbench.api.schema.add_problems",
    ],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
}

# --- Files served to the browser --------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "medbench.web.storage.StaticFiles"},
}
FILE_UPLOAD_PERMISSIONS = 0o600
DATA_UPLOAD_MAX_MEMORY_SIZE = 5_000_000

# --- Security -------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "medbench.web.views.csrf_failure"
if PRODUCTION:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$"]  # asked from inside, without TLS
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# --- Language and time ------------------------------------------------------------
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True
USE_THOUSAND_SEPARATOR = False

# --- Logging: one line a record to stderr ------------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(code)s%(message)s"}},
    "filters": {"code": {"()": "medbench.web.logs.RequestErrorCode"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["code"]}},
    "root": {"handlers": ["stderr"], "level": env.str("MEDBENCH_LOG_LEVEL", default="WARNING")},
}
