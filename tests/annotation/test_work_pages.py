"""My work, the next item and the workbench as plain pages and as JSON."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, VerdictRevision
from annotation.services.assignments import claim_next, skip
from annotation.services.verdicts import Draft, save_verdict, submit_verdict
from medbench.accounts.models import Membership
from medbench.accounts.permissions import Role
from tests.annotation.build import FORM, YES, address, ask, make_cases, make_study, post
from tests.cases.build import make_case, make_triplet
from tests.people import join, make_annotator, signed_in


@pytest.fixture
def held(study, bruno):
    return claim_next(study, bruno)


# --- Who may see what ------------------------------------------------------------------


def test_an_item_is_open_to_its_annotator_and_to_nobody_else(held, bruno, chen, dara, ada, rosa, eve):
    assert signed_in(bruno).get(address(held)).status_code == 200
    hidden = {
        signed_in(person).get(path).content
        for person in (chen, dara, ada, rosa, eve)
        for path in (address(held), reverse("annotation:guidelines", args=[held.pk]))
    }
    missing = signed_in(eve).get("/annotate/00000000-0000-0000-0000-000000000000/").content
    assert hidden == {missing}


def test_an_item_that_waits_is_not_open_even_to_its_annotator(study, bruno):
    waiting = Assignment.objects.filter(annotator=bruno, state="waiting").first()
    assert signed_in(bruno).get(address(waiting)).status_code == 404
    assert post(bruno, waiting, do="submit", **FORM).status_code == 404


def test_who_is_not_in_the_study_cannot_be_given_an_item(study, dara, ada, eve):
    for person in (dara, ada, eve):
        client = signed_in(person)
        for method in (client.get, client.post):
            assert method(reverse("annotation:next", args=[study.pk])).status_code == 404


def test_an_annotator_who_left_the_team_sees_nothing_any_more(held, bruno):
    Membership.objects.filter(user=bruno).update(ended_at=timezone.now())
    assert signed_in(bruno).get(address(held)).status_code == 404


def test_a_visitor_is_asked_to_sign_in_and_comes_back(held, client):
    answer = client.get(address(held))
    assert answer.status_code == 302
    assert answer.url.endswith(f"?next={address(held)}")


# --- The plain form ------------------------------------------------------------------


def test_the_form_without_script_saves_what_was_chosen(held, bruno):
    answer = post(bruno, held, do="save", **{"answer-grounded": "yes", "comment": "Wrong\r\nside."})
    assert answer.url == address(held)
    assert held.verdict.answers == {"grounded": "yes"}
    assert held.verdict.comment == "Wrong\nside."
    page = signed_in(bruno).get(address(held)).content.decode()
    assert 'value="yes" checked' in page
    assert "Wrong\nside." in page


def test_the_form_without_script_submits_and_goes_to_the_next_item(study, held, bruno):
    answer = post(bruno, held, do="submit", **FORM)
    following = claim_next(study, bruno)
    assert answer.url == address(following)
    assert following != held


def test_an_incomplete_form_comes_back_with_what_is_missing_and_nothing_lost(held, bruno):
    answer = post(bruno, held, do="submit", **{"answer-grounded": "no", "comment": "half"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "“Faithful to the report” has no answer yet." in page
    assert 'value="no" checked' in page
    assert "half" in page
    assert post(bruno, held, do="submit", version=1, **FORM).status_code == 302


def test_two_plain_windows_that_disagree_are_told_and_the_second_may_insist(held, bruno):
    post(bruno, held, do="save", comment="first window")
    answer = post(bruno, held, do="save", comment="second window")
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "changed in another window" in page
    assert "second window" in page
    assert 'name="version" value="1"' in page
    post(bruno, held, do="save", comment="second window", version=1)
    held.verdict.refresh_from_db()
    assert held.verdict.comment == "second window"
    assert list(VerdictRevision.objects.values_list("comment", flat=True)) == [
        "first window",
        "second window",
    ]


def test_a_skipped_item_keeps_its_draft_and_reason(study, held, bruno):
    answer = post(bruno, held, skip="not_my_field", comment="IHC only")
    held.refresh_from_db()
    assert (held.state, held.skip_reason) == ("skipped", "Not my field")
    assert held.verdict.comment == "IHC only"
    assert answer.url == address(claim_next(study, bruno))
    page = signed_in(bruno).get(address(held)).content.decode()
    assert "You skipped this item: not my field. Answering takes it up again." in page


def test_the_last_item_leads_to_the_end_of_the_queue(team, bruno, chen, ada):
    study = make_study(make_cases(team, 1, 1), [bruno, chen], ada)
    answer = post(bruno, claim_next(study, bruno), do="submit", **FORM)
    assert answer.url == reverse("annotation:next", args=[study.pk])
    page = signed_in(bruno).get(answer.url).content.decode()
    assert "All 1 of your items are done." in page


def test_when_others_hold_the_rest_the_page_says_when_to_come_back(team, bruno, chen, ada):
    study = make_study(make_cases(team, 1, 1), [bruno, chen], ada, per_item=1)
    held = claim_next(study, chen)
    page = signed_in(bruno).get(reverse("annotation:next", args=[study.pk])).content.decode()
    assert f'Come back after <time datetime="{held.held_until.isoformat()}">' in page


@pytest.mark.parametrize(
    "bad",
    [
        {"answer-grounded": "perhaps"},
        {"version": "-1"},
        {"version": "soon"},
        {"comment": "x" * 10_001},
        {"comment": "nul\0"},
        {"skip": "because"},
    ],
)
def test_what_the_page_cannot_have_sent_is_refused_and_nothing_written(held, bruno, bad):
    for send in (post, ask):
        answer = send(bruno, held, **{"do": "save"} | bad)
        assert answer.status_code == 400
    assert not VerdictRevision.objects.exists()


def test_hostile_text_is_shown_as_text(team, bruno, chen, ada):
    benchmark = make_cases(
        team, 1, 0, goal="<b>goal</b>", report="<script>alert(1)</script> p<0.05 Tumour size: 6 cm"
    )
    make_triplet(
        benchmark.cases.get(),
        insight='<img src=x onerror="alert(1)"> \u202e reversed',
        question="</script><script>alert(2)</script>",
        evidence="p<0.05",
    )
    study = make_study(benchmark, [bruno, chen], ada, title="<i>study</i>", guidelines="<u>read</u>")
    held = claim_next(study, bruno)
    save_verdict(held, Draft({}, "</textarea><script>alert(3)</script>", 0))
    for path in (address(held), reverse("annotation:guidelines", args=[held.pk]), "/annotate/", "/"):
        page = signed_in(bruno).get(path).content.decode()
        for piece in ("<script>alert", "<img", "<b>goal", "<i>study", "<u>read"):
            assert piece not in page
    assert "p&lt;0.05" in signed_in(bruno).get(address(held)).content.decode()


# --- My work -----------------------------------------------------------------------------


def test_my_work_lists_ones_studies_and_what_is_open(study, held, bruno):
    skip(held, "Too hard")
    submitted = claim_next(study, bruno)
    submit_verdict(submitted, Draft(YES, "", 0))
    save_verdict(submitted, Draft(YES | {"aligned": "no"}, "", 2))
    page = signed_in(bruno).get("/annotate/").content.decode()
    assert "1 of 4 · 1 skipped" in " ".join(page.split())
    assert "0/4" in page
    assert "too hard" in page
    assert "Changed, not submitted" in page


def test_my_work_without_work_says_who_gives_it(bruno):
    page = signed_in(bruno).get("/annotate/").content.decode()
    assert "No work is assigned to you. A curator adds you to a study." in page


def test_the_bar_counts_what_waits_and_shows_the_link_to_annotators_only(study, bruno, ada):
    page = signed_in(bruno).get("/annotate/").content.decode()
    assert 'My work <span class="bar-count">4</span>' in page
    assert "My work" not in signed_in(ada).get("/studies/").content.decode()


def test_home_offers_to_continue(study, held, bruno):
    page = signed_in(bruno).get("/").content.decode()
    assert "Continue" in page
    assert study.title in page
    assert "No work is assigned to you yet." not in page


# --- Numbers of queries ---------------------------------------------------------------------


@pytest.mark.parametrize("n_triplets", [1, 3])
def test_the_workbench_takes_the_same_queries_in_any_study(
    team, bruno, chen, ada, django_assert_num_queries, n_triplets
):
    study = make_study(make_cases(team, 1, n_triplets), [bruno, chen], ada)
    held = claim_next(study, bruno)
    client = signed_in(bruno)
    with django_assert_num_queries(11):
        client.get(address(held))


@pytest.mark.parametrize("n_rows", [1, 3])
def test_my_work_takes_the_same_queries_for_any_number_of_rows(
    team, bruno, chen, ada, django_assert_num_queries, n_rows
):
    benchmark = make_cases(team, 1, 3)
    for number in range(n_rows):
        study = make_study(benchmark, [bruno, chen], ada, title=f"Round {number}")
        for _ in range(n_rows):
            skip(claim_next(study, bruno))
    client = signed_in(bruno)
    with django_assert_num_queries(11):
        client.get("/annotate/")


@pytest.mark.parametrize("n_saves", [1, 3])
def test_the_history_takes_the_same_queries_for_any_length(held, bruno, django_assert_num_queries, n_saves):
    for version in range(n_saves):
        save_verdict(held, Draft({}, f"draft {version}", version))
    client = signed_in(bruno)
    with django_assert_num_queries(10):
        client.get(reverse("annotation:guidelines", args=[held.pk]))


# --- Blind --------------------------------------------------------------------------------


def test_nothing_of_others_or_of_files_reaches_an_annotator(team, bruno, ada):
    other = join(team, make_annotator("canary-login", "Canary Reader"), Role.ANNOTATOR)
    benchmark = make_cases(team, 1, 0)
    case = make_case(benchmark, "TCGA-CANARY-01", slide="slides/TCGA-CANARY-01.svs")
    make_triplet(case, "canary-key", insight="The tumour measures 6 cm.", evidence="Tumour size: 6 cm")
    study = make_study(benchmark, [bruno, other], ada, per_item=2)
    theirs = claim_next(study, other)
    submit_verdict(theirs, Draft(YES | {"aligned": "no"}, "canary verdict", 0))
    held = claim_next(study, bruno)
    client = signed_in(bruno)
    seen = [
        client.get(path)
        for path in (
            "/",
            "/annotate/",
            address(held),
            reverse("annotation:ahead", args=[held.pk]),
            reverse("annotation:guidelines", args=[held.pk]),
            reverse("annotation:next", args=[study.pk]),
            address(theirs),
            reverse("annotation:study", args=[study.pk]),
            "/api/v1/studies/",
            f"/api/v1/studies/{study.pk}/",
            f"/api/v1/studies/{study.pk}/verdicts.csv",
        )
    ]
    seen += [
        ask(bruno, held, do="save", **{"answer-grounded": "perhaps"}),
        ask(bruno, held, do="submit", **FORM),
    ]
    for answer in seen:
        text = f"{answer.headers} {answer.content.decode()}".lower()
        assert "canary" not in text, answer.request["PATH_INFO"]
