"""Somebody who did not read an item decides where its readers differ; what they said stays."""

import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.adjudication import queue_of
from annotation.models import Protocol, Study, VerdictRevision
from annotation.protocols import Definition
from annotation.services import studies
from annotation.services.adjudication import Ruling, decide
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, submit_verdict
from medbench.accounts.permissions import Role
from medbench.cases.editions import Edition
from medbench.cases.models import Case, Triplet
from medbench.cases.services.editing import Wording, edit_triplet
from medbench.cases.services.freezing import freeze_release
from medbench.errors import Conflict, InvalidInput, NotAllowed
from medbench.review import cases
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
        ({"outcome": "accepted"}, "Say what becomes of the item"),  # of a goal, not of a triplet
        ({"outcome": "verified"}, "cannot become verified"),  # and it is decided that nothing grounds it
        ({"outcome": "corrected"}, "Nothing is corrected yet"),
        ({"outcome": "corrected", "correction": {"category": "?"}}, "one of the six categories"),
        ({"reason": "  "}, "needs a reason"),
        ({"reason": "a\0b"}, "cannot be stored"),
    ],
)
def test_a_decision_that_says_too_little_is_refused_and_nothing_is_recorded(disputed, dara, changes, words):
    with pytest.raises(InvalidInput, match=words):
        decide(disputed, RULING._replace(**changes), by=dara)
    assert not ItemResult.objects.exists()


def test_an_item_is_decided_once_and_only_where_its_readers_differ(disputed, dara):
    with pytest.raises(Conflict, match="Its annotators agree"):
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


# --- What becomes of triplets, goals and cases ---------------------------------------------


def test_a_corrected_triplet_gets_a_new_version_and_the_next_release_has_it(disputed, ada, dara):
    before = Triplet.objects.get(current=disputed.item.subject_id)
    correction = {"insight": "The tumour measures 6 cm.", "category": "diagnostic"}
    decide(disputed, RULING._replace(outcome="corrected", correction=correction), by=dara)
    triplet = Triplet.objects.select_related("current").get(pk=before.pk)
    assert (triplet.state, triplet.current.version, triplet.current.made_by) == ("corrected", 2, dara)
    assert (triplet.current.insight, triplet.current.category) == ("The tumour measures 6 cm.", "diagnostic")
    assert triplet.current.evidence == disputed.item.payload["evidence"]
    assert triplet.current.is_anchored
    assert triplet.versions.get(version=1).insight == disputed.item.payload["insight"]
    release = freeze_release(disputed.study.benchmark, by=ada)
    frozen = release.cases.get().triplets.values_list("version__insight", flat=True)
    assert "The tumour measures 6 cm." in frozen


def test_a_triplet_that_was_changed_meanwhile_is_not_corrected_over_it(disputed, ada, dara):
    triplet = Triplet.objects.select_related("current").get(current=disputed.item.subject_id)
    newer = replace(Wording.of(triplet.current), insight="Newer.")
    edit_triplet(triplet, newer, by=ada, based_on=1)
    with pytest.raises(Conflict, match="changed this triplet meanwhile"):
        decide(disputed, RULING._replace(outcome="corrected", correction={"insight": "Older."}), by=dara)
    assert not ItemResult.objects.exists()
    decide(disputed, RULING, by=dara)  # what was read can still be rejected
    triplet.refresh_from_db()
    assert triplet.state == "proposed"  # and its newer wording is not touched


def test_what_all_reject_for_one_reason_is_rejected_when_the_study_closes(team, ada, bruno, chen, dara):
    study = make_study(make_cases(team, 1, 3), [bruno, chen], ada)
    said = {1: {"grounded": "no"}, 2: {"category": "no"}, 3: {"aligned": "cannot_judge"}}
    for person in (bruno, chen):
        answer_all(study, person, lambda position: YES | said[position])
    waiting = {each.position: each.reasons for each in queue_of(study, dara)}
    assert waiting == {2: ["no clear answer"], 3: ["no clear answer"]}  # a wrong category is put right
    studies.close_study(study)
    assert [each.outcome for each in ItemResult.objects.all()] == ["rejected"]
    decide(
        study.items.get(position=2),
        Ruling({}, "corrected", "Diagnostic.", {"category": "diagnostic"}),
        by=dara,
    )
    assert Triplet.objects.get(current__category="diagnostic").state == "corrected"


def test_a_proposed_correction_is_looked_at_even_where_all_say_yes(team, ada, bruno, chen, dara):
    study = make_study(make_cases(team, 1, 1), [bruno, chen], ada)
    submit_verdict(claim_next(study, bruno), Draft(YES, "", 0, corrections={"insight": "It measures 6 cm."}))
    answer_all(study, chen, YES)
    (waiting,) = queue_of(study, dara)
    assert waiting.reasons == ["a correction is proposed"]
    page = signed_in(dara).get(place(study.items.get())).content.decode()
    assert "Proposes for the insight" in page
    assert "It measures 6 cm." in page
    studies.close_study(study)
    assert not ItemResult.objects.exists()


