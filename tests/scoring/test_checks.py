"""The one validator: what it adds to the reader of files."""

import json

import pytest

from medbench.scoring.checks import check_results
from medbench.scoring.matching import score_case
from medbench.scoring.novelty import LEXICAL_TAU, lexical_novelty, n_matched
from tests.formats.build import as_json, as_jsonl, result, results

SAFE = "Invasive ductal carcinoma of grade two with clear surgical margins"


def warned(document, data=None, **options):
    answer = check_results(data or as_json(document, indent=1), case_ids=["A-1", "A-2"], **options)
    assert answer.ok
    return [(w.code, w.line, w.case_id, w.field) for w in answer.warnings]


ROWS = results(
    result("A-1", SAFE, " \u200b", {"insight": SAFE.upper()}, f"{SAFE} indeed", "Nodes are free."),
    result("A-2", SAFE),
)


def test_blank_repeated_and_nearly_repeated_insights_are_told_with_their_place():
    assert warned(ROWS) == [
        ("empty_insight", 9, "A-1", "insights[1]"),
        ("duplicate_insight", 10, "A-1", "insights[2]"),
        ("near_duplicate_insight", 13, "A-1", "insights[3]"),
    ]
    assert [line for _, line, _, _ in warned(None, as_jsonl(ROWS))] == [2, 2, 2]


def test_near_begins_at_nine_tenths():
    ten = [f"w{i}" for i in range(10)]

    def pair(n_same):
        other = ten[:n_same] + [f"x{i}" for i in range(10 - n_same)]
        return results(result("A-1", " ".join(ten), " ".join(other)), result("A-2", "x"))

    assert [code for code, *_ in warned(pair(9))] == ["near_duplicate_insight"]
    assert warned(pair(8)) == []


def test_a_repeat_is_one_under_the_profile_that_scores():
    document = results(
        result("A-1", "Invades nodes of the neck", "Invading node of the neck"), result("A-2", "x")
    )
    assert warned(document) == []
    assert [code for code, *_ in warned(document, profile="porter")] == ["duplicate_insight"]


def test_a_refused_file_is_not_scored_and_its_sound_cases_are_still_looked_at():
    document = results(result("A-1", "one", "one"), result("A-3", "two"))
    answer = check_results(as_json(document), case_ids=["A-1", "A-2"])
    assert not answer.ok
    assert [problem.code for problem in answer.problems] == ["unknown_case"]
    assert [warning.code for warning in answer.warnings] == ["duplicate_insight", "missing_case"]


def test_the_real_hostile_upload_is_accepted_with_every_warning(testdata):
    folder = testdata / "data/bundles/tcga-mini"
    case_ids = [json.loads(line)["case_id"] for line in (folder / "cases.jsonl").read_text().splitlines()]
    answer = check_results((folder / "results/noisy.json").read_bytes(), case_ids=case_ids)
    assert answer.ok
    assert answer.warnings.counts == {
        "duplicate_insight": 4,
        "empty_insight": 2,
        "empty_case": 1,
        "missing_case": 1,
    }


def test_novelty_from_words_alone_is_provisional():
    full = score_case(["a b c d"], ["a b c d", "a x y z", "p q r s"])
    assert full.matrix[0].tolist() == [1, 0.25, 0]
    assert n_matched(full.matrix, LEXICAL_TAU) == 2  # 0.25 reaches it
    found = lexical_novelty([full.matrix, score_case(["a"], None).matrix])
    assert found.tau == 0.25
    assert found.original == pytest.approx(1 / 3)
    assert found.innovation is None
    assert found.reason == "lexical_provisional"
