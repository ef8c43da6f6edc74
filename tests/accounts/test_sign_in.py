from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from medbench.accounts.attempts import WINDOW, count_attempt
from medbench.accounts.models import Attempt
from medbench.errors import TooOften
from tests.people import PASSWORD, make_person, signed_in

SIGN_IN = "/sign-in/"


def try_sign_in(name, password, address="203.0.113.5", client=None, **data):
    client = client or Client()
    return client.post(SIGN_IN, {"name": name, "password": password, **data}, REMOTE_ADDR=address)


def who(client):
    return client.session.get("_auth_user_id")


@pytest.fixture
def clock(time_machine):
    """Time stands still; `clock.shift` moves it."""
    time_machine.move_to(timezone.now(), tick=False)
    return time_machine


@pytest.fixture
def efua(db):
    return make_person("efua", "Efua Mensah", email="efua@clinic.example")


@pytest.mark.parametrize("name", ["efua", "EFUA", " efua ", "efua@clinic.example", "Efua@Clinic.example"])
def test_sign_in_by_name_or_email_in_any_case(efua, name):
    client = Client()
    answer = try_sign_in(name, PASSWORD, client=client)
    assert (answer.status_code, answer["Location"], who(client)) == (302, "/", str(efua.pk))


@pytest.mark.parametrize(
    ("name", "password"), [("efua", "wrong"), ("nobody", PASSWORD), ("efua", PASSWORD + " ")]
)
def test_wrong_name_and_wrong_password_are_answered_in_the_same_words(efua, name, password):
    client = Client()
    page = try_sign_in(name, password, client=client).content.decode()
    assert "Name or password is not right." in page
    assert f'value="{name}"' in page
    assert password not in page.replace(f'value="{name}"', "")
    assert who(client) is None


def test_an_inactive_person_is_answered_as_a_wrong_one(efua):
    efua.is_active = False
    efua.save()
    assert "Name or password is not right." in try_sign_in("efua", PASSWORD).content.decode()


@pytest.mark.parametrize(
    ("wanted", "goes_to"),
    [
        ("/teams/?x=1", "/teams/?x=1"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_sign_in_returns_to_the_page_wanted_on_this_site_only(efua, wanted, goes_to):
    assert try_sign_in("efua", PASSWORD, next=wanted)["Location"] == goes_to


def test_a_page_for_people_sends_visitors_to_sign_in_and_back(efua):
    client = Client()
    asked = client.get("/settings/tokens/")
    assert asked["Location"] == "/sign-in/?next=/settings/tokens/"
    assert 'name="next" value="/settings/tokens/"' in client.get(asked["Location"]).content.decode()


def test_after_five_failures_the_sixth_try_waits_five_minutes_even_with_the_right_password(efua, clock):
    for _ in range(5):
        try_sign_in("efua", "wrong")
    refused = try_sign_in("efua", PASSWORD)
    assert refused.status_code == 429
    assert "Too many attempts. Try again in 5 min." in refused.content.decode()
    clock.shift(WINDOW)
    assert try_sign_in("efua", PASSWORD).status_code == 302


def test_a_refused_try_does_not_prolong_the_wait(efua, clock):
    for _ in range(5):
        try_sign_in("efua", "wrong")
    for _ in range(4):
        clock.shift(timedelta(minutes=1))
        assert try_sign_in("efua", PASSWORD).status_code == 429
    clock.shift(timedelta(minutes=1))
    assert try_sign_in("efua", PASSWORD).status_code == 302


def test_a_stranger_elsewhere_cannot_lock_somebody_out(efua):
    for _ in range(8):
        try_sign_in("efua", "wrong", address="198.51.100.66")
    assert try_sign_in("efua", PASSWORD, address="203.0.113.5").status_code == 302


def test_one_address_cannot_go_through_many_names(efua):
    for number in range(50):
        try_sign_in(f"name{number}", "wrong", address="198.51.100.66")
    assert try_sign_in("efua", PASSWORD, address="198.51.100.66").status_code == 429


def test_fifty_colleagues_behind_one_address_can_sign_in(efua):
    answers = {try_sign_in("efua", PASSWORD).status_code for _ in range(60)}
    assert answers == {302}


def test_what_was_typed_is_not_stored(efua):
    try_sign_in("my-password-in-the-wrong-field", "wrong")
    assert [len(key) for key in Attempt.objects.values_list("key", flat=True)] == [64, 64]


def test_old_attempts_are_forgotten(db, clock):
    count_attempt({"something": 1})
    clock.shift(WINDOW)
    count_attempt({"something else": 1})
    assert Attempt.objects.count() == 1


def test_the_wait_is_until_the_oldest_counted_attempt_leaves_the_window(db, clock):
    count_attempt({"x": 2})
    clock.shift(timedelta(minutes=2))
    count_attempt({"x": 2})
    with pytest.raises(TooOften) as refused:
        count_attempt({"x": 2})
    assert refused.value.wait_s == 180


def test_behind_a_proxy_the_address_is_the_one_the_proxy_saw(efua, settings):
    """What a client puts into the header itself stands to the left of it and counts for nothing."""
    settings.TRUSTED_PROXIES = 1

    def fail(claimed, seen):
        return Client().post(
            SIGN_IN, {"name": "efua", "password": "wrong"}, headers={"X-Forwarded-For": f"{claimed}, {seen}"}
        )

    for number in range(5):
        fail(f"10.0.0.{number}", "198.51.100.66")
    assert fail("10.0.0.99", "198.51.100.66").status_code == 429
    assert fail("10.0.0.99", "203.0.113.5").status_code == 200


def test_without_a_proxy_the_header_counts_for_nothing(efua, settings):
    settings.TRUSTED_PROXIES = 0
    for number in range(5):
        Client().post(
            SIGN_IN, {"name": "efua", "password": "wrong"}, headers={"X-Forwarded-For": f"10.0.0.{number}"}
        )
    assert try_sign_in("efua", PASSWORD, address="127.0.0.1").status_code == 429


def test_sign_out_is_a_post(efua):
    client = signed_in(efua)
    assert client.get(reverse("accounts:sign_out")).status_code == 405
    assert client.post(reverse("accounts:sign_out"))["Location"] == "/"
    assert who(client) is None


def test_operators_sign_in_at_the_same_page(efua):
    """So that guessing is counted there, too."""
    client = Client()
    first = client.get("/admin/")
    second = client.get(first["Location"])
    assert second["Location"] == "/sign-in/?next=/admin/"
    assert signed_in(efua).get("/admin/", follow=True).status_code == 404
