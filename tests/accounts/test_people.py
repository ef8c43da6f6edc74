"""The people page of a team: roles, invitations, reset links."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from medbench.accounts.models import ApiToken, Invitation, Membership, Team, User
from medbench.accounts.permissions import Role, may, roles
from medbench.accounts.services import teams as services
from medbench.accounts.services.tokens import make_token
from medbench.errors import Conflict
from tests.people import PASSWORD, join, make_person, signed_in

PERSON = {"name": "Efua Mensah", "username": "efua", "email": "", "password": PASSWORD}
PROFILE = {"background": "pathologist", "field": "colon", "years": "7"}


def page_of(team):
    return f"/teams/{team.pk}/people/"


def invite(ada, team, role="annotator", days="14", note="Efua"):
    """Make a link on the page, as Ada does; answers its path."""
    answer = signed_in(ada).post(page_of(team), {"role": role, "note": note, "days": days})
    assert answer.status_code == 200
    return answer.context["link"].removeprefix("http://testserver")


def held(person, team):
    return set(
        Membership.objects.filter(user=person, team=team, ended_at=None).values_list("role", flat=True)
    )


# --- roles


def test_the_page_names_everybody_with_roles_and_background(ada, bruno, chen, dara, rosa, team):
    page = signed_in(ada).get(page_of(team)).content.decode()
    for words in ("Bruno Costa", "Pathologist · colon · 12 years", "Annotator", "Rosa Lind", "not given"):
        assert words in page


def test_a_curator_adds_and_ends_a_role(ada, bruno, team):
    client = signed_in(ada)
    client.post(f"{page_of(team)}roles/", {"user": bruno.pk, "role": "adjudicator"})
    assert held(bruno, team) == {"annotator", "adjudicator"}
    ending = Membership.objects.get(user=bruno, role="annotator")
    client.post(f"{page_of(team)}roles/{ending.pk}/end/")
    assert held(bruno, team) == {"adjudicator"}
    ending.refresh_from_db()
    assert ending.ended_at is not None  # the row stays: the conflict of interest does, too
    client.post(f"{page_of(team)}roles/", {"user": bruno.pk, "role": "annotator"})
    assert held(bruno, team) == {"annotator", "adjudicator"}
    assert Membership.objects.filter(user=bruno).count() == 2


def test_a_curator_opens_the_team_to_researchers_and_closes_it(ada, eve, team):
    client = signed_in(ada)
    assert not may(eve, "submission.create", team)
    client.post(f"{page_of(team)}open/", {"open": "yes"})
    team.refresh_from_db()
    assert may(eve, "submission.create", team)
    assert "Close to researchers" in client.get(page_of(team)).content.decode()
    client.post(f"{page_of(team)}open/", {"open": "no"})
    team.refresh_from_db()
    assert not may(eve, "submission.create", team)


def test_an_ended_role_no_longer_counts(ada, bruno, team):
    services.end_role(Membership.objects.get(user=bruno))
    assert roles(User.objects.get(pk=bruno.pk), team) == frozenset()


def test_only_people_of_the_team_can_be_given_a_role_here(ada, eve, team):
    client = signed_in(ada)
    answer = client.post(f"{page_of(team)}roles/", {"user": eve.pk, "role": "curator"}, follow=True)
    assert "No role was added" in answer.content.decode()
    assert "Eve" not in answer.content.decode()
    assert held(eve, team) == set()


@pytest.mark.parametrize("sent", [{}, {"user": "x", "role": "curator"}, {"user": "1", "role": "emperor"}])
def test_a_bad_role_form_changes_nothing(ada, team, sent):
    before = Membership.objects.count()
    signed_in(ada).post(f"{page_of(team)}roles/", sent)
    assert Membership.objects.count() == before


def test_a_curator_who_goes_leaves_no_open_invitation_behind(ada, team):
    kay = join(team, make_person("kay"), Role.CURATOR)
    own, others = invite(kay, team, role="curator"), invite(ada, team, role="researcher")
    services.end_role(Membership.objects.get(user=kay))
    assert Client().get(own).status_code == 409
    assert Client().get(others).status_code == 200


def test_the_last_curator_stays(ada, team):
    role = Membership.objects.get(user=ada)
    answer = signed_in(ada).post(f"{page_of(team)}roles/{role.pk}/end/")
    assert answer.status_code == 409
    assert "A team keeps at least one curator." in answer.content.decode()
    assert held(ada, team) == {"curator"}


def test_an_inactive_curator_does_not_count(ada, team):
    join(team, make_person("gone", is_active=False), Role.CURATOR)
    with pytest.raises(Conflict):
        services.end_role(Membership.objects.get(user=ada))


def test_two_curators_who_end_each_other_leave_one(transactional_db):
    team = Team.objects.create(name="Lung")
    people = [join(team, make_person(name), Role.CURATOR) for name in ("kay", "lee")]
    together = threading.Barrier(2)

    def end(person):
        together.wait()
        try:
            services.end_role(Membership.objects.get(user=person))
        except Conflict:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=end, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Membership.objects.filter(team=team, ended_at=None).count() == 1


def test_the_page_asks_the_database_equally_often_for_one_and_three_people(
    ada, team, django_assert_max_num_queries, django_assert_num_queries
):
    client = signed_in(ada)
    client.get(page_of(team))
    services.invite(team, "annotator", note="", days=2, by=ada)
    with django_assert_max_num_queries(20) as one:
        client.get(page_of(team))
    for name in ("kay", "lee"):
        join(team, make_person(name), Role.ANNOTATOR, Role.ADJUDICATOR)
        services.invite(team, "annotator", note=name, days=2, by=ada)
        services.end_role(join(team, make_person(f"former-{name}"), "researcher").memberships.get())
    with django_assert_num_queries(len(one)):
        client.get(page_of(team))


def test_the_list_of_teams_asks_equally_often_for_one_and_three(
    ada, django_assert_max_num_queries, django_assert_num_queries
):
    client = signed_in(ada)
    with django_assert_max_num_queries(12) as one:
        client.get("/teams/")
    for name in ("Lung", "Breast"):
        join(Team.objects.create(name=name), ada, Role.CURATOR, Role.RESEARCHER)
    with django_assert_num_queries(len(one)):
        page = client.get("/teams/").content.decode()
    assert page.count("People<span") == 3


# --- invitations


def test_whoever_opens_an_invitation_registers_and_joins_in_one_step(ada, team):
    link = invite(ada, team)
    client = Client()
    assert "Ada Novak invites you to take part as annotator" in client.get(link).content.decode()
    assert client.post(link, PERSON | PROFILE)["Location"] == "/"
    efua = User.objects.get(username="efua")
    assert (held(efua, team), client.session["_auth_user_id"]) == ({"annotator"}, str(efua.pk))
    assert (efua.annotator_profile.background, efua.annotator_profile.years) == ("pathologist", 7)


def test_whoever_is_signed_in_accepts_as_that_person(ada, eve, team):
    link = invite(ada, team, role="researcher")
    client = signed_in(eve)
    page = client.get(link).content.decode()
    assert "You accept as <strong>Eve Marsh</strong>" in page
    assert "Background" not in page  # asked of those who judge
    client.post(link)
    assert held(eve, team) == {"researcher"}


def test_an_annotator_with_a_profile_is_not_asked_again(ada, bruno):
    other = join(Team.objects.create(name="Lung"), ada, Role.CURATOR).memberships.last().team
    link = invite(ada, other)
    client = signed_in(bruno)
    assert "Background" not in client.get(link).content.decode()
    client.post(link)
    assert held(bruno, other) == {"annotator"}


def test_an_invitation_works_once(ada, team, eve):
    link = invite(ada, team, role="researcher")
    signed_in(eve).post(link)
    second = Client().post(link, PERSON)
    assert second.status_code == 409
    assert "used or revoked, or it has expired" in second.content.decode()
    assert not User.objects.filter(username="efua").exists()


def test_opening_an_invitation_does_not_use_it(ada, team):
    """Chat programs open links to preview them."""
    link = invite(ada, team)
    for _ in range(3):
        assert Client().get(link).status_code == 200


def test_an_invitation_expires(ada, team, time_machine):
    link = invite(ada, team, days="2")
    time_machine.move_to(timezone.now() + timedelta(days=2))
    assert Client().get(link).status_code == 409
    assert Client().post(link, PERSON | PROFILE).status_code == 409
    assert not User.objects.filter(username="efua").exists()


def test_a_revoked_invitation_opens_nothing(ada, team):
    link = invite(ada, team)
    invitation = Invitation.objects.get()
    signed_in(ada).post(f"{page_of(team)}invitations/{invitation.pk}/revoke/")
    assert Client().post(link, PERSON | PROFILE).status_code == 409
    assert not User.objects.filter(username="efua").exists()


@pytest.mark.parametrize("secret", ["x", "x" * 3000, "%00", "..%2f..%2f", "<script>"])
def test_an_invented_invitation_is_nothing(db, secret):
    assert Client().get(f"/invitations/{secret}/").status_code == 404


def test_the_link_is_shown_once_and_its_secret_is_not_stored(ada, team):
    link = invite(ada, team)
    secret = link.split("/")[2]
    assert secret not in str(Invitation.objects.values().get())
    assert secret not in signed_in(ada).get(page_of(team)).content.decode()


def test_an_incomplete_acceptance_says_what_is_missing_and_leaves_the_link_open(ada, team):
    link = invite(ada, team)
    answer = Client().post(link, PERSON | {"password": "short"})
    assert "too short" in answer.content.decode()
    assert "Background" in answer.content.decode()
    assert not User.objects.filter(username="efua").exists()
    assert Client().post(link, PERSON | PROFILE).status_code == 302


def test_two_people_with_one_link_at_once_one_joins(transactional_db):
    ada = make_person("ada")
    team = Team.objects.create(name="Lung")
    invitation, _ = services.invite(team, "researcher", note="", days=2, by=ada)
    together = threading.Barrier(2)
    outcomes = []

    def accept(name):
        together.wait()
        try:
            services.accept(invitation, lambda: make_person(name))
            outcomes.append("joined")
        except Conflict:
            outcomes.append("too late")
        finally:
            connection.close()

    threads = [threading.Thread(target=accept, args=(name,)) for name in ("kay", "lee")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["joined", "too late"]
    assert User.objects.exclude(pk=ada.pk).count() == 1  # the slower one left no account behind


def test_hostile_names_are_shown_as_text(ada, team):
    hostile = "<img src=x onerror=alert(1)>"
    services.invite(team, "annotator", note=hostile, days=2, by=ada)
    join(team, make_person("mallory", hostile), Role.RESEARCHER)
    page = signed_in(ada).get(page_of(team)).content.decode()
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") >= 2


# --- reset links


def issue(issuer, person, team):
    return signed_in(issuer).post(f"{page_of(team)}{person.pk}/reset-link/")


def test_a_curator_issues_a_link_that_sets_a_new_password_once(ada, bruno, team):
    make_token(bruno, "old script", expires_at=None)
    before = signed_in(bruno)
    link = issue(ada, bruno, team).context["link"].removeprefix("http://testserver")
    client = Client()
    assert "Bruno Costa" in client.get(link).content.decode()
    assert client.post(link, {"password": "short"}).status_code == 200
    assert client.post(link, {"password": "quite another password"})["Location"] == "/sign-in/"
    bruno.refresh_from_db()
    assert bruno.check_password("quite another password")
    assert before.get("/settings/").status_code == 302  # every session ended
    assert not ApiToken.objects.filter(revoked_at=None).exists()
    assert client.get(link).status_code == 409  # used


def test_a_reset_link_expires_within_a_day(ada, bruno, team, time_machine):
    link = issue(ada, bruno, team).context["link"]
    time_machine.move_to(timezone.now() + timedelta(days=1, seconds=5))
    assert Client().get(link).status_code == 409


def test_invented_reset_links_are_answered_alike_for_anybody(bruno):
    answers = [Client().get(f"/reset/{pk}/c0ffee-{'0' * 32}/") for pk in (bruno.pk, 999_999)]
    assert {answer.status_code for answer in answers} == {409}
    assert answers[0].content == answers[1].content


def test_a_curator_cannot_reset_whoever_works_for_a_team_of_others(ada, bruno, team):
    join(Team.objects.create(name="Lung"), bruno, Role.RESEARCHER)
    refused = issue(ada, bruno, team)
    assert refused.status_code == 403
    assert "also works for a team that you do not curate" in refused.content.decode()


def test_a_role_that_has_ended_elsewhere_is_no_obstacle(ada, bruno, team):
    elsewhere = join(Team.objects.create(name="Lung"), bruno, Role.RESEARCHER).memberships.get(
        role="researcher"
    )
    services.end_role(elsewhere)
    assert issue(ada, bruno, team).status_code == 200


@pytest.mark.parametrize("power", ["is_superuser", "is_staff"])
def test_a_curator_cannot_reset_a_site_curator_or_operator(ada, bruno, team, power):
    setattr(bruno, power, True)
    bruno.save()
    assert issue(ada, bruno, team).status_code == 403


def test_a_site_curator_can_reset_anybody_of_a_team(bruno, team):
    join(Team.objects.create(name="Lung"), bruno, Role.RESEARCHER)
    sam = make_person("sam", is_superuser=True)
    assert issue(sam, bruno, team).status_code == 200


def test_somebody_outside_the_team_has_no_reset_link_there(ada, eve, team):
    assert issue(ada, eve, team).status_code == 404


def test_issuing_a_link_is_logged_with_issuer_and_without_the_link(ada, bruno, team, caplog):
    link = issue(ada, bruno, team).context["link"]
    assert f"reset link for user {bruno.pk} issued by user {ada.pk}" in caplog.text
    assert link.split("/")[-2] not in caplog.text
