"""One's own settings, password and tokens."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from medbench.accounts.models import ApiToken, User
from medbench.accounts.services.tokens import make_token
from tests.people import PASSWORD, make_person, signed_in

FIELDS = {
    "name": "Ada N.",
    "email": "ada@novak.example",
    "theme": "dark",
    "compact_tables": "on",
    "time_zone": "Europe/Berlin",
    "background": "",
    "field": "",
    "years": "",
}


def test_settings_change_the_look_of_every_page(ada):
    client = signed_in(ada)
    assert client.post("/settings/", FIELDS)["Location"] == "/settings/"
    page = client.get("/").content.decode()
    assert 'data-theme="dark" data-density="compact" data-single-keys="off"' in page
    ada.refresh_from_db()
    assert (ada.name, ada.email, ada.time_zone) == ("Ada N.", "ada@novak.example", "Europe/Berlin")


def test_the_annotator_profile_is_kept_and_taken_away(rosa):
    client = signed_in(rosa)
    client.post("/settings/", FIELDS | {"background": "student", "field": "lung", "years": "3"})
    profile = User.objects.get(pk=rosa.pk).annotator_profile
    assert (profile.background, profile.field, profile.years) == ("student", "lung", 3)
    client.post("/settings/", FIELDS)
    assert not hasattr(User.objects.get(pk=rosa.pk), "annotator_profile")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "This field is required."),
        ({"email": "EVE@marsh.example"}, "Someone with this e-mail address is registered already."),
        ({"theme": "pink"}, "pink is not one of the available choices."),
        ({"time_zone": "Mars/Olympus"}, "Mars/Olympus is not one of the available choices."),
        ({"field": "lung"}, "Choose a background, or leave all three empty."),
        ({"background": "student", "years": "-1"}, "Ensure this value is greater than or equal to 0."),
        ({"background": "student", "years": "71"}, "Give the number of years, at most 70."),
        ({"background": "student", "years": "9" * 30}, "Give the number of years, at most 70."),
    ],
)
def test_settings_say_what_is_wrong_and_save_nothing(ada, change, words):
    make_person("eve", email="eve@marsh.example")
    answer = signed_in(ada).post("/settings/", FIELDS | {"name": "Other"} | change)
    page = answer.content.decode()
    assert words in page
    assert "1 problem. Nothing was saved." in page
    assert '<summary class="bar-link">Ada Novak</summary>' in page
    ada.refresh_from_db()
    assert (ada.name, ada.theme) == ("Ada Novak", "system")


def test_a_new_password_ends_other_sessions_and_keeps_this_one(ada):
    here, elsewhere = signed_in(ada), signed_in(ada)
    answer = here.post("/settings/password/", {"old": PASSWORD, "password": "quite another password"})
    assert answer["Location"] == "/settings/password/"
    assert here.get("/settings/").status_code == 200
    assert elsewhere.get("/settings/").status_code == 302
    ada.refresh_from_db()
    assert ada.check_password("quite another password")


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"old": "wrong", "password": "quite another password"}, "This is not your current password."),
        ({"old": PASSWORD, "password": "short"}, "too short"),
        ({"old": PASSWORD, "password": "ada novak"}, "too similar to the full name"),
        ({"old": PASSWORD, "password": ""}, "This field is required."),
    ],
)
def test_a_refused_password_changes_nothing(ada, sent, words):
    answer = signed_in(ada).post("/settings/password/", sent)
    page = answer.content.decode()
    assert words in page
    assert "quite another password" not in page
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_a_token_is_shown_once_and_works(rosa):
    client = signed_in(rosa)
    answer = client.post("/settings/tokens/", {"name": "nightly", "days": "30"})
    secret = answer.context["secret"]
    assert secret in answer.content.decode()
    assert secret not in client.get("/settings/tokens/").content.decode()
    assert Client().get("/api/v1/me/", headers={"Authorization": f"Bearer {secret}"}).status_code == 200
    lives = ApiToken.objects.get().expires_at - timezone.now()
    assert timedelta(days=29, hours=23) < lives <= timedelta(days=30)


def test_a_token_may_last_until_it_is_revoked(rosa):
    signed_in(rosa).post("/settings/tokens/", {"name": "server", "days": "0"})
    assert ApiToken.objects.get().expires_at is None


@pytest.mark.parametrize(
    "sent", [{"name": "", "days": "30"}, {"name": "x" * 81, "days": "30"}, {"name": "x", "days": "9999"}]
)
def test_a_refused_token_is_not_made(rosa, sent):
    answer = signed_in(rosa).post("/settings/tokens/", sent)
    assert "1 problem. Nothing was saved." in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_a_revoked_token_opens_nothing_and_leaves_the_list(rosa):
    token, secret = make_token(rosa, "nightly", expires_at=None)
    client = signed_in(rosa)
    client.post(f"/settings/tokens/{token.pk}/revoke/")
    assert Client().get("/api/v1/me/", headers={"Authorization": f"Bearer {secret}"}).status_code == 401
    assert token.prefix not in client.get("/settings/tokens/").content.decode()


def test_nobody_sees_or_revokes_the_tokens_of_others(rosa, eve):
    token, _ = make_token(rosa, "nightly", expires_at=None)
    client = signed_in(eve)
    assert token.prefix not in client.get("/settings/tokens/").content.decode()
    assert client.post(f"/settings/tokens/{token.pk}/revoke/").status_code == 404
    token.refresh_from_db()
    assert token.revoked_at is None


def test_the_list_of_tokens_asks_equally_often_for_one_and_three(
    rosa, django_assert_max_num_queries, django_assert_num_queries
):
    client = signed_in(rosa)
    make_token(rosa, "one", expires_at=None)
    with django_assert_max_num_queries(10) as one:
        client.get("/settings/tokens/")
    make_token(rosa, "two", expires_at=timezone.now())
    make_token(rosa, "three", expires_at=None)
    with django_assert_num_queries(len(one)):
        page = client.get("/settings/tokens/").content.decode()
    assert "Expired" in page


def test_mail_about_work_can_be_turned_off_where_the_site_sends_mail(ada, settings):
    client = signed_in(ada)
    assert "Mail about my work" not in client.get("/settings/").content.decode()
    client.post("/settings/", FIELDS)  # what is not asked about stays
    assert User.objects.get(pk=ada.pk).mail_about_work
    settings.SENDS_MAIL = True
    assert "Mail about my work" in client.get("/settings/").content.decode()
    client.post("/settings/", FIELDS)
    assert not User.objects.get(pk=ada.pk).mail_about_work
