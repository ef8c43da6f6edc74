"""From what a model says to an answer, with the golden values of judges."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medbench.evals.judges import Cell
from medbench.evals.replies import BadReply, expected_score, parse
from tests.evals.scripts import CHECKS, judged


def tokens(top, text="{}"):
    return [('{"score": ', {}), (max(top, key=top.get) if text == "{}" else text, top), ("}", {})]


def combine(given_):
    scores = [Cell("k", "m", raw).score for raw in given_["raw"]]
    value = sum(scores) / len(scores)
    return None if value != value else value  # noqa: PLR0124 (NaN alone differs from itself)


def logprob(given_):
    if "raw" in given_:
        score = expected_score(tokens(given_["top"], str(given_["raw"])), given_["raw"])
        return {"score": given_["raw"] if score is None else score, "weighted": score is not None}
    return expected_score(tokens(given_["top"]), 7)


def test_every_golden_value_of_judges(testdata):
    cases = json.loads((testdata / "golden/golden_metrics.json").read_text())["cases"]
    checked = set()
    for case in cases:
        given_, expected = case["input"], case["expected"]
        if case["metric"] == "judge_combine":
            found = combine(given_)
            expected = expected["score"] if isinstance(expected, dict) else expected
        elif case["metric"] == "judge_logprob":
            found = logprob(given_)
        elif case["metric"] == "judge_parse":
            found = parse("pairwise", given_["text"])["score"]
        elif case["metric"] == "judge_normalise":
            assert (given_["lo"], given_["hi"]) == (1, 10)
            cell = Cell("k", "m", given_["raw"])
            found = {"parity_div10": cell.score, "zero_based": cell.zero_based}
        else:
            continue
        checked.add(case["id"])
        assert found == (pytest.approx(expected, abs=case["tol"]) if expected is not None else None), case[
            "id"
        ]
    assert len(checked) == 6


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"score": 3}', 3),
        ('First {"score": 9}, no: {"score": 4} is right.', 4),
        ('```json\n{"rationale": "x", "score": 10}\n```', 10),
        ('{"note": "{"} {"score": 2}', 2),
        ('{"score": 5} {"other": 1}', 5),
        ('{"outer": {"score": 9}} {"score": 1} trailing {', 1),
    ],
)
def test_the_last_answer_counts(text, score):
    assert parse("pairwise", text)["score"] == score


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_json"),
        ("Score: 9 out of 10", "no_json"),
        ('{"score": 9', "no_json"),
        ('[9, {"rating": 9}]', "no_json"),
        ('{"score": 0}', "out_of_range"),
        ('{"score": 11}', "out_of_range"),
        ('{"score": "9"}', "out_of_range"),
        ('{"score": true}', "out_of_range"),
        ('{"score": 7.5}', "out_of_range"),
        ('{"score": 8} {"score": 99}', "out_of_range"),
        ("{" * 50_000, "no_json"),
        ('{"a":' * 20_000, "no_json"),
    ],
)
def test_what_is_no_answer_is_none(text, reason):
    with pytest.raises(BadReply) as bad:
        parse("pairwise", text)
    assert bad.value.reason == reason


@given(st.text() | st.text('{}[]":, score10', max_size=60))
def test_any_text_is_an_answer_or_a_reason(text):
    for kind, ids in (("pairwise", ()), ("row", ("c1",)), ("vote", ())):
        with suppress(BadReply):
            assert parse(kind, text, ids)


def row(*scores):
    return json.dumps({"scores": [{"id": id_, **judged(score)} for id_, score in scores]})


def test_a_row_names_every_candidate_once():
    found = parse("row", row(("c2", 4), ("c1", 9)), ("c1", "c2"))
    assert [(each["id"], each["score"]) for each in found["scores"]] == [("c1", 9), ("c2", 4)]
    for wrong in (row(("c1", 9)), row(("c1", 9), ("c1", 8)), row(("c1", 9), ("c2", 8), ("c3", 1))):
        with pytest.raises(BadReply):
            parse("row", wrong, ("c1", "c2"))


def test_a_vote_is_one_of_two_words():
    assert parse("vote", '{"reasoning": "Seen.", "vote": "correct"}')["vote"] == "correct"
    for wrong in ('{"vote": "yes"}', '{"vote": true}', '{"vote": ["correct"]}'):
        with pytest.raises(BadReply):
            parse("vote", wrong)


def test_checks_keep_only_what_is_offered():
    found = parse("pairwise", json.dumps({"score": 2, "checks": {**CHECKS, "grade": "differs", "x": "same"}}))
    assert found["checks"] == {**CHECKS, "grade": "differs"}
    assert parse("pairwise", '{"score": 2, "checks": "all"}')["checks"] == {}


def test_a_ten_in_two_tokens_is_not_weighted():
    split = [('{"score": ', {}), ("1", {"1": 0.9, "9": 0.1}), ("0", {"0": 1.0}), ("}", {})]
    assert expected_score(split, 10) is None


def test_a_one_that_may_begin_a_ten_is_not_weighted():
    assert expected_score(tokens({"9": 0.6, "1": 0.4}), 9) is None
    assert expected_score(tokens({"9": 0.6, "1": 0.3, "10": 0.1}), 9) == pytest.approx(6.7)
    assert expected_score(tokens({"9": 0.995, "1": 0.005}), 9) == 9


def test_the_token_of_the_last_score_is_the_one():
    twice = [*tokens({"3": 1.0}), (" ", {}), *tokens({"8": 0.5, "6": 0.5})]
    assert expected_score(twice, 8) == pytest.approx(7)
    assert expected_score(twice, 3) is None
