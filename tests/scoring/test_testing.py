"""Paired tests: what they find, what they must not find, and how they stay reproducible."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medbench.errors import InvalidInput
from medbench.scoring.intervals import bootstrap, resample_counts
from medbench.scoring.matching import aggregate, score_case
from medbench.scoring.testing import Runs, benjamini_hochberg, compare, holm, unpaired_z

PS = st.lists(st.floats(0, 1), min_size=1, max_size=12)
RUN = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=14)


def shared_difficulty(n, rng, gain=0.0):
    """Two systems on cases that are hard or easy for both."""
    difficulty = rng.uniform(0.1, 0.7, n)
    first, second = ((difficulty + shift + rng.normal(0, 0.03, n)).clip(0, 1) for shift in (gain, 0))
    return np.column_stack([first, first]), np.column_stack([second, second])


@pytest.mark.parametrize(
    ("n", "method"),
    [(12, "swap_enumeration"), (13, "swap_permutation"), (49, "swap_permutation"), (50, "paired_bootstrap")],
)
def test_the_number_of_cases_decides_the_test(n, method):
    run = [(0.5, 0.5)] * n
    found = compare(run, run, resample_counts(n, seed=1, resamples=100))
    assert (found.method, found.p, found.difference, found.n_cases) == (method, 1, 0, n)


@pytest.mark.parametrize(("n", "gain"), [(12, 0.05), (30, 0.05), (100, 0.02)])
def test_pairing_finds_a_gain_that_difficulty_hides(n, gain):
    first, second = shared_difficulty(n, np.random.default_rng(3), gain)
    counts = resample_counts(n, seed=1, resamples=2_000)
    found = compare(first, second, counts)
    assert found.p < 0.01
    half_widths = [np.ptp(bootstrap(*run.T, counts).f1) / 2 for run in (first, second)]
    assert unpaired_z(found.difference, half_widths)[1] > 0.2
    low, high = found.interval
    assert 0 < low < found.difference < high


@given(RUN, st.data())
@settings(max_examples=50)
def test_sides_are_equal_and_p_is_a_share(first, data):
    numbers = st.tuples(st.floats(0, 1), st.floats(0, 1))
    second = data.draw(st.lists(numbers, min_size=len(first), max_size=len(first)))
    counts = resample_counts(len(first), seed=2, resamples=200)
    one, other = compare(first, second, counts, seed=4), compare(second, first, counts, seed=4)
    assert one.difference == -other.difference
    assert 0 < one.p <= 1
    assert one.p == pytest.approx(other.p, abs=0.1)  # swaps that are drawn are drawn for one side
    assert one == compare(first, second, counts, seed=4)


@pytest.mark.parametrize("n", [14, 60])
def test_without_any_difference_five_in_a_hundred_are_found(n):
    """200 pairs of equal systems; three standard errors are 4.6 %."""
    rng = np.random.default_rng(8)
    counts = resample_counts(n, seed=1, resamples=400)
    found = sum(compare(*shared_difficulty(n, rng), counts).p < 0.05 for _ in range(200))
    assert found <= 22


def test_p_is_never_0():
    better, worse = [(0.9, 0.9)] * 60, [(0.1, 0.1)] * 60
    found = compare(better, worse, resample_counts(60, seed=1, resamples=10_000))
    assert found.p == pytest.approx(1 / 10_001)


def test_few_cases_have_a_test_and_no_interval():
    found = compare([(1, 1)] * 9, [(0, 0)] * 9, resample_counts(9, seed=1, resamples=50))
    assert (found.interval, found.reason) == (None, "too_few_cases")
    assert found.p == pytest.approx(2 / 2**9)


def test_scores_are_those_of_the_board_to_the_last_bit():
    cases = [score_case(["a b c", "d e"], [f"a {word}", "d"]) for word in "bcdefghijk"]
    runs = Runs([[(case.recall, case.precision) for case in cases]], np.ones((1, 10)))
    assert runs.scores[0] == aggregate(cases).f1


@pytest.mark.parametrize(
    "runs",
    [
        [[(0.5, 0.5)] * 3, [(0.5, 0.5)] * 4],
        [[(0.5, float("nan"))] * 3] * 2,
        [[0.5, 0.5, 0.5]] * 2,
        [[], []],
    ],
)
def test_what_cannot_be_compared_is_refused(runs):
    with pytest.raises(InvalidInput):
        compare(*runs, np.ones((1, 3)))


@given(PS)
def test_holm_is_monotone_and_never_below_p(ps):
    adjusted = holm(ps)
    assert all(p <= q <= 1 for p, q in zip(ps, adjusted, strict=True))
    ordered = [q for _, q in sorted(zip(ps, adjusted, strict=True))]
    assert all(a <= b for a, b in pairwise(ordered))
    assert min(adjusted) == pytest.approx(min(1, len(ps) * min(ps)))


@given(PS)
def test_the_false_discovery_rate_is_milder_than_holm(ps):
    assert all(p <= q <= h + 1e-12 for p, q, h in zip(ps, benjamini_hochberg(ps), holm(ps), strict=True))


def test_false_discovery_rate_by_hand():
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
