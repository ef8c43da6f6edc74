"""The people of all tests, and one team.

Ada curates, Bruno and Chen annotate, Dara adjudicates, Rosa submits results. Eve has an account
and no role: to her, nothing of the team exists.
"""

import pytest
from django.test import Client

from medbench.accounts.models import AnnotatorProfile, Membership, Team, User
from medbench.accounts.permissions import Role

PASSWORD = "a long enough password"


def make_person(username, name=None, **fields):
    """Someone with an account and no role."""
    return User.objects.create_user(username, password=PASSWORD, name=name or username.title(), **fields)


def make_annotator(username, name=None, background="pathologist", field="", years=None):
    """Someone with an annotator profile and no role yet."""
    person = make_person(username, name)
    AnnotatorProfile.objects.create(user=person, background=background, field=field, years=years)
    return person


def join(team, person, *roles):
    """Give `person` roles in `team`; answers the person."""
    for role in roles:
        Membership.objects.create(team=team, user=person, role=role)
    person.__dict__.pop("roles_by_team", None)  # read once for each user object
    return person


def signed_in(person):
    """A test client in which `person` is signed in."""
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def team(db):
    return Team.objects.create(name="Colon insight")


@pytest.fixture
def ada(team):
    return join(team, make_person("ada", "Ada Novak"), Role.CURATOR)


@pytest.fixture
def bruno(team):
    return join(team, make_annotator("bruno", "Bruno Costa", "pathologist", "colon", 12), Role.ANNOTATOR)


@pytest.fixture
def chen(team):
    return join(team, make_annotator("chen", "Chen Wei", "student", "general", 2), Role.ANNOTATOR)


@pytest.fixture
def dara(team):
    return join(team, make_annotator("dara", "Dara Okafor", "pathologist", "colon", 20), Role.ADJUDICATOR)


@pytest.fixture
def rosa(team):
    return join(team, make_person("rosa", "Rosa Lind"), Role.RESEARCHER)


@pytest.fixture
def eve(db):
    return make_person("eve", "Eve Marsh")
