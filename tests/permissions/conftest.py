"""The world is built once for each module; what a visit changes in it is undone."""

import pytest
from django.db import transaction

from tests.permissions.world import build_world


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), transaction.atomic():
        yield build_world()
        transaction.set_rollback(True)
