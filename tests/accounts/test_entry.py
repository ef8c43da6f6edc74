"""Registration and the first visit."""

import io
import json
import threading

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from medbench.accounts.models import User
from medbench.accounts.services.people import add_first_curator, first_visit_code
from medbench.errors import NotFound
from tests.people import PASSWORD, make_person, signed_in

FIRST = "/first-visit/"
REGISTER = "/register/"
FIELDS = {"name": "Efua Mensah", "username": "efua", "email": "efua@clinic.example", "password": PASSWORD}


def problems(answer):
    return dict(answer.context["form"].errors)


# --- registration


def test_a_researcher_registers_and_is_signed_in(eve):
    client = Client()
    answer = client.post(REGISTER, {**FIELDS, "next": "/teams/"})
    efua = User.objects.get(username="efua")
    assert (answer["Location"], client.session["_auth_user_id"]) == ("/teams/", str(efua.pk))
    assert (efua.name, efua.email, efua.is_staff, efua.is_superuser) == (
        "Efua Mensah",
        "efua@clinic.example",
        False,
        False,
    )
    assert efua.check_password(PASSWORD)


def test_a_site_that_takes_no_researchers_has_no_such_page_and_no_link_to_it(eve, settings):
    settings.RESEARCHERS_MAY_REGISTER = False
    client = Client()
    assert client.get(REGISTER).status_code == 404
    assert client.post(REGISTER, FIELDS).status_code == 404
    assert REGISTER not in client.get("/sign-in/").content.decode()
    assert not User.objects.filter(username="efua").exists()


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"username": "EVE"}, "username", "This sign-in name is taken."),
        ({"username": "a@b.example"}, "username", "Use only letters, digits, dot, hyphen and underscore."),
        ({"username": "../x"}, "username", "Use only letters, digits, dot, hyphen and underscore."),
        ({"username": "efua\n"}, None, None),  # surrounding white space is cut off
        ({"email": "EVE@MARSH.example"}, "email", "Someone with this e-mail address is registered already."),
        ({"email": "nonsense"}, "email", "Enter a valid email address."),
        (
            {"password": "short"},
            "password",
            "This password is too short. It must contain at least 10 characters.",
        ),
        ({"password": "password123"}, "password", "This password is too common."),
        ({"password": "efua mensah"}, "password", "The password is too similar to the full name."),
        ({"password": ""}, "password", "This field is required."),
        ({"name": ""}, "name", "This field is required."),
        ({"name": "x" * 151}, "name", "Ensure this value has at most 150 characters (it has 151)."),
    ],
)
def test_registration_says_what_is_wrong_and_saves_nothing(db, change, field, words):
    make_person("eve", email="eve@marsh.example")
    answer = Client().post(REGISTER, FIELDS | change)
    if field is None:
        assert answer.status_code == 302
        return
    assert words in problems(answer)[field]
    assert User.objects.count() == 1


def test_two_people_with_letters_that_look_alike_can_both_sign_in(db):
    """ı and i are one letter to UPPER: a stranger must not block a name with it."""
    owner = make_person("admin")
    make_person("adm\u0131n")
    client = Client()
    client.post("/sign-in/", {"name": "admin", "password": PASSWORD})
    assert client.session["_auth_user_id"] == str(owner.pk)


def test_ten_registrations_from_one_address_are_enough(eve):
    for number in range(10):
        sent = FIELDS | {"username": f"efua{number}", "email": f"efua{number}@clinic.example"}
        assert Client().post(REGISTER, sent).status_code == 302
    refused = Client().post(REGISTER, FIELDS)
    assert refused.status_code == 429
    assert "Too many attempts. Try again in 5 min." in refused.content.decode()


# --- the first visit


@pytest.mark.parametrize("address", ["/", "/sign-in/"])
def test_a_new_site_sends_its_first_visitor_to_make_the_first_curator(db, address):
    assert Client().get(address)["Location"] == FIRST


def test_the_first_visitor_becomes_site_curator_and_the_page_is_gone(db):
    client = Client()
    assert client.post(FIRST, FIELDS)["Location"] == "/"
    efua = User.objects.get()
    assert (efua.is_superuser, efua.is_staff, client.session["_auth_user_id"]) == (True, True, str(efua.pk))
    assert Client().get(FIRST).status_code == 404
    assert Client().post(FIRST, FIELDS | {"username": "mallory", "email": ""}).status_code == 404
    assert User.objects.count() == 1


