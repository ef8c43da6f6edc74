"""Who asks for tiles."""

import pytest
from django.test import Client

from tests.people import signed_in


@pytest.fixture
def reader(bruno):
    """The client of someone who may see slides."""
    return signed_in(bruno)


@pytest.fixture
def stranger(eve):
    return signed_in(eve)


@pytest.fixture
def nobody():
    return Client()
