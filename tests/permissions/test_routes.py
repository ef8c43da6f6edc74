"""The permission table: every address as every person. visits.py says how to add a row."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from medbench.accounts.permissions import MAY, may
from tests.permissions.api import API
from tests.permissions.pages import PAGES
from tests.permissions.walk import METHODS, SIGN_IN, address, address_of_nothing, outcome, patterns, visit
from tests.permissions.world import PEOPLE, VISITOR

pytestmark = pytest.mark.django_db

ROUTES = PAGES | API
REFUSALS = {SIGN_IN, "401", "403", "404"}
SITE = {name: pattern for name, pattern in patterns() if not name.startswith("admin:")}
VISITS = [(name, number, each) for name, visits in ROUTES.items() for number, each in enumerate(visits)]


def declared(each, method, person):
    """What the row says that `person` gets; None where the method is not named."""
    codes = getattr(each, method).split()
    assert len(codes) in (0, len(PEOPLE)), each
    return codes[PEOPLE.index(person)] if codes else None


def listed(wrong):
    return "\n" + "\n".join(f"{' '.join(map(str, key))}: {what}" for key, what in wrong.items())


def test_every_address_has_its_rows_and_every_row_an_address():
    assert set(ROUTES) == set(SITE)


def test_addresses_have_one_name_each():
    names = [name for name, _ in patterns() if not name.startswith("admin:")]
    assert sorted(names) == sorted(set(names))


def test_every_action_decides_at_some_address():
    assert {each.may for _, _, each in VISITS if each.may} == set(MAY)


@pytest.mark.parametrize("person", PEOPLE)
def test_everybody_gets_what_the_table_says(world, person):
    wrong = {}
    for name, number, each in VISITS:
        place = address(world, name, each.at) + each.query
        for method in METHODS:
            if getattr(each, method):
                found = outcome(visit(world.sessions[person], method, place, each.data))
                if found != declared(each, method, person):
                    wrong[name, number, method] = f"{found}, declared {declared(each, method, person)}"
    assert not wrong, listed(wrong)


@pytest.mark.parametrize("person", [VISITOR, "eve", "rosa", "bruno", "sam"])
def test_a_method_that_is_not_named_is_refused(world, person):
    """Whoever may not know of the thing may be refused as for the methods that are named."""
    wrong = {}
    for name, number, each in VISITS:
        refusals = {declared(each, method, person) for method in METHODS if getattr(each, method)} & REFUSALS
        for method in ("GET", "POST", "PUT", "DELETE"):
            if getattr(each, method):
                continue
            answer = outcome(
                visit(world.sessions[person], method, address(world, name, each.at) + each.query)
            )
            if answer not in {"405"} | refusals:
                wrong[name, number, method] = answer
    assert not wrong, listed(wrong)


@pytest.mark.parametrize("person", [VISITOR, "eve", "rosa", "bruno", "dara", "ada"])
def test_what_does_not_exist_cannot_be_told_from_what_is_hidden(world, person):
    """Status, body and headers, for a thing that is not there and for one that is not theirs."""
    session, wrong = world.sessions[person], {}
    for name, number, each in VISITS:
        nothing = address_of_nothing(name, SITE[name])
        for method in METHODS if nothing else ():
            if not getattr(each, method):
                continue
            missing = visit(session, method, nothing + each.query, each.data)
            own = declared(each, method, person)
            if outcome(missing) not in (
                {each.missing} if person != VISITOR else {each.missing, SIGN_IN, "401"}
            ):
                wrong[name, number, method] = f"missing: {outcome(missing)}"
            if own == "404":
                hidden = visit(session, method, address(world, name, each.at) + each.query, each.data)
                if (hidden.body, dict(hidden.headers)) != (missing.body, dict(missing.headers)):
                    wrong[name, number, method] = "hidden and missing differ"
    assert not wrong, listed(wrong)


@pytest.mark.parametrize("person", [VISITOR, "eve", "ada"])
def test_all_pages_that_are_not_there_are_the_same_bytes(world, person):
    reference = {
        False: visit(world.sessions[person], "GET", "/no/such/page/").body,
        True: visit(world.sessions[person], "GET", "/api/v1/no/such/thing/").body,
    }
    wrong = [
        (name, number)
        for name, number, each in VISITS
        if declared(each, "GET", person) == "404"
        and visit(world.sessions[person], "GET", (place := address(world, name, each.at) + each.query)).body
        != reference[place.startswith("/api/")]
    ]
    assert not wrong, wrong


def test_the_table_and_the_product_speak_of_the_same_roles(world):
    """A row that names its action lets in exactly those whose roles may do it, and who is named."""
    wrong = {}
    for name, number, each in VISITS:
        if each.may is None:
            continue
        for person in PEOPLE:
            user = AnonymousUser() if person == VISITOR else getattr(world, person)
            allowed = may(user, each.may, getattr(world, each.team)) or person in each.also
            let_in = {
                declared(each, method, person) not in REFUSALS for method in METHODS if getattr(each, method)
            }
            if let_in != {allowed}:
                wrong[name, number, person] = (let_in, allowed)
    assert not wrong, listed(wrong)


def operators_pages():
    """Addresses of the admin without parameters, except those for signing in and out."""
    for name, pattern in patterns():
        has_parameters = pattern.pattern.regex.groups or pattern.pattern.converters
        if name.startswith("admin:") and name not in ("admin:login", "admin:logout") and not has_parameters:
            yield name, reverse(name)


@pytest.mark.parametrize("person", [each for each in PEOPLE if each != "sam"])
def test_the_pages_of_operators_are_closed_to_others(world, person):
    answers = {visit(world.sessions[person], "GET", place)["Location"] for _, place in operators_pages()}
    assert {answer.split("?")[0] for answer in answers} == {"/admin/login/"}  # and there: 404, or sign-in


def test_an_operator_can_open_every_list(world):
    lists = [place for name, place in operators_pages() if name.endswith("_changelist")]
    assert lists
    answers = {place: visit(world.sessions["sam"], "GET", place).status_code for place in lists}
    assert answers == dict.fromkeys(lists, 200)
