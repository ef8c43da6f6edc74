"""Somebody who did not read an item decides where its readers differ; what they said stays."""

import pytest
from django.urls import reverse

from annotation.models import VerdictRevision
from annotation.services import studies
from annotation.services.adjudication import Ruling, decide
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, submit_verdict
from medbench.accounts.permissions import Role
from medbench.cases.models import Triplet
from medbench.errors import Conflict, InvalidInput, NotAllowed
from medbench.review.models import ItemResult
from tests.annotation.build import YES, answer_all, make_cases, make_study
from tests.people import join, make_annotator, signed_in

RULING = Ruling({"grounded": "no"}, "rejected", "The size stands nowhere.")
FORM = {"answer-grounded": "no", "outcome": "rejected", "reason": "The size stands nowhere."}


@pytest.fixture
def disputed(team, ada, bruno, chen):
    """Item 1 of two: Bruno says it is grounded, Chen that it is not."""
    study = make_study(make_cases(team, 1, 2), [bruno, chen], ada)
    answer_all(study, bruno, YES, "Seen on line 3.")
    answer_all(study, chen, lambda position: YES | {"grounded": "no" if position == 1 else "yes"})
    return study.items.get(position=1)


def place(item):
    return reverse("annotation:study_item", args=[item.study_id, item.position])


def test_a_decision_stands_beside_what_was_said_and_the_triplet_follows(disputed, dara):
    before = list(VerdictRevision.objects.values())
    decide(disputed, RULING, by=dara)
    result = ItemResult.objects.get(item=disputed.item)
    assert (result.outcome, result.detail["answers"]) == ("rejected", {"grounded": "no"})
    assert (result.detail["reason"], result.detail["by"]) == ("The size stands nowhere.", dara.pk)
    assert len(result.detail["verdicts"]) == 2
    assert Triplet.objects.get(current=disputed.item.subject_id).state == "rejected"
    assert list(VerdictRevision.objects.values()) == before


def test_nobody_decides_about_what_they_read(disputed, chen):
    join(disputed.study.benchmark.team, chen, Role.ADJUDICATOR)
    with pytest.raises(NotAllowed, match="read this item yourself"):
        decide(disputed, RULING, by=chen)
    assert not ItemResult.objects.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"answers": {}}, "is not decided yet"),
        ({"answers": {"grounded": "perhaps"}}, "not among the options"),
        ({"outcome": ""}, "Say what becomes of the item"),
        ({"outcome": "corrected"}, "Say what becomes of the item"),  # nothing is corrected yet
        ({"reason": "  "}, "needs a reason"),
        ({"reason": "a\0b"}, "cannot be stored"),
    ],
)
def test_a_decision_that_says_too_little_is_refused_and_nothing_is_recorded(disputed, dara, changes, words):
    with pytest.raises(InvalidInput, match=words):
        decide(disputed, RULING._replace(**changes), by=dara)
    assert not ItemResult.objects.exists()


def test_an_item_is_decided_once_and_only_where_its_readers_differ(disputed, dara):
    with pytest.raises(Conflict, match="agree on every question"):
        decide(disputed.study.items.get(position=2), RULING, by=dara)
    decide(disputed, RULING, by=dara)
    with pytest.raises(Conflict, match="decided already"):
        decide(disputed, RULING._replace(outcome="verified"), by=dara)


def test_an_item_waits_for_all_its_readers_or_the_end_of_the_study(team, ada, bruno, chen, dara):
    efua = join(team, make_annotator("efua"), Role.ANNOTATOR)
    study = make_study(make_cases(team, 1, 1), [bruno, chen, efua], ada, per_item=3)
    for person, answer in ((bruno, "yes"), (chen, "no")):
        submit_verdict(claim_next(study, person), Draft(YES | {"grounded": answer}, "", 0))
    item = study.items.get()
    with pytest.raises(Conflict, match="still being read"):
        decide(item, RULING, by=dara)
    studies.close_study(study)
    study.refresh_from_db()
    decide(study.items.get(), RULING, by=dara)
    assert ItemResult.objects.get().outcome == "rejected"


def test_closing_the_study_leaves_what_was_decided(disputed, chen, dara):
    decide(disputed, RULING, by=dara)
    mine = disputed.assignments.get(annotator=chen)
    submit_verdict(mine, Draft(YES, "", mine.verdict.version))  # Chen thinks again, unaware
    studies.close_study(disputed.study)
    assert ItemResult.objects.get(item=disputed.item).outcome == "rejected"
    assert ItemResult.objects.count() == 2  # the other item is verified


def test_the_page_shows_answers_side_by_side_without_names(disputed, dara):
    page = signed_in(dara).get(place(disputed)).content.decode()
    assert "Reader A" in page
    assert "Reader B" in page
    assert "Seen on line 3." in page
    assert "Bruno" not in page
    assert "Chen" not in page
    assert page.count('name="answer-grounded"') == 3  # yes, no, cannot judge
    assert 'name="answer-faithful"' not in page  # nobody differs there


def test_a_decision_by_the_form_and_what_it_shows_afterwards(disputed, dara):
    client = signed_in(dara)
    refused = client.post(place(disputed), FORM | {"reason": ""})
    assert refused.status_code == 422
    assert "A decision needs a reason." in refused.content.decode()
    assert 'value="no" checked' in refused.content.decode()
    assert client.post(place(disputed), FORM).status_code == 302
    page = client.get(place(disputed)).content.decode()
    assert "The size stands nowhere." in page
    assert "<textarea" not in page
    listed = client.get(reverse("annotation:disagreements", args=[disputed.study_id])).content.decode()
    assert "Rejected" in listed
    again = client.post(place(disputed), FORM)
    assert again.status_code == 409


def test_a_reason_that_is_code_is_shown_as_text(disputed, dara):
    signed_in(dara).post(place(disputed), FORM | {"reason": "<script>alert(1)</script>"})
    assert "<script>alert" not in signed_in(dara).get(place(disputed)).content.decode()


def test_an_item_that_the_study_does_not_have_is_not_there(disputed, dara):
    assert signed_in(dara).get(place(disputed).replace("/items/1/", "/items/99/")).status_code == 404
