from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from medbench.accounts.models import ApiToken
from medbench.accounts.services.tokens import make_token, revoke_token

ME = "/api/v1/me/"


def ask(secret, scheme="Bearer", **extra):
    return Client().get(ME, headers={"Authorization": f"{scheme} {secret}"}, **extra)


@pytest.fixture
def rosas(rosa):
    """Rosa's token and its secret."""
    return make_token(rosa, "nightly run", expires_at=None)


def test_a_token_acts_for_its_user(rosas, team):
    _, secret = rosas
    assert ask(secret).json() == {
        "username": "rosa",
        "name": "Rosa Lind",
        "email": "",
        "is_site_curator": False,
        "teams": [{"id": team.pk, "name": "Colon insight", "roles": ["researcher"]}],
    }


def test_the_secret_is_not_stored(rosas):
    token, secret = rosas
    stored = " ".join(str(value) for value in ApiToken.objects.values().get().values())
    assert secret not in stored
    assert secret.startswith(token.prefix)
    assert len(secret) - len(token.prefix) > 30  # characters that nobody can guess


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ("expire", "token_expired", "This token has expired. Make a new one."),
        ("revoke", "token_revoked", "This token was revoked. Make a new one."),
        ("deactivate", "token_unknown", "There is no such token. Make one under Settings, API tokens."),
    ],
)
def test_a_token_that_no_longer_works_says_why(rosas, rosa, change, code, message):
    token, secret = rosas
    if change == "expire":
        ApiToken.objects.update(expires_at=timezone.now())
    elif change == "revoke":
        revoke_token(token)
    else:
        rosa.is_active = False
        rosa.save()
    answer = ask(secret)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer.json() == {"code": code, "message": message}


@pytest.mark.parametrize("secret", ["", "mb_", "mb_" + "x" * 5000, "\x00", "schlüssel", "a b"])
def test_what_is_no_token_is_refused(db, secret):
    answer = ask(secret)
    assert (answer.status_code, answer.json()["code"]) == (401, "token_unknown")


def test_a_bad_token_beside_a_good_session_is_refused(rosa):
    client = Client()
    client.force_login(rosa)
    assert client.get(ME).status_code == 200
    assert client.get(ME, headers={"Authorization": "Bearer nonsense"}).status_code == 401


def test_nobody_is_told_to_send_a_token(db):
    answer = Client().get(ME)
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.json() == {
        "code": "not_authenticated",
        "message": "Send a token (Authorization: Bearer …) or sign in.",
    }


def test_use_is_noted_at_most_once_a_minute(rosas, time_machine):
    token, secret = rosas
    start = timezone.now()
    time_machine.move_to(start, tick=False)
    noted = []
    for seconds in (0, 30, 59, 60, 61):
        time_machine.move_to(start + timedelta(seconds=seconds), tick=False)
        ask(secret)
        token.refresh_from_db()
        noted.append((token.last_used_at - start).total_seconds())
    assert noted == [0, 0, 0, 60, 60]


def test_the_scheme_is_read_in_any_case_of_letters(rosas):
    assert ask(rosas[1], scheme="bearer").status_code == 200


def test_me_asks_the_database_equally_often_for_one_and_three_teams(
    rosas, rosa, django_assert_num_queries, django_assert_max_num_queries
):
    from tests.people import Role, Team, join

    ask(rosas[1])  # notes the use
    with django_assert_num_queries(4):
        ask(rosas[1])
    for name in ("Lung", "Breast"):
        join(Team.objects.create(name=name), rosa, Role.RESEARCHER)
    with django_assert_num_queries(4):
        assert len(ask(rosas[1]).json()["teams"]) == 3
