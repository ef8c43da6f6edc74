"""Every golden value of ROUGE, matching, aggregation, redundancy, novelty, tests and costs. The
published tables are recomputed from their printed cells."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from medbench.errors import InvalidInput
from medbench.scoring.costs import gain, ratio
from medbench.scoring.intervals import bootstrap, resample_counts
from medbench.scoring.matching import aggregate, harmonic_mean, kept_outputs, prf, score_case
from medbench.scoring.novelty import Counts, decide, n_matched, new_among_unmatched, voted_novelty
from medbench.scoring.redundancy import distinct_2, self_bleu, tfidf_cosine
from medbench.scoring.rouge import pair_matrix
from medbench.scoring.testing import add_one_p, compare, holm, unpaired_z


def golden_cases(testdata):
    return json.loads((testdata / "golden/golden_metrics.json").read_text())["cases"]


def scored(recall=0.0, precision=0.0, n_references=1, n_outputs=1, *, is_missing=False):
    """A case of which only the numbers matter."""
    return SimpleNamespace(
        n_references=n_references,
        n_outputs=n_outputs,
        n_empty_removed=0,
        n_duplicates_removed=0,
        is_missing=is_missing,
        recall=recall,
        precision=precision,
        f1=harmonic_mean(recall, precision),
    )


def rouge1(given):
    profile = "porter" if given["stem"] else given["profile"]
    return pair_matrix([given["reference"]], [given["prediction"]], profile)[0, 0]


def insight_prf(given):
    if "S" not in given:
        with pytest.raises(InvalidInput) as refusal:
            prf(np.zeros((given["n_gt"], given["n_gen"])))
        return {"recall": None, "precision": None, "f1": None, "flag": refusal.value.code}
    matrix = np.array(given["S"], dtype=float)
    removed = {}
    if given.get("dedupe"):
        kept = kept_outputs(given["generated"])
        matrix = matrix[:, list(kept.indexes)]
        removed = {"n_duplicates_removed": len(kept.same_as)}
    return prf(matrix)._asdict() | removed


def aggregate_f1(given):
    totals = aggregate([scored(*case) for case in given["cases"]])
    return {
        "recall": totals.recall,
        "precision": totals.precision,
        "f1_of_means": totals.f1,
        "mean_of_case_f1": totals.mean_case_f1,
    }


def aggregate_missing(given):
    cases = [scored(recall or 0, is_missing=recall is None) for recall in given["case_recall"]]
    assert len(cases) == given["n_benchmark_cases"]
    totals = aggregate(cases)
    assert totals.n_missing_cases == 1
    return totals.recall


def aggregate_micro_macro(given):
    cases = [scored(sum(best) / len(best), n_references=len(best)) for best in given["case_max_scores"]]
    totals = aggregate(cases)
    return {"macro": totals.recall, "micro": totals.recall_micro}


def threshold(given):
    matched = n_matched(np.array([given["best_scores"]]), given["tau"])
    return {"M": matched, "N": len(given["best_scores"]) - matched}


def bootstrap_ci(given):
    scores = given["case_scores"]
    counts = resample_counts(len(scores), seed=1, resamples=given["B"])
    return list(bootstrap(scores, scores, counts).recall)


def bootstrap_p(given):
    if "d" in given:
        counts = resample_counts(len(given["d"]), seed=1, resamples=given["B"])
        return compare([(0.5 + d, 0.5 + d) for d in given["d"]], [(0.5, 0.5)] * len(given["d"]), counts).p
    strayed = np.zeros(given["B"])
    strayed[: given["exceedances"]] = 1
    return add_one_p(strayed, 1)


def novelty(given):
    case = Counts(given["M"], given["N"], given["C"])
    shares = {"original": case.original, "innovation": case.innovation}
    return shares | ({"flag": "empty_prediction"} if given.get("submitted") else {})


def novelty_pool(given):
    found = voted_novelty([Counts(*case) for case in given["cases"]])
    return {"micro": found.innovation_micro, "macro": found.innovation}


METRICS = {
    "bootstrap_p": bootstrap_p,
    "holm": lambda given: holm(given["p"]),
    "unpaired_z": lambda given: dict(
        zip(("z", "p_two"), unpaired_z(given["diff"], given["half_ci"]), strict=True)
    ),
    "novelty": novelty,
    "novelty_pool": novelty_pool,
    "novelty_vote": lambda given: decide(None if vote is None else bool(vote) for vote in given["votes"]),
    "ratio": lambda given: ratio(given["a"], given["b"]),
    "rouge1_f": rouge1,
    "insight_prf": insight_prf,
    "aggregate_f1": aggregate_f1,
    "aggregate_recall_missing": aggregate_missing,
    "aggregate_recall_micro_macro": aggregate_micro_macro,
    "harmonic_mean": lambda given: harmonic_mean(given["recall"], given["precision"]),
    "distinct_2": lambda given: distinct_2(given["texts"]).value,
    "self_bleu4": lambda given: self_bleu(given["texts"]).value,
    "tfidf_cosine": lambda given: tfidf_cosine(given["texts"]).value,
    "novelty_match_threshold": threshold,
    "bootstrap_ci": bootstrap_ci,
}


def test_every_golden_value(testdata):
    groups = {"rouge", "match", "agg", "table2", "table3", "red"}
    checked = set()
    for case in golden_cases(testdata):
        group = case["id"].split("-")[0]
        if group not in groups and case["metric"] not in METRICS:
            continue
        found = METRICS[case["metric"]](case["input"])
        expected = case["expected"]
        if not isinstance(expected, str | None):
            expected = pytest.approx(expected, abs=case["tol"])
        assert found == expected, case["id"]
        checked.add(group)
    assert checked >= groups | {"nov", "boot"}


@pytest.mark.parametrize(
    ("reference", "output", "profile", "expected"),
    [
        ("a a b", "a b b", "parity-ascii", 2 / 3),
        ("3.5 cm", "5.3 cm", "parity-ascii", 1),
        ("3.5 cm", "5.3 cm", "unicode", 0.5),
        ("invades nodes", "invaded node", "porter", 1),
        ("β-catenin", "catenin", "unicode", 2 / 3),
        ("肿瘤转移", "转移肿瘤", "unicode", 1),
        ("肿瘤", "", "unicode", 0),
    ],
)
def test_rouge_by_hand(reference, output, profile, expected):
    assert pair_matrix([reference], [output], profile)[0, 0] == pytest.approx(expected, abs=1e-12)


def test_matching_by_hand():
    assert prf(np.array([[0.2, 0.9], [0.4, 0.1]])) == pytest.approx((0.65, 0.65, 0.65))
    assert prf(np.zeros((3, 0))) == (0, 0, 0)
    case = score_case(["a b"], [])
    assert (case.recall, case.precision, case.f1, case.n_outputs) == (0, 0, 0, 0)


def test_novelty_of_table_2():
    assert new_among_unmatched(0.4274, 0.4995) == pytest.approx(0.125917, abs=1e-6)


def test_the_tests_of_table_4():
    """Z and p of two independent systems from the printed half-widths."""
    assert unpaired_z(0.0179, (0.009, 0.0097))[1] == pytest.approx(0.0080, abs=3e-4)
    assert holm([0.010, 0.011, 0.001, 0.001, 0.001]) == pytest.approx([0.02, 0.02, 0.005, 0.005, 0.005])


@pytest.mark.parametrize(("differences", "p"), [([1, 1, 1], 0.25), ([3, 1, -1], 0.75)])
def test_every_swap_of_three_cases_by_hand(differences, p):
    first = [(5 + d, 5 + d) for d in differences]
    assert compare(first, [(5, 5)] * 3, resample_counts(3, seed=1, resamples=10)).p == pytest.approx(p)


def test_what_table_8_costs():
    assert ratio(958.9, 133.4) == pytest.approx(7.188, abs=5e-4)
    assert gain(0.5242, 0.5067) == pytest.approx(0.03454, abs=5e-6)
    assert ratio(None, 1) is ratio(1, 0) is gain(1, None) is None


def test_redundancy_by_hand():
    assert tfidf_cosine(["xx yy", "xx zz"]).value == pytest.approx(0.336097, abs=5e-7)
    assert self_bleu(["a b c d e", "a b c d f"]).value == pytest.approx(0.2**0.25, abs=1e-12)
