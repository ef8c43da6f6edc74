"""Whether this process and what it stands on work. Applications add checks in settings.HEALTH_CHECKS.

A check is a function that answers what is worth knowing as a dict of plain values and raises
`medbench.errors.Unavailable` where something does not work. Its message is public: no addresses,
no names.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils.module_loading import import_string

from medbench.errors import Unavailable


def check_all() -> dict[str, Any]:
    """`{"ok", "version", "checks": {name: {"ok", ...}}}`"""
    checks = {name: _run(path) for name, path in settings.HEALTH_CHECKS.items()}
    return {"ok": all(each["ok"] for each in checks.values()), "version": settings.VERSION, "checks": checks}


def _run(path: str) -> dict[str, Any]:
    try:
        return {"ok": True, **import_string(path)()}
    except Unavailable as error:
        return {"ok": False, "message": error.message}


def database() -> dict[str, Any]:
    """Whether the database answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        raise Unavailable("The database does not answer.") from error
    return {}
