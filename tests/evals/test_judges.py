"""Judges' scores of a case: averaged, never guessed, and what gaming gains."""

import json

import numpy as np
import pytest

from medbench.errors import InvalidInput
from medbench.evals.judges import CaseToJudge, Row, ask_rows, judge_case, questions_of
from medbench.evals.reports import family, report
from medbench.evals.spending import Price, estimate
from medbench.evals.stores import MemoryStore
from medbench.scoring.matching import aggregate, score_case
from tests.evals.build import profile_at, session_for
from tests.evals.scripts import CHECKS, answer, data_of, honest, judged, shared_words
from tests.evals.server import Answer

REFERENCES = ("the margin is clear", "two nodes are positive", "necrosis is absent")
CASE = CaseToJudge("A-1", "Goal", REFERENCES, ("the margin is clear", "necrosis is focal"))


def fixed(*raw):
    """Judges that give every pair a score of their own, by the number in their name."""
    return lambda asked: answer(asked, lambda *_: raw[int(asked.model[-1]) - 1])


def judge(server, case=CASE, store=None, **settings):
    profile = profile_at(server, **settings)
    with session_for(*profile.models, store=store) as session:
        return judge_case(session, profile, case), profile


@pytest.mark.parametrize("mode", ["pairwise", "row"])
def test_the_score_of_a_pair_is_the_mean_of_its_judges(served, mode):
    found, profile = judge(served(fixed(7, 8)), mode=mode)
    assert found.by_judge.shape == (2, 3, 2)
    assert found.matrix == pytest.approx(np.full((3, 2), 0.75))
    assert found.score.recall == found.score.precision == pytest.approx(0.75)
    assert found.bounds[0].f1 == found.bounds[1].f1 == found.score.f1
    seen = report(profile, [found])
    assert seen.totals == aggregate([found.score])
    assert (seen.coverage, seen.blocked_by) == (1, "")
    assert seen.disagreement == pytest.approx(0.1)


def test_both_modes_judge_the_same_pairs(served):
    server = served(honest)
    pairwise, row = judge(server)[0], judge(server, mode="row")[0]
    assert np.array_equal(pairwise.matrix, row.matrix)
    assert pairwise.matrix[0, 0] == 1


def test_a_row_asks_once_for_each_reference_and_judge(served):
    server = served(honest)
    judge(server, mode="row")
    rows = [data_of(asked) for asked in server.asked]
    assert len(rows) >= 6
    assert {len(row["candidates"]) for row in rows} == {2}


def test_one_judge_that_fails_leaves_a_pair_unscored(served):
    """Never the other's score, never half of it, never 0."""

    def script(asked):
        fails = asked.model == "judge-2" and "focal" in asked.user and "nodes" in asked.user
        return "no" if fails else fixed(7, 8)(asked)

    found, profile = judge(served(script))
    assert np.isnan(found.matrix[1, 1])
    assert np.isfinite(found.matrix).sum() == 5
    assert found.by_judge[0, 1, 1] == pytest.approx(0.7)
    assert (found.score, found.is_complete, found.n_scored, found.n_pairs) == (None, False, 5, 6)
    low, high = found.bounds
    assert low.f1 < high.f1
    assert low.matrix[1, 1] == 0
    assert high.matrix[1, 1] == 1
    seen = report(profile, [found])
    assert (seen.totals, seen.blocked_by, seen.original_by_tau) == (None, "incomplete", None)
    assert seen.f1_bounds == (low.f1, high.f1)
    assert seen.coverage == pytest.approx(5 / 6)
    assert seen.reasons == {"no_json": 1}
    assert not seen.is_provisional


def test_bounds_that_hardly_differ_make_a_result_provisional(served):
    found, profile = judge(served(lambda a: "no" if "focal" in a.user and "nodes" in a.user else honest(a)))
    complete, _ = judge(served(honest))
    seen = report(profile, [found, *[complete] * 400])
    assert seen.is_provisional
    assert (seen.totals, seen.blocked_by) == (None, "incomplete")


