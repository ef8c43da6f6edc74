"""The protocols beside that of triplets: from setting up a study to what it concludes."""

import pytest

from annotation.forms import ItemsForm, StudyForm
from annotation.models import Protocol, Study
from annotation.protocols import Definition
from annotation.services import studies
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, submit_verdict
from medbench.review.models import ItemResult, ReviewItem
from tests.annotation.build import address, answer_all, make_cases
from tests.people import signed_in

NEW = "/studies/new/"


@pytest.fixture
def benchmark(team):
    return make_cases(team, n_cases=3, n_triplets=2)


def protocol_of(kind):
    return Protocol.objects.filter(kind=kind).latest("version")


def start(curator, kind, annotators, **changes):
    """Start a study of `kind` over the working copy, on the page."""
    form = {
        "title": "Round 1",
        "protocol": protocol_of(kind).pk,
        "edition": "draft",
        "annotators": [person.pk for person in annotators],
        "annotators_per_item": len(annotators),
        "do": "start",
    }
    signed_in(curator).post(NEW, form | changes)
    return Study.objects.get()


def affirmed(kind):
    """The first option of every question, which affirms where one does."""
    definition = Definition.read(protocol_of(kind).definition)
    return {question.key: question.options[0].value for question in definition.questions}


def outcomes():
    return sorted(ItemResult.objects.values_list("item__case__case_id", "outcome"))


def judge(benchmark, kind, payload, people, curator, **fields):
    """A running study over one review item that the leaderboard would make."""
    item = ReviewItem(
        benchmark=benchmark,
        kind=kind,
        subject_id="1",
        payload=payload,
        case=benchmark.cases.first(),
        report=benchmark.cases.first().report,
        **fields,
    )
    study = Study(benchmark=benchmark, protocol=protocol_of(kind), title="Outputs", annotators_per_item=1)
    return studies.start_study(studies.draft_study(study, [item], people, by=curator))


@pytest.mark.parametrize("kind", ["goal", "report", "case", "difficulty"])
def test_a_study_of_cases_shows_each_case_once(benchmark, ada, bruno, chen, kind):
    study = start(ada, kind, [bruno, chen])
    assert study.items.count() == 3
    held = claim_next(study, bruno)
    page = signed_in(bruno).get(address(held)).content.decode()
    for question in Definition.read(study.protocol.definition).questions:
        assert f"answer-{question.key}" in page
    for told in (f"Insight {key} of {held.study_item.item.case}." for key in "12"):
        page = page.replace(told, "")
    assert "TCGA-" not in page  # a case has no name here but the one in its insights


def test_a_sample_is_drawn_by_its_seed(benchmark, ada, bruno):
    study = start(ada, "case", [bruno], sample=2, seed=7)
    assert (study.items.count(), study.seed) == (2, 7)
    note = study.actions.get(what="created").note
    assert note == "Data quality v1, 2 items: working copy, sample of 2 by seed 7"


@pytest.mark.parametrize(
    ("kind", "given", "size"),
    [("case", "", 100), ("case", "7", 7), ("goal", "", None), ("triplet", "", None)],
)
def test_data_quality_is_judged_on_a_sample_of_a_hundred_unless_another_is_asked_for(
    benchmark, kind, given, size
):
    assert StudyForm(benchmark, {"sample": given}).sample_size(kind) == size
    assert ItemsForm(benchmark, {"sample": given}).sample_size(kind) == (int(given) if given else None)


def test_triplets_are_asked_about_unless_another_protocol_is_chosen(benchmark, ada):
    page = signed_in(ada).get(NEW)
    assert page.context["form"]["protocol"].value() == protocol_of("triplet").pk
    assert page.context["summary"]["n_items"] == 6


def test_a_goal_that_all_affirm_is_accepted(benchmark, ada, bruno, chen):
    study = start(ada, "goal", [bruno, chen])
    for person in (bruno, chen):
        answer_all(study, person, affirmed("goal"))
    studies.close_study(study)
    assert [outcome for _, outcome in outcomes()] == ["accepted"] * 3


def test_one_critical_fail_leaves_the_material_undecided_and_an_auxiliary_one_does_not(benchmark, ada, bruno):
    study = start(ada, "report", [bruno])
    passed = affirmed("report")
    said = {1: passed, 2: passed | {"history": "fail"}, 3: passed | {"margins": "fail"}}
    while (held := claim_next(study, bruno)) is not None:
        answers = said[held.study_item.position]
        submit_verdict(held, Draft(answers, "", 0, notes={"margins": "Not given."}))
    studies.close_study(study)
    decided = {each.item_id for each in ItemResult.objects.all()}
    assert decided == {each.item_id for each in study.items.filter(position__in=(1, 2))}


def test_a_critical_fail_is_not_taken_without_words(benchmark, ada, bruno):
    study = start(ada, "report", [bruno])
    held = claim_next(study, bruno)
    answers = {f"answer-{key}": value for key, value in affirmed("report").items()}
    form = answers | {
        "answer-margins": "fail",
        "version": 0,
        "comment": "",
        "do": "submit",
        "note-margins": "",
    }
    answer = signed_in(bruno).post(address(held), form)
    assert answer.status_code == 422
    assert "What is missing or wrong?" in answer.content.decode()
    form |= {"version": 1, "note-margins": " Not given. "}
    signed_in(bruno).post(address(held), form)
    held.refresh_from_db()
    assert (held.state, held.verdict.notes) == ("submitted", {"margins": "Not given."})


def test_the_level_that_all_give_becomes_that_of_the_case(benchmark, ada, bruno, chen):
    study = start(ada, "difficulty", [bruno, chen])
    answer_all(study, bruno, affirmed("difficulty") | {"level": "4"})
    answer_all(
        study, chen, lambda position: affirmed("difficulty") | {"level": "4" if position == 1 else "3"}
    )
    studies.close_study(study)
    agreed = study.items.get(position=1).item.case
    assert outcomes() == [(agreed.case_id, "level_4")]
    agreed.refresh_from_db()
    assert agreed.difficulty == 4


def test_scores_of_data_quality_decide_nothing(benchmark, ada, bruno):
    study = start(ada, "case", [bruno])
    answer_all(study, bruno, {"correctness": "5", "rationality": "5", "coherence": "5"})
    studies.close_study(study)
    assert outcomes() == []


def test_an_output_is_scored_beside_its_references_and_without_its_method(benchmark, ada, bruno):
    payload = {"insight": "All nodes are free.", "references": ["N0 of 30."], "method": "Secret method"}
    study = judge(benchmark, "output", payload, [bruno], ada, hides=["method"])
    page = signed_in(bruno).get(address(claim_next(study, bruno))).content.decode()
    assert "All nodes are free." in page
    assert "N0 of 30." in page
    assert "Secret method" not in page


def test_novelty_is_sorted_without_the_references(benchmark, ada, bruno):
    payload = {"insight": "Bands at the front.", "goal": "Judge", "references": ["Known finding."]}
    study = judge(benchmark, "novelty", payload, [bruno], ada, hides=["references"])
    held = claim_next(study, bruno)
    page = signed_in(bruno).get(address(held)).content.decode()
    assert "Bands at the front." in page
    assert "Known finding." not in page
    form = {"answer-category": "a", "version": 0, "comment": "", "do": "submit"}
    signed_in(bruno).post(address(held), form)
    held.refresh_from_db()
    assert (held.state, held.verdict.answers) == ("submitted", {"category": "a"})
