"""The page of an item: what its script is answered, its states, its history."""

import datetime as dt

import pytest
import time_machine
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment
from annotation.services import assignments, studies
from annotation.services.assignments import claim_next, take
from annotation.services.verdicts import Draft, save_verdict, submit_verdict
from tests.annotation.build import FORM, YES, address, ask, make_cases, make_study
from tests.cases.build import make_triplet
from tests.people import signed_in


@pytest.fixture
def held(study, bruno):
    return claim_next(study, bruno)


# --- JSON, for the script ---------------------------------------------------------------


def test_a_save_answers_its_version_and_time(held, bruno):
    answer = ask(bruno, held, do="save", **{"answer-grounded": "yes"})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["version"], body["answers"]) == (1, {"grounded": "yes"})
    assert dt.datetime.fromisoformat(body["saved_at"]) == held.verdict.saved_at


def test_a_stale_save_answers_what_is_stored(held, bruno):
    save_verdict(held, Draft({"grounded": "no"}, "there", 0))
    answer = ask(bruno, held, do="save", **{"answer-grounded": "yes"})
    assert answer.status_code == 409
    body = answer.json()
    assert body["code"] == "stale"
    stored = {name: body["stored"][name] for name in ("answers", "comment", "version")}
    assert stored == {"answers": {"grounded": "no"}, "comment": "there", "version": 1}


def test_an_incomplete_submission_answers_the_gaps_in_order(held, bruno):
    answer = ask(bruno, held, do="submit", **{"answer-faithful": "yes"})
    assert answer.status_code == 422
    assert [gap["field"] for gap in answer.json()["problems"]] == ["grounded", "aligned", "category"]


def test_a_submission_answers_the_next_address(study, held, bruno):
    answer = ask(bruno, held, do="submit", **FORM)
    assert answer.json()["next"] == address(claim_next(study, bruno))


def test_a_submission_that_comes_too_late_says_where_the_item_went(benchmark, bruno, chen, ada):
    study = make_study(benchmark, [bruno, chen], ada, per_item=1)
    held = claim_next(study, bruno)
    with time_machine.travel(timezone.now() + assignments.HOLD + dt.timedelta(minutes=1)):
        take(Assignment.objects.get(study_item=held.study_item, annotator=chen))
        answer = ask(bruno, held, do="submit", **FORM)
        assert answer.status_code == 409
        assert answer.json()["code"] == "hold_lost"
        page = signed_in(bruno).get(address(held)).content.decode()
    assert "kept in your history and not counted" in page
    assert "Submit and next" not in page
    assert "Chen" not in page


# --- States of the workbench ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "words"), [(studies.pause_study, "Paused since"), (studies.close_study, "Closed on")]
)
def test_a_study_that_stands_still_is_read_only_and_says_since_when(study, held, bruno, step, words):
    step(study)
    page = signed_in(bruno).get(address(held)).content.decode()
    assert words in page
    assert "disabled" in page
    assert "Submit and next" not in page


def test_changing_a_submitted_item_says_that_the_old_answer_stays(study, held, bruno):
    submit_verdict(held, Draft(YES, "", 0))
    page = signed_in(bruno).get(address(held)).content.decode()
    assert "You are changing an answer of" in page
    assert 'name="skip"' not in page


def test_one_can_go_back_and_forth_among_the_items_one_was_given(study, held, bruno):
    submit_verdict(held, Draft(YES, "", 0))
    second = claim_next(study, bruno)
    assert address(held) in signed_in(bruno).get(address(second)).content.decode()
    assert address(second) in signed_in(bruno).get(address(held)).content.decode()


def test_the_count_never_passes_the_total(study, bruno):
    client = signed_in(bruno)
    for number in (1, 2, 3, 4):
        held = claim_next(study, bruno)
        assert f"Item {number} of 4" in client.get(address(held)).content.decode()
        submit_verdict(held, Draft(YES, "", 0))


def test_the_claim_names_case_and_triplet_by_number_only(held, bruno):
    page = signed_in(bruno).get(address(held)).content.decode()
    payload = held.study_item.item.payload
    case_number = held.study_item.item.case.position + 1
    assert f"Descriptive · difficulty 2 · Case {case_number} · triplet {payload['number']} of 2" in page


def test_evidence_that_was_not_found_is_said_and_the_nearest_passage_offered(team, bruno, chen, ada):
    benchmark = make_cases(team, 1, 0)
    triplet = make_triplet(benchmark.cases.get())
    version = triplet.current
    type(version).objects.bulk_create(
        [
            type(version)(
                triplet=triplet,
                version=2,
                category="descriptive",
                question="How large?",
                insight="It measures 6 cm.",
                evidence="Tumor size 6 cm. All 30 lymph nodes free of tumour.",
                report=version.report,
            )
        ]
    )
    triplet.current = triplet.versions.get(version=2)
    triplet.save()
    study = make_study(benchmark, [bruno, chen], ada)
    page = signed_in(bruno).get(address(claim_next(study, bruno))).content.decode()
    assert "Not found word for word in the report." in page
    assert "data-near" in page


def test_an_item_without_slide_or_report_can_still_be_judged(team, bruno, chen, ada):
    benchmark = make_cases(team, 1, 0, report=None)
    make_triplet(benchmark.cases.get())
    study = make_study(benchmark, [bruno, chen], ada)
    page = signed_in(bruno).get(address(claim_next(study, bruno))).content.decode()
    assert "No slide for this case" in page
    assert "No report for this case." in page


# --- History and guidelines --------------------------------------------------------------


def test_the_history_says_what_changed_newest_first(held, bruno):
    save_verdict(held, Draft({"grounded": "yes"}, "", 0))
    save_verdict(held, Draft({"grounded": "no"}, "Wrong side.", 1))
    submit_verdict(held, Draft(YES, "", 2))
    page = signed_in(bruno).get(reverse("annotation:guidelines", args=[held.pk])).content.decode()
    order = [
        page.index(words) for words in ("Submitted</span>", "removed", "Wrong side.", "For this study")[:3]
    ]
    assert order == sorted(order)


def test_the_guidelines_hold_the_protocol_and_the_studys_own(benchmark, bruno, chen, ada):
    study = make_study(benchmark, [bruno, chen], ada, guidelines="Take margins as reported.")
    held = claim_next(study, bruno)
    page = signed_in(bruno).get(reverse("annotation:guidelines", args=[held.pk])).content.decode()
    assert "Take margins as reported." in page
    assert "The six categories" in page