def test_in_production_the_first_visitor_needs_the_code_of_the_log(db, settings, caplog):
    settings.PRODUCTION = True
    client = Client()
    client.get(FIRST)
    assert first_visit_code() in caplog.text
    missing, wrong = client.post(FIRST, FIELDS), client.post(FIRST, FIELDS | {"code": "0000000000000000"})
    assert "required" in str(problems(missing)["code"])
    assert "This is not the code" in str(problems(wrong)["code"])
    assert User.objects.count() == 0
    assert client.post(FIRST, FIELDS | {"code": f" {first_visit_code()} "}).status_code == 302
    assert User.objects.get().is_superuser


def test_the_code_cannot_be_guessed_by_trying(db, settings):
    settings.PRODUCTION = True
    for _ in range(5):
        Client().post(FIRST, FIELDS | {"code": "0000000000000000"})
    assert Client().post(FIRST, FIELDS | {"code": first_visit_code()}).status_code == 429
    assert User.objects.count() == 0


def test_the_command_prints_the_code_while_there_is_a_first_visit(db):
    out = io.StringIO()
    call_command("first_visit_code", stdout=out)
    assert out.getvalue().strip() == first_visit_code()
    make_person("eve")
    with pytest.raises(CommandError, match="The first visit is over"):
        call_command("first_visit_code")


def test_of_two_first_visitors_at_once_one_becomes_curator(transactional_db):
    together = threading.Barrier(2)
    outcomes = []

    def visit(name):
        together.wait()
        try:
            add_first_curator(name, name, "", PASSWORD)
            outcomes.append("made")
        except NotFound:
            outcomes.append("nothing here")
        finally:
            connection.close()

    threads = [threading.Thread(target=visit, args=(name,)) for name in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["made", "nothing here"]
    assert User.objects.count() == 1


# --- make_curator


def make_curator(*arguments, password=None, monkeypatch=None):
    out = io.StringIO()
    if password is not None:
        monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))
        arguments = (*arguments, "--password-stdin")
    call_command("make_curator", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_makes_a_curator_who_can_sign_in(db, monkeypatch):
    said = make_curator("ada", "--email", "ada@x.example", password=PASSWORD, monkeypatch=monkeypatch)
    assert said == "ada curates every benchmark of this site.\n"
    client = Client()
    client.post("/sign-in/", {"name": "ada@x.example", "password": PASSWORD})
    assert User.objects.get(pk=client.session["_auth_user_id"]).is_superuser


def test_the_command_promotes_somebody_and_keeps_their_password(eve, monkeypatch):
    assert json.loads(make_curator("Eve", "--json")) == {"name": "eve", "made": False, "site_curator": True}
    eve.refresh_from_db()
    assert (eve.is_superuser, eve.check_password(PASSWORD)) == (True, True)
    make_curator("eve", password="another long password", monkeypatch=monkeypatch)
    eve.refresh_from_db()
    assert eve.check_password("another long password")


@pytest.mark.parametrize(
    ("arguments", "password", "words"),
    [
        (["ada"], "short", "password: This password is too short."),
        (["eve"], "short", "This password is too short."),
        (["a b"], PASSWORD, "username: Use only letters"),
        (["ada", "--email", "nonsense"], PASSWORD, "email: Enter a valid email address."),
        (["nobody@x.example"], PASSWORD, "username: Use only letters"),
    ],
)
def test_the_command_refuses_bad_words_and_saves_nothing(eve, arguments, password, words, monkeypatch):
    with pytest.raises(CommandError, match=words):
        make_curator(*arguments, password=password, monkeypatch=monkeypatch)
    assert list(User.objects.values_list("username", "is_superuser")) == [("eve", False)]


def test_without_a_terminal_the_command_asks_for_password_stdin(db, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(CommandError, match="Give the password with --password-stdin"):
        call_command("make_curator", "ada")


def test_somebody_signed_in_may_still_see_the_sign_in_page(eve):
    assert signed_in(eve).get("/sign-in/").status_code == 200