def judged(team, ada, people, kind, *answers):
    """The only item of a study of this kind, answered by each of `people`."""
    benchmark = make_cases(team, 1, 1)
    study = Study(benchmark=benchmark, protocol=Protocol.objects.get(key=kind, version=1), title=kind)
    items = cases.as_items(cases.chosen(Edition(benchmark, None), kind), kind)
    study = studies.start_study(studies.draft_study(study, items, people, by=ada))
    questions = Definition.read(study.protocol.definition).questions
    for person, said in zip(people, answers, strict=True):
        usual = {each.key: each.options[0].value for each in questions}
        notes = dict.fromkeys(said, "As it is.")
        submit_verdict(claim_next(study, person), Draft(usual | said, "", 0, notes=notes))
    return study.items.get()


def test_the_level_that_is_decided_becomes_that_of_the_case(team, ada, bruno, chen, dara):
    item = judged(team, ada, [bruno, chen], "difficulty", {"level": "2"}, {"level": "4"})
    decide(item, Ruling({"level": "4"}, "", "Three sources must be weighed."), by=dara)
    assert ItemResult.objects.get().outcome == "level_4"
    assert Case.objects.get().difficulty == 4


def test_a_corrected_goal_becomes_that_of_the_case(team, ada, bruno, chen, dara):
    item = judged(team, ada, [bruno, chen], "goal", {}, {"cohesive": "no"})
    page = signed_in(dara).get(place(item)).content.decode()
    assert 'name="correct-goal"' in page
    ruling = Ruling({"cohesive": "no"}, "corrected", "Two aims in one.", {"goal": "Stage the tumour."})
    decide(item, ruling, by=dara)
    assert Case.objects.select_related("goal").get().goal.text == "Stage the tumour."


def test_a_case_whose_material_is_rejected_leaves_the_working_copy(team, ada, bruno, chen, dara):
    item = judged(team, ada, [bruno, chen], "report", {}, {"identifiers": "fail"})
    with pytest.raises(InvalidInput, match="cannot become accepted"):
        decide(item, Ruling({"identifiers": "fail"}, "accepted", "A name is readable."), by=dara)
    decide(item, Ruling({"identifiers": "fail"}, "rejected", "A name is readable."), by=dara)
    assert Case.objects.get().retired_at


# --- The queue and the page ----------------------------------------------------------------


def test_the_queue_has_what_waits_and_nothing_that_one_read(disputed, dara, chen):
    client = signed_in(dara)
    queue = reverse("annotation:adjudication", args=[disputed.study_id])
    page = client.get(queue).content.decode()
    assert "1 item to decide" in page
    assert "Answers differ" in page
    studies.close_study(disputed.study)  # a reader sees no answers of others before
    join(disputed.study.benchmark.team, chen, Role.ADJUDICATOR)
    assert "Nothing waits for your decision" in signed_in(chen).get(queue).content.decode()
    answer = client.post(place(disputed), FORM)
    assert answer["Location"] == queue  # nothing is left
    assert "Nothing waits for your decision" in client.get(queue).content.decode()


def test_the_queue_costs_the_same_with_one_row_and_with_three(team, ada, bruno, chen, dara):
    study = make_study(make_cases(team, 1, 3), [bruno, chen], ada)
    answer_all(study, bruno, YES)
    submit_verdict(claim_next(study, chen), Draft(YES | {"aligned": "no"}, "", 0))
    client, counts = signed_in(dara), []
    for n_waiting in (1, 3):
        with CaptureQueriesContext(connection) as queries:
            page = client.get(reverse("annotation:adjudication", args=[study.pk])).content.decode()
        assert f"{n_waiting} item" in page
        counts.append(len(queries))
        answer_all(study, chen, YES | {"aligned": "no"})
    assert counts[0] == counts[1]


def test_the_page_marks_whose_passage_and_region_it_is_and_nobody_by_name(team, ada, bruno, chen, dara):
    study = make_study(make_cases(team, 1, 1), [bruno, chen], ada)
    report = study.items.get().item.report.text
    quote = report[:5]
    passage = [{"start": 0, "end": 5, "quote": quote}]
    submit_verdict(
        claim_next(study, bruno), Draft(YES, "", 0, spans=passage, notes={"faithful": "word for word"})
    )
    answer_all(study, chen, YES | {"grounded": "no"})
    page = signed_in(dara).get(place(study.items.get())).content.decode()
    letter = re.search(r'data-begins="([AB])"', page)[1]
    assert f'data-by="{letter}"' in page
    assert f"“{quote}”" in page
    assert "word for word" in page
    assert "Bruno" not in page
