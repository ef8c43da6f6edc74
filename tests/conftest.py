"""What every test can ask for. People are in people.py, the browser is in chromium.py.

Django is set up here, before any test module is imported, on a folder of its own: no test writes
into var/. With xdist every worker has its own folder and its own database.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

VAR_DIR = Path(tempfile.mkdtemp(prefix="medbench-tests-"))
atexit.register(shutil.rmtree, VAR_DIR, ignore_errors=True)
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "medbench.settings",
    "DJANGO_ALLOW_ASYNC_UNSAFE": "1",  # Playwright's loop runs in the thread of the tests
    "MEDBENCH_VAR_DIR": str(VAR_DIR),
    "MEDBENCH_SLIDE_DIR": str(VAR_DIR / "slides"),
    "MEDBENCH_PRODUCTION": "False",
    "MEDBENCH_DEBUG": "False",
}

import django  # noqa: E402  # reads the environment above
import hypothesis  # noqa: E402
import pytest  # noqa: E402
from django.conf import settings  # noqa: E402

from tests.required import absent  # noqa: E402

settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast
settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
settings.STATIC_ROOT.mkdir()  # WhiteNoise warns of a missing folder
settings.SLIDE_DIR.mkdir()
# Nothing serves uploads by address. The live server of Django would, and under the default "" at any.
settings.MEDIA_URL = "/uploads-by-address/"
# N+1 queries are errors.
settings.INSTALLED_APPS.append("zeal")
settings.MIDDLEWARE.insert(0, "zeal.middleware.zeal_middleware")
settings.ZEAL_RAISE = True
# Signing out reads the session twice, once to end it.
settings.ZEAL_ALLOWLIST = [{"model": "sessions.Session", "field": "get()"}]
if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, as in real life: threads and processes have connections of their own.
    settings.DATABASES["default"]["TEST"] = {"NAME": VAR_DIR / "test.sqlite3"}
django.setup()
# No example is judged by its time: machines are shared.
hypothesis.settings.register_profile("medbench", deadline=None)
hypothesis.settings.load_profile("medbench")
# A worker of xdist inherits this environment and must read its own first.
del os.environ["DJANGO_SETTINGS_MODULE"]

pytest_plugins = ["tests.people", "tests.chromium", "tests.slide_files", "tests.evals.serving"]


@pytest.fixture(scope="session")
def testdata():
    """The folder of the real slides, bundles and golden values (read only)."""
    folder = settings.TEST_DATA_DIR
    if not (folder / "data").is_dir():
        absent(
            f"No test data in {folder}: set MEDBENCH_TESTDATA to the folder that holds data/ and golden/.",
            "CI",
            "MEDBENCH_REQUIRE_TESTDATA",
        )
    return folder


@pytest.fixture
def child_environment(transactional_db):
    """The environment for child processes (workers, commands) that see the same test database."""
    from django.db import connection

    database = connection.settings_dict
    if connection.vendor == "sqlite":
        url = f"sqlite:///{database['NAME']}"
    else:
        sign_in = f"{database['USER']}:{database['PASSWORD']}" if database["PASSWORD"] else database["USER"]
        url = f"postgres://{sign_in}@{database['HOST']}:{database['PORT'] or 5432}/{database['NAME']}"
    return os.environ | {"DJANGO_SETTINGS_MODULE": "medbench.settings", "DATABASE_URL": url}