def test_a_missing_case_is_worth_0_and_asks_nobody(served):
    server = served(honest)
    missing, profile = judge(server, CaseToJudge("A-2", "Goal", REFERENCES, None, decoy="x"))
    empty, _ = judge(server, CaseToJudge("A-3", "Goal", REFERENCES, ()))
    assert server.asked == []
    assert (missing.is_missing, empty.is_missing) == (True, False)
    assert missing.score.f1 == empty.score.f1 == 0
    totals = report(profile, [missing, empty]).totals
    assert (totals.n_missing_cases, totals.n_empty_cases) == (1, 1)


def test_without_references_there_is_nothing_to_judge(served):
    with pytest.raises(InvalidInput):
        judge(served(honest), CaseToJudge("A-1", "Goal", (), ("x",)))


def test_repeats_and_blanks_are_gone_before_anybody_judges(served):
    """Gaming: repeating the best output, or one that is called novel."""
    server = served(honest)
    outputs = (
        "the margin is clear",
        " ",
        "The margin is CLEAR!",
        "necrosis is focal",
        "the\u200b margin is clear",
    )
    store = MemoryStore()
    found, _ = judge(server, CaseToJudge("A-1", "Goal", REFERENCES, outputs), store)
    plain, _ = judge(server, store=store)
    assert found.kept.indexes == (0, 3)
    assert (found.score.n_empty_removed, found.score.n_duplicates_removed) == (1, 2)
    assert np.array_equal(found.matrix, plain.matrix)
    assert len(server.asked) == 12  # each pair once, for both submissions


def test_what_the_judge_reads_is_normalised(served):
    server = served(honest)
    judge(server, CaseToJudge("A-1", " Go\u00adal ", ("the\n margin",), ("ﬁnding\u202e \tone",)))
    assert data_of(server.asked[0]) == {"goal": "Goal", "reference": "the margin", "candidate": "finding one"}


def test_the_order_of_outputs_changes_no_score(served):
    server = served(honest)
    outputs = tuple(f"finding {i} of the margin" for i in range(6))
    for mode in ("pairwise", "row"):
        one, _ = judge(server, CaseToJudge("A-1", "g", REFERENCES, outputs), mode=mode)
        other, _ = judge(server, CaseToJudge("A-1", "g", REFERENCES, outputs[::-1]), mode=mode)
        assert np.array_equal(one.matrix, other.matrix[:, ::-1])


def test_some_rows_are_asked_in_both_orders_and_the_change_is_told(served):
    """A judge that likes what comes first."""

    def first_is_best(asked):
        ids = [each["id"] for each in data_of(asked)["candidates"]]
        return json.dumps({"scores": [{"id": id_, **judged(10 - i)} for i, id_ in enumerate(ids)]})

    rows = [Row("g", f"reference {i}", ("a", "b")) for i in range(60)]
    turned = [row for row in rows if row.is_turned_too]
    assert 0 < len(turned) < 12
    profile = profile_at(served(first_is_best), judges=1, mode="row")
    with session_for(*profile.models) as session:
        found = ask_rows(session, profile, rows)
    changes = [row.turns[0] for row in found]
    assert [change for change in changes if change == change] == pytest.approx([0.1] * len(turned))  # noqa: PLR0124


def test_probabilities_weigh_and_must_not_be_mixed(served):
    def sometimes(asked):
        raw = 7
        text = json.dumps(judged(raw))
        before = text[: text.index('"score": ') + len('"score": ')]
        split = {"7": 0.5, "9": 0.5}
        tokens = [(before, {}), ("7", split), ("}", {})]
        return Answer(text, tokens=tokens if "focal" not in asked.user else None)

    server = served(sometimes)
    profile = profile_at(server, judges=1)
    weighted = type(profile)(
        "Weighted", (type(profile.judges[0])(**{**_fields(profile.judges[0]), "logprobs": True}),)
    )
    with session_for(*weighted.models) as session:
        found = judge_case(session, weighted, CASE)
    assert found.by_judge[0, :, 0] == pytest.approx(0.8)
    assert found.by_judge[0, :, 1] == pytest.approx(0.7)
    seen = report(weighted, [found])
    assert (seen.judges[0].n_weighted, seen.judges[0].is_mixed, seen.blocked_by) == (
        3,
        True,
        "mixed_weighting",
    )


def _fields(model):
    return {name: getattr(model, name) for name in model.__dataclass_fields__}


