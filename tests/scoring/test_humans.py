"""Humans beside machines: audit, novelty, quality, redundancy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medbench.scoring.estimate import Estimate
from medbench.scoring.humans import audit, novelty_against_audits, quality, redundancy
from medbench.scoring.proportion import Z, percent, wilson
from medbench.scoring.redundancy import distinct_2, self_bleu, tfidf_cosine


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_are_the_shares_that_the_count_does_not_refute(given_):
    """At either end p the score test of hits / n is exactly at its 5 % limit."""
    hits, n = given_
    share, (low, high), *_ = wilson(hits, n)
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            assert (share - end) ** 2 == pytest.approx(Z**2 * end * (1 - end) / n, abs=1e-12)


def test_wilson_equals_statsmodels():
    from statsmodels.stats.proportion import proportion_confint

    for hits, n in ((0, 30), (26, 30), (30, 30), (1, 3)):
        assert wilson(hits, n).ci == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-12)


def test_nothing_reviewed_is_no_share():
    assert wilson(0, 0) == Estimate(None, reason="nothing_counted")
    assert audit(0, 0, 0).approval.value is None


def test_table_7_with_each_percentage_rounded_on_its_own():
    """MedInsightAgent: 4 of 30 are 13.3 and 26 are 86.7; the paper prints 13.4 and 86.6."""
    found = audit(13, 13, 4)
    assert [percent(n, found.n) for n in (13, 13, 4, 26)] == [43.3, 43.3, 13.3, 86.7]
    assert found.approval.ci == pytest.approx((0.703, 0.947), abs=5e-4)
    assert percent(1, 16) == 6.3  # a half goes up: 6.25


def test_automated_novelty_beside_the_experts():
    audits = {"a": audit(8, 13, 9), "b": audit(20, 5, 5), "c": audit(0, 9, 21), "d": audit(1, 1, 1)}
    found = novelty_against_audits({"a": 0.5, "b": 0.6, "c": 0.4, "d": None}, audits)
    assert [row["system"] for row in found["systems"]] == ["a", "b", "c", "d"]
    assert found["systems"][0]["difference"] == pytest.approx(0.5 - 0.7)
    assert found["systems"][0]["approval"]["ci"] == pytest.approx((0.5212, 0.8334), abs=1e-4)
    assert found["systems"][3]["difference"] is None
    assert (found["n_systems"], found["spearman"]["value"], found["kendall"]["value"]) == (3, 1, 1)
    assert novelty_against_audits({}, {})["pearson"]["reason"] == "too_few_points"


def test_quality_compares_means_on_the_items_that_both_rated():
    human = np.array([[4, 5, 3], [2, np.nan, 2], [5, 5, 5], [np.nan] * 3, [1, 2, 3], [3, 3, 3]])
    machine = np.array([4.0, 3, 5, 5, np.nan, 4])
    found = quality(human, machine, resamples=500, seed=1)
    assert found.n_items == 4
    assert found.human.value == pytest.approx((4 + 2 + 5 + 3) / 4)
    assert found.machine.value == pytest.approx(4)
    assert found.difference.value == pytest.approx(0.5)
    assert found.difference.ci[0] <= 0.5 <= found.difference.ci[1]
    assert found.correlations.pearson.value == pytest.approx(np.corrcoef([4, 2, 5, 3], [4, 3, 5, 4])[0, 1])


@pytest.mark.parametrize("n", [0, 1])
def test_quality_without_items_is_undefined(n):
    found = quality(np.full((n, 2), 3.0), np.full(n, 4.0), resamples=50, seed=1)
    assert found.n_items == n
    assert found.human == Estimate(3 if n else None, None, "too_few_points")
    assert found.correlations.kendall.value is None


CASES = [
    ["the margin is free of tumour", "the margin is free of ink", "no"],
    ["the nodes are free of tumour", "the nodes are free of cancer cells"],
    ["mitoses are frequent in the tumour"],
]


def test_redundancy_over_all_texts_and_within_cases():
    found = redundancy(CASES)
    texts = [text for case in CASES for text in case]
    assert found["corpus"] == {
        "tfidf_cosine": tfidf_cosine(texts),
        "self_bleu": self_bleu(texts),
        "distinct_2": distinct_2(texts),
    }
    within = found["within_case"]
    assert within["tfidf_cosine"].value > found["corpus"]["tfidf_cosine"].value
    assert within["distinct_2"].value > found["corpus"]["distinct_2"].value
    expected = [self_bleu(case) for case in CASES[:2]]
    assert within["self_bleu"].value == pytest.approx(sum(e.value * e.n for e in expected) / 4)
    assert (within["self_bleu"].n, within["self_bleu"].n_excluded) == (4, 2)


def test_within_cases_of_one_text_each_nothing_repeats():
    found = redundancy([["the margin is free of tumour"], ["the margin is free of tumour"]])
    assert found["corpus"]["tfidf_cosine"].value == pytest.approx(1)
    assert found["within_case"]["tfidf_cosine"].reason == "too_few_texts"
    assert found["within_case"]["self_bleu"].reason == "too_few_texts"
    assert found["within_case"]["distinct_2"].value == 1
