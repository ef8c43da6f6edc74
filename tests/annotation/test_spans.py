"""Passages that annotators mark in the report: stored as code points of the raw text."""

import json

import pytest

from annotation.models import Protocol, VerdictRevision
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, Incomplete, Stale, save_verdict, submit_verdict
from annotation.workbench import stored_of
from medbench.errors import InvalidInput
from tests.annotation.build import YES, make_cases, make_study, post
from tests.cases.build import make_triplet

REPORT = "DIAGNOSIS 🔬\r\nTumour size: 6 cm.\r\nLympho\u00advascular: e\u0301tat.\rורם ממאיר"
SHOWN = REPORT.replace("\r\n", "\n").replace("\r", "\n")


def given(words):
    """A passage as the browser sends it."""
    start = SHOWN.index(words)
    return {"start": start, "end": start + len(words), "quote": words}


@pytest.fixture
def held(team, ada, bruno):
    """An item whose triplet has no passage of its own, under the protocol that wants proof."""
    benchmark = make_cases(team, 1, 0, report=REPORT)
    make_triplet(benchmark.cases.get(), "1")
    protocol = Protocol.objects.get(key="triplet", version=2)
    return claim_next(make_study(benchmark, [bruno], ada, per_item=1, protocol=protocol), bruno)


@pytest.mark.parametrize(
    "words",
    ["DIAGNOSIS 🔬", "Tumour size: 6 cm.", "🔬\nTumour", "Lympho\u00advascular", "e\u0301tat", "ורם ממאיר"],
)
def test_a_marked_passage_is_that_slice_of_the_raw_report_and_comes_back_as_it_was_sent(held, words):
    verdict = save_verdict(held, Draft({}, "", 0, spans=[given(words)]))
    (stored,) = verdict.spans
    assert REPORT[stored["start"] : stored["end"]] == stored["quote"]
    assert stored["quote"].replace("\r\n", "\n") == words
    assert stored_of(verdict)["spans"] == [given(words)]
    assert save_verdict(held, Draft({}, "", 0, spans=[given(words)])).version == 1  # the same again


@pytest.mark.parametrize(
    "wrong",
    [
        given("6 cm") | {"quote": "7 cm"},
        given("6 cm") | {"start": -4},
        given("6 cm") | {"end": 10_000},
        given("6 cm") | {"start": 30, "end": 20},
        given("6 cm") | {"start": "0"},
        given("6 cm") | {"start": True},
        {"start": 0, "end": 0, "quote": ""},
        {"start": 1},
        "6 cm",
        None,
    ],
)
def test_a_passage_that_is_not_in_the_report_is_refused_and_nothing_is_saved(held, wrong):
    with pytest.raises(InvalidInput, match="Mark the passage again"):
        save_verdict(held, Draft({"grounded": "no"}, "", 0, spans=[wrong]))
    assert not VerdictRevision.objects.exists()


@pytest.mark.parametrize("wrong", [{}, "all", [given("6 cm")] * 21])
def test_what_is_no_list_of_passages_is_refused(held, bruno, wrong):
    answer = post(bruno, held, do="save", comment="", version=0, spans=json.dumps(wrong))
    assert answer.status_code == 400


def test_supported_needs_a_passage_where_the_triplet_has_none(held):
    answers = YES | {"visible": "report"}
    with pytest.raises(Incomplete) as refused:
        submit_verdict(held, Draft(answers, "", 0))
    assert [gap.code for gap in refused.value.gaps] == ["needs_proof"]
    verdict = submit_verdict(held, Draft(answers, "", 1, spans=[given("Tumour size: 6 cm.")]))
    assert verdict.submitted_at is not None


def test_two_windows_with_other_passages_are_a_conflict(held):
    save_verdict(held, Draft({}, "", 0, spans=[given("6 cm")]))
    with pytest.raises(Stale):
        save_verdict(held, Draft({}, "", 0, spans=[given("Tumour")]))


def test_a_draft_without_a_word_of_passages_keeps_those_that_are_stored(held):
    save_verdict(held, Draft({}, "", 0, spans=[given("6 cm")]))
    verdict = save_verdict(held, Draft({"grounded": "no"}, "", 1))
    assert len(verdict.spans) == 1
