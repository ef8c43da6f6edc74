"""Who is matched, how votes decide, what the shares say, and what flooding gains."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medbench.errors import InvalidInput
from medbench.scoring.intervals import mean_interval, resample_counts
from medbench.scoring.novelty import STRIP, Counts, counts, decide, matched, sensitivity, voted_novelty

COUNTS = st.tuples(st.integers(0, 9), st.integers(0, 9)).flatmap(
    lambda mn: st.integers(0, mn[1]).map(lambda c: Counts(*mn, c))
)


@given(st.lists(COUNTS, min_size=1, max_size=8))
def test_innovation_is_never_below_original(cases):
    found = voted_novelty(cases)
    assert 0 <= found.original <= found.innovation <= 1
    assert found.new == pytest.approx(found.innovation - found.original)
    assert 0 <= found.original_micro <= found.innovation_micro <= 1
    assert found.new_of_unmatched is None or -1e-9 <= found.new_of_unmatched <= 1 + 1e-9


def test_with_equal_budgets_means_and_pools_are_the_same():
    found = voted_novelty([Counts(4, 6, 3), Counts(7, 3, 1), Counts(0, 10, 2)])
    assert found.original == pytest.approx(found.original_micro)
    assert found.innovation == pytest.approx(found.innovation_micro)
    assert found.new_of_unmatched == pytest.approx(6 / 19)


def test_flooding_an_easy_case_pays_only_where_outputs_are_pooled():
    honest, flooded = [Counts(2, 2), Counts(0, 4)], [Counts(20, 20), Counts(0, 4)]
    assert voted_novelty(honest).original == voted_novelty(flooded).original == 0.25
    assert voted_novelty(flooded).original_micro > voted_novelty(honest).original_micro


def test_an_open_vote_leaves_undefined_what_needs_votes():
    found = voted_novelty([Counts(1, 2, 1, undetermined=1), Counts(1, 0)])
    assert found.original == pytest.approx(2 / 3)
    assert (found.innovation, found.new, found.new_of_unmatched, found.innovation_micro) == (None,) * 4
    assert found.reason == "undetermined_votes"


def test_where_everything_is_matched_nothing_can_be_new():
    found = voted_novelty([Counts(3, 0), Counts(1, 0)])
    assert (found.original, found.innovation, found.new, found.new_of_unmatched) == (1, 1, 0, None)
    assert found.reason == "nothing_unmatched"


def test_no_cases_have_no_novelty():
    with pytest.raises(InvalidInput):
        voted_novelty([])


@given(st.lists(st.sampled_from([True, False, None]), min_size=3, max_size=3))
def test_two_of_a_kind_decide(votes):
    expected = {True: "correct", False: "incorrect"}
    winner = next((kind for kind in expected if votes.count(kind) >= 2), None)
    assert decide(votes) == (expected[winner] if winner is not None else "undetermined")


def test_every_unmatched_output_needs_a_decision():
    assert counts([True, False, False], ["correct", "undetermined"]) == Counts(1, 2, 1, 1)
    with pytest.raises(ValueError, match="2 unmatched outputs, 1 decisions"):
        counts([True, False, False], ["correct"])


def test_an_unscored_pair_matches_nobody_and_misses_nobody():
    with pytest.raises(InvalidInput) as refusal:
        matched(np.array([[0.9, np.nan]]), 0.7)
    assert refusal.value.code == "unscored_pairs"


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=4))
def test_a_higher_threshold_never_matches_more(rows):
    strip = sensitivity([np.array(rows), np.zeros((2, 0))])
    assert list(strip) == list(STRIP)
    assert list(strip.values()) == sorted(strip.values(), reverse=True)
    assert all(0 <= share <= 0.5 for share in strip.values())  # the second case has no outputs


def test_shares_have_intervals_from_ten_cases_on():
    cases = [Counts(i % 3, 3 - i % 3, 1) for i in range(12)]
    low, high = mean_interval([case.original for case in cases], resample_counts(12, seed=1, resamples=500))
    assert low < voted_novelty(cases).original < high
    assert mean_interval([0.5] * 9, np.ones((1, 9))) is None
