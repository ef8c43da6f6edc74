"""Correlation of automated scores with those of people."""

import numpy as np
import pytest

from medbench.scoring.correlation import KINDS, correlation, correlations, difference
from medbench.scoring.estimate import Estimate, resample_weights

RNG = np.random.default_rng


def theirs(kind, x, y):
    from scipy import stats

    return {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[kind](x, y)[
        0
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_correlations_equal_scipy_with_ties(kind):
    chance = RNG(1)
    for _ in range(100):
        n = int(chance.integers(3, 30))
        x = chance.integers(0, 6, n).astype(float)
        y = chance.integers(0, 6, n) + x
        if np.ptp(x) and np.ptp(y):
            assert correlation(kind, x, y).value == pytest.approx(theirs(kind, x, y), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_is_exactly_1(kind):
    x = RNG(2).normal(size=40)
    assert correlation(kind, x, 3 * x - 7).value == 1
    assert correlation(kind, x, -0.1 * x).value == -1


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_undefined_has_its_reason(kind):
    assert correlation(kind, np.ones(4), np.arange(4.0)) == Estimate(None, reason="constant_input")
    assert correlation(kind, np.arange(2.0), np.arange(2.0)) == Estimate(None, reason="too_few_points")


@pytest.fixture
def scores():
    """Eight systems x 60 cases: better systems score better with both, and so do easier cases."""
    chance = RNG(3)
    skill, ease = np.linspace(0, 1, 8)[:, None], chance.normal(0, 0.3, 60)
    automated = skill + ease + chance.normal(0, 0.4, (8, 60))
    human = skill + ease + chance.normal(0, 0.4, (8, 60))
    human[chance.random(human.shape) < 0.4] = np.nan
    return automated, human


def test_at_system_level_a_point_is_the_mean_of_a_system(scores):
    automated, human = scores
    found = correlations("system", automated, human, resamples=400, seed=1)
    rated = ~np.isnan(human)
    x = [row[ok].mean() for row, ok in zip(automated, rated, strict=True)]
    y = [row[ok].mean() for row, ok in zip(human, rated, strict=True)]
    for kind in KINDS:
        estimate = getattr(found, kind)
        assert estimate.value == pytest.approx(theirs(kind, x, y))
        assert estimate.ci[0] <= estimate.value <= estimate.ci[1] <= 1
    assert (found.n_systems, found.n_cases, found.n_skipped) == (8, 60, 0)


def test_at_case_level_systems_are_averaged_and_constant_ones_skipped(scores):
    automated, human = scores
    automated[2] = 0.5
    found = correlations("case", automated, human, resamples=400, seed=1)
    for kind in KINDS:
        each = [
            theirs(kind, a[ok], h[ok])
            for i, (a, h) in enumerate(zip(automated, human, strict=True))
            if i != 2
            for ok in [~np.isnan(h)]
        ]
        estimate = getattr(found, kind)
        assert estimate.value == pytest.approx(np.mean(each))
        assert estimate.ci[0] < estimate.value < estimate.ci[1]
    assert found.n_skipped == 1


@pytest.mark.parametrize("level", ["system", "case"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_resample_is_the_correlation_of_the_drawn_cases(level, kind, scores):
    """With one resample both ends of the interval are the value in it."""
    automated, human = scores
    estimate = getattr(correlations(level, automated, human, resamples=1, seed=9), kind)
    ((drawn,),) = resample_weights(np.ones(60, dtype=int), resamples=1, seed=9)
    drawn = drawn.astype(int)
    a, h = np.repeat(automated, drawn, axis=1), np.repeat(human, drawn, axis=1)
    again = by_scipy(level, kind, a, h)
    assert estimate.ci == pytest.approx((again, again), abs=1e-9)


def by_scipy(level, kind, automated, human):
    rated = ~np.isnan(human)
    rows = [(a[ok], h[ok]) for a, h, ok in zip(automated, human, rated, strict=True)]
    if level == "case":
        return np.mean([theirs(kind, *row) for row in rows])
    return theirs(kind, [a.mean() for a, _ in rows], [h.mean() for _, h in rows])


def test_two_systems_are_no_correlation():
    chance = RNG(4)
    found = correlations("system", chance.random((2, 20)), chance.random((2, 20)), resamples=50, seed=1)
    assert found.pearson == Estimate(None, reason="too_few_points")
    nothing = correlations("case", np.full((2, 5), np.nan), chance.random((2, 5)), resamples=50, seed=1)
    assert (nothing.pearson.reason, nothing.n_systems, nothing.n_cases) == ("too_few_points", 0, 0)


def test_the_better_metric_is_told_by_the_difference(scores):
    _, human = scores
    good = np.nan_to_num(human, nan=0.5) + RNG(5).normal(0, 0.2, human.shape)
    poor = RNG(6).normal(size=human.shape)
    for kind in KINDS:
        found = difference("case", kind, good, poor, human, resamples=300, seed=1)
        assert found.ci[0] > 0
        assert found.ci[0] < found.value < found.ci[1]
        assert difference("case", kind, good, good, human, resamples=300, seed=1) == Estimate(0, (0, 0))
    constant = difference("case", "pearson", np.ones_like(human), good, human, resamples=50, seed=1)
    assert constant == Estimate(None, reason="constant_input")


def test_intervals_cover_the_population():
    """Bivariate normal with r = .6, 40 cases: 100 samples, 3 standard errors are 6.5 %."""
    chance = RNG(7)
    hits = 0
    for seed in range(100):
        x = chance.normal(size=40)
        y = 0.6 * x + 0.8 * chance.normal(size=40)
        low, high = correlations("case", x[None], y[None], resamples=300, seed=seed).pearson.ci
        hits += low <= 0.6 <= high
    assert 0.86 <= hits / 100 <= 0.99