def test_judges_that_agree_have_an_alpha_of_1(served):
    honest_pair, profile = judge(served(honest))
    assert report(profile, [honest_pair]).alpha == pytest.approx(1)
    against = lambda asked: answer(  # noqa: E731
        asked, lambda d, t: shared_words(d, t) if asked.model == "judge-1" else 11 - shared_words(d, t)
    )
    opposed, profile = judge(served(against))
    assert report(profile, [opposed]).alpha < 0
    alone, profile = judge(served(honest), judges=1)
    assert report(profile, [alone]).alpha is report(profile, [alone]).disagreement is None
    constant, profile = judge(served(fixed(7, 7)))
    assert report(profile, [constant]).alpha is None


def test_a_judge_that_breaks_its_own_rubric_is_told(served):
    def over(_):
        return json.dumps({**judged(8), "checks": {**CHECKS, "laterality": "differs"}})

    found, profile = judge(served(over))
    assert report(profile, [found]).judges[0].n_over_the_cap == 6


def test_a_liking_for_long_texts_and_for_ones_own_family_is_told(served):
    longer = lambda asked: answer(asked, lambda _, text: min(10, 1 + len(text.split())))  # noqa: E731
    outputs = tuple("word " * n + f"w{n}" for n in range(1, 9))
    cases = [CaseToJudge(f"A-{i}", f"{i}", ("a reference",), outputs) for i in range(2)]
    profile = profile_at(served(longer))
    with session_for(*profile.models) as session:
        found = [judge_case(session, profile, case) for case in cases]
    lengths = [[len(text) for text in outputs]] * 2
    seen = report(profile, found, backbone="local judge-7b", lengths=lengths)
    assert seen.judges[0].log_length_slope > 0.2
    assert not seen.judges[0].same_family
    assert report(profile, found).judges[0].log_length_slope is None


@pytest.mark.parametrize(
    ("model", "who"),
    [
        ("gpt-4o", "openai"),
        ("google/gemini-2.5-pro", "google"),
        ("Qwen3-VL-32B-Instruct", "qwen"),
        ("medgemma-27b", "google"),
        ("claude-sonnet-5-5", "anthropic"),
        ("PathGen-LLaVA", "llama"),
        ("our own model", ""),
    ],
)
def test_families_are_known_by_name(model, who):
    assert family(model) == who


def test_the_estimate_counts_what_will_be_asked(served):
    server = served(honest)
    profile = profile_at(server)
    case = CaseToJudge("A-1", "Goal", REFERENCES, ("one", "two", "one"), decoy="three is another")
    prices = {judge.name: Price(input=0.5, output=1.5) for judge in profile.judges}
    before = estimate(questions_of(profile, case), prices=prices)
    assert {name: each.calls for name, each in before.items()} == {j.name: 8 for j in profile.judges}
    assert all(0 < each.money < 0.01 for each in before.values())
    store = MemoryStore()
    with session_for(*profile.models, store=store) as session:
        judge_case(session, profile, case)
    assert len(server.asked) == 16
    after = estimate(questions_of(profile, case), store.verdicts)
    assert {(each.calls, each.known) for each in after.values()} == {(0, 8)}


def test_a_slim_case_reports_the_same(served):
    found, profile = judge(served(lambda a: "no" if "focal" in a.user and "nodes" in a.user else honest(a)))
    assert report(profile, [found.slim()]) == report(profile, [found])
    assert {cell.rationale for cell in found.slim().cells()} == {""}
    assert "Compared word by word." in {cell.rationale for cell in found.cells()}


def test_every_cell_names_its_verdict_in_the_store(served):
    store = MemoryStore()
    found, _ = judge(served(honest), store=store)
    assert {cell.key for cell in found.cells()} == set(store.verdicts)
    for cell in found.cells():
        assert store.verdicts[cell.key].answer["score"] == cell.raw


def test_cases_are_what_boards_keep(served):
    """A judged case has the shape of one that shared words scored."""
    found, _ = judge(served(honest))
    lexical = score_case(REFERENCES, CASE.outputs)
    assert type(found.score) is type(lexical)
    assert found.score.matrix.shape == lexical.matrix.shape
    assert found.score.kept == lexical.kept
