"""Bootstrap intervals over cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medbench.scoring.intervals import bootstrap, resample_counts, seed_of

VALUES = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=10, max_size=30)


def test_every_resample_draws_as_many_cases_as_there_are():
    counts = resample_counts(37, seed=3, resamples=500)
    assert counts.shape == (500, 37)
    assert np.all(counts.sum(axis=1) == 37)
    assert counts.mean() == pytest.approx(1)
    assert counts.var() == pytest.approx(36 / 37, rel=0.05)  # of a multinomial count


def test_drawing_in_parts_is_no_different(monkeypatch):
    monkeypatch.setattr("medbench.scoring.intervals.CHUNK", 100)
    counts = resample_counts(30, seed=3, resamples=50)
    assert np.all(counts.sum(axis=1) == 30)
    assert len(np.unique(counts, axis=0)) == 50


def test_the_seed_decides():
    first, again, other = (resample_counts(20, seed=seed, resamples=10) for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert seed_of("tcga-mini", "1", "parity-ascii", 10_000) == 752804184
    assert seed_of("a", "bc") != seed_of("ab", "c")
    assert all(0 <= seed_of(i) < 2**31 for i in range(200))


def test_two_resamples_by_hand():
    """Cases (R, P) = (0, 1) five times and (1, 1) five times; each half drawn alone."""
    counts = np.array([[2] * 5 + [0] * 5, [0] * 5 + [2] * 5], dtype=float)
    found = bootstrap([0] * 5 + [1] * 5, [1] * 10, counts)
    assert found.recall == pytest.approx((0.025, 0.975))
    assert found.precision == (1, 1)
    assert found.f1 == pytest.approx((0.025, 0.975))
    assert found.reason == ""


@settings(max_examples=50)
@given(VALUES)
def test_intervals_are_ordered_and_bounded(values):
    recall, precision = zip(*values, strict=True)
    found = bootstrap(recall, precision, resample_counts(len(values), seed=1, resamples=200))
    for low, high in (found.recall, found.precision, found.f1):
        assert 0 <= low <= high <= 1
    assert min(recall) - 1e-12 <= found.recall[0]
    assert found.recall[1] <= max(recall) + 1e-12


def test_equal_cases_have_an_interval_without_width():
    found = bootstrap([0.4] * 12, [0.6] * 12, resample_counts(12, seed=1, resamples=1_000))
    assert found.recall == pytest.approx((0.4, 0.4), abs=1e-12)
    assert found.f1 == pytest.approx((0.48, 0.48), abs=1e-12)


@pytest.mark.parametrize("n_cases", [1, 9])
def test_too_few_cases_have_no_interval(n_cases):
    found = bootstrap([0.5] * n_cases, [0.5] * n_cases, resample_counts(n_cases, seed=1, resamples=10))
    assert (found.recall, found.precision, found.f1) == (None, None, None)
    assert found.reason == "too_few_cases"


def test_the_interval_covers_the_mean_of_the_population():
    """95 % nominal, 200 samples of 40 cases: 3 standard errors are 4.6 %."""
    rng = np.random.default_rng(0)
    counts = resample_counts(40, seed=1, resamples=1_000)
    hits = 0
    for _ in range(200):
        scores = rng.beta(2, 5, 40)
        low, high = bootstrap(scores, scores, counts).recall
        hits += low <= 2 / 7 <= high
    assert 0.88 <= hits / 200 <= 0.99
