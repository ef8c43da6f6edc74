"""Places on a board and how sure they are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from medbench.scoring.intervals import bootstrap, resample_counts
from medbench.scoring.ranking import rank_entries, resamples_for
from medbench.scoring.testing import compare, holm

BOARDS = st.tuples(st.integers(1, 6), st.integers(10, 15)).flatmap(
    lambda shape: arrays(np.float64, (*shape, 2), elements=st.floats(0, 1))
)


def board(n_entries=5, n_cases=60, seed=5):
    rng = np.random.default_rng(seed)
    difficulty = rng.uniform(0.1, 0.7, (n_cases, 1))
    runs = [(difficulty + 0.03 * i + rng.normal(0, 0.02, (n_cases, 2))).clip(0, 1) for i in range(n_entries)]
    return runs, resample_counts(n_cases, seed=1, resamples=1_000)


@settings(max_examples=30)
@given(BOARDS)
def test_every_number_agrees_with_a_loop(runs):
    counts = resample_counts(runs.shape[1], seed=1, resamples=40)
    places = rank_entries(list(runs), counts)
    means = counts @ runs / runs.shape[1]  # entries x resamples x 2
    total = means.sum(axis=2)
    f1 = np.divide(2 * means[..., 0] * means[..., 1], total, out=np.zeros_like(total), where=total > 0)
    for i, place in enumerate(places):
        assert place.interval == pytest.approx(bootstrap(*runs[i].T, counts).f1, abs=1e-12)
        drawn = [1 + sum(f1[:, b] > f1[i, b]) for b in range(40)]
        low, high = place.rank_interval
        assert low <= place.rank_median <= high
        assert min(drawn) <= low
        assert high <= max(drawn)
        assert place.p_first == pytest.approx(np.mean([rank == 1 for rank in drawn]))


def test_the_same_entry_twice_shares_place_and_group():
    runs, counts = board(3)
    places = rank_entries([*runs, runs[2]], counts)
    assert [place.rank for place in places] == [4, 3, 1, 1]
    assert places[2].rank_interval == places[3].rank_interval
    assert places[2].p_first == places[3].p_first
    assert places[2].group == places[3].group == 1
    assert places[3].p == 1


def test_pairing_sets_a_nested_pair_apart_though_its_intervals_overlap():
    runs, counts = board(2)
    worse, better = rank_entries(runs, counts)
    assert worse.interval[1] > better.interval[0]
    assert (worse.group, better.group) == (2, 1)


def test_those_who_cannot_be_told_apart_share_a_group():
    rng = np.random.default_rng(1)
    runs = [rng.beta(4, 4, (60, 2)) for _ in range(4)]
    places = rank_entries(runs, resample_counts(60, seed=1, resamples=1_000))
    assert {place.group for place in places} == {1}
    assert sorted(place.rank for place in places) == [1, 2, 3, 4]
    assert sum(place.p_first for place in places) == pytest.approx(1)


def test_the_family_is_everybody_against_the_reference():
    runs, counts = board(4)
    places = rank_entries(runs, counts, reference=1)
    assert (places[1].p, places[1].p_holm, places[1].difference) == (None, None, 0)
    p = [compare(runs[1], runs[i], counts).p for i in (0, 2, 3)]
    assert [places[i].p for i in (0, 2, 3)] == p
    assert [places[i].p_holm for i in (0, 2, 3)] == holm(p)
    assert places[0].difference < 0 < places[2].difference
    assert places[2].difference_interval[0] > 0


def test_few_cases_are_ranked_and_say_what_is_missing():
    places = rank_entries([[(0.5, 0.5)] * 9, [(0.6, 0.6)] * 9], np.ones((1, 9)))
    assert [place.rank for place in places] == [2, 1]
    assert {place.reason for place in places} == {"too_few_cases"}
    assert {(place.interval, place.rank_interval, place.p_first) for place in places} == {(None,) * 3}


def test_a_large_board_needs_more_resamples_to_tell_anybody_apart():
    """One entry far ahead of sixty equal ones."""
    level = np.random.default_rng(2).uniform(0.2, 0.4, (60, 1))
    runs = [np.repeat(level + 0.3, 2, axis=1), *[np.repeat(level, 2, axis=1)] * 60]
    few, enough = (
        rank_entries(runs, resample_counts(60, seed=1, resamples=n)) for n in (1_000, 40 * len(runs))
    )
    assert {place.group for place in few} == {1}
    assert [place.group for place in enough] == [1] + [2] * 60
    assert [resamples_for(n) for n in (1, 50, 250, 1_000)] == [10_000, 10_000, 10_000, 40_000]


def test_an_empty_board_has_no_places():
    assert rank_entries([], np.ones((1, 3))) == []


def test_a_board_of_one_has_nobody_to_be_compared_with():
    (only,) = rank_entries([[(0.5, 0.5)] * 12], resample_counts(12, seed=1, resamples=20))
    assert (only.rank, only.group, only.p_first, only.p, only.p_holm) == (1, 1, 1.0, None, None)


def test_scores_that_differ_by_rounding_share_a_rank():
    runs = [[(0.1 + 0.2, 0.3)] * 10, [(0.3, 0.3)] * 10]
    assert [place.rank for place in rank_entries(runs, np.ones((1, 10)))] == [1, 1]
