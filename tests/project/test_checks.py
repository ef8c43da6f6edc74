"""A site that must not run does not start, and says why."""

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.core.checks import run_checks


def found(*, deployment=False):
    return {error.id for error in run_checks(tags=["medbench"], include_deployment_checks=deployment)}


@pytest.fixture
def site_in_production(settings, monkeypatch):
    settings.PRODUCTION = True
    settings.SECRET_KEY = "a key of this site"
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.postgresql")
    return settings


def test_a_new_machine_needs_nothing(settings):
    settings.SLIDE_DIR = settings.VAR_DIR / "not-made-yet"
    assert found() == set()


def test_a_complete_site_passes(site_in_production):
    assert found() == set()


def test_the_development_key_is_refused_in_production(site_in_production):
    site_in_production.SECRET_KEY = settings.DEVELOPMENT_KEY
    assert found() == {"medbench.E001"}


def test_sqlite_is_refused_in_production(site_in_production, monkeypatch):
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.sqlite3")
    assert found() == {"medbench.E002"}


def test_a_missing_slide_folder_is_refused_in_production(site_in_production):
    site_in_production.SLIDE_DIR = settings.VAR_DIR / "absent"
    assert found() == {"medbench.E003"}


def test_a_file_in_place_of_the_slide_folder_is_refused_everywhere(settings, tmp_path):
    settings.SLIDE_DIR = tmp_path / "slides"
    settings.SLIDE_DIR.write_text("not a folder")
    assert found() == {"medbench.E003"}


@pytest.mark.parametrize("address", ["redis://127.0.0.1:1/0", "amqp://127.0.0.1:1//", "nonsense://x"])
def test_a_silent_broker_is_named_by_the_deployment_check_alone(settings, address):
    settings.EMBEDDED_WORKER = False
    settings.BROKER_URL = address
    assert found() == set()
    assert found(deployment=True) == {"medbench.E004"}


def test_the_server_does_not_start_with_the_development_key():
    environment = os.environ | {
        "MEDBENCH_PRODUCTION": "True",
        "DATABASE_URL": "postgres://medbench@localhost/medbench",
    }
    server = subprocess.run(
        [sys.executable, "-c", "import medbench.wsgi"],
        env=environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert server.returncode == 1
    assert "MEDBENCH_SECRET_KEY is not set" in server.stderr
