"""Settings of the worker processes in these tests: jobs alone, with work of its own. It shows that
jobs knows nothing of the applications it works for."""

from medbench.settings import *  # noqa: F403

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "medbench.accounts",
    "medbench.jobs",
    "tests.jobs.steps_app.apps.StepsConfig",
]
MIDDLEWARE: list = []
ROOT_URLCONF = __name__
urlpatterns: list = []
