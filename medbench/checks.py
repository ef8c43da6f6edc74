"""What must hold before the site runs. Django runs these before every command; wsgi.py before serving.

The broker is asked only by `check --deploy`: work waits in the database, so a site whose broker
is down for a moment need not stop.
"""

from __future__ import annotations

import os

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

TAG = "medbench"


@register(TAG)
def secret_key(**_: object) -> list[CheckMessage]:
    """Everybody knows the development key, so whoever uses it can sign in as anyone."""
    if settings.PRODUCTION and settings.SECRET_KEY == settings.DEVELOPMENT_KEY:
        return [
            Error("MEDBENCH_SECRET_KEY is not set.", hint="Give it 50 random characters.", id="medbench.E001")
        ]
    return []


@register(TAG)
def database(**_: object) -> list[CheckMessage]:
    """SQLite takes one writer at a time: autosave of a whole study would queue behind it."""
    if settings.PRODUCTION and settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        return [
            Error(
                "A site in production does not run on SQLite.",
                hint="Set DATABASE_URL=postgres://USER:PASSWORD@HOST/NAME.",
                id="medbench.E002",
            )
        ]
    return []


@register(TAG)
def slide_folder(**_: object) -> list[CheckMessage]:
    """A missing folder is fine on a new machine, not on a site that people use."""
    folder = settings.SLIDE_DIR
    if folder.is_dir() and os.access(folder, os.R_OK | os.X_OK):
        return []
    if not folder.exists() and not settings.PRODUCTION:
        return []
    return [
        Error(
            f"The slide folder {folder} cannot be read.",
            hint="Create it, let this user read it, or set MEDBENCH_SLIDE_DIR.",
            id="medbench.E003",
        )
    ]


@register(TAG, deploy=True)
def broker(**_: object) -> list[CheckMessage]:
    """Whether the broker answers."""
    if settings.EMBEDDED_WORKER:
        return []
    from kombu import Connection  # these checks run at every command, this one does not
    from kombu.exceptions import OperationalError

    try:
        with Connection(settings.BROKER_URL, connect_timeout=3) as connection:
            connection.ensure_connection(max_retries=1, timeout=3)
    except (OperationalError, KeyError) as error:  # KeyError: no such kind of broker
        return [
            Error(
                f"The broker does not answer: {error}",
                hint="Start it, or correct BROKER_URL. Without BROKER_URL, work is found in the database.",
                id="medbench.E004",
            )
        ]
    return []
