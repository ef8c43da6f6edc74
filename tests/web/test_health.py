import pytest
from django.db import connection
from django.test import Client

from medbench.errors import Unavailable


def sweep():
    return {"age_s": 1.5}


def broken():
    raise Unavailable("No worker has looked for work in the last minute.")


def test_health_is_ok_when_every_check_is(db, settings):
    settings.HEALTH_CHECKS = {"database": "medbench.web.health.database", "jobs": f"{__name__}.sweep"}
    answer = Client().get("/healthz")
    assert answer.status_code == 200
    assert answer.json() == {
        "ok": True,
        "version": settings.VERSION,
        "checks": {"database": {"ok": True}, "jobs": {"ok": True, "age_s": 1.5}},
    }


def test_one_broken_part_is_named_and_the_others_still_answer(db, settings):
    settings.HEALTH_CHECKS = {"jobs": f"{__name__}.broken", "database": "medbench.web.health.database"}
    answer = Client().get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {
        "jobs": {"ok": False, "message": "No worker has looked for work in the last minute."},
        "database": {"ok": True},
    }


def test_a_database_that_is_gone_is_said_without_its_address(settings, monkeypatch):
    from django.db import OperationalError

    def refuse(*args, **kwargs):
        raise OperationalError("could not connect to host db.internal")

    settings.HEALTH_CHECKS = {"database": "medbench.web.health.database"}
    monkeypatch.setattr(connection, "cursor", refuse)
    answer = Client().get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["database"] == {"ok": False, "message": "The database does not answer."}
    assert "db.internal" not in answer.content.decode()


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_health_is_only_read(client, method):
    assert getattr(client, method)("/healthz").status_code == 405
