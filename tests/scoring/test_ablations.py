"""What parts of a method are worth, and what a score costs."""

import numpy as np
import pytest

from medbench.scoring.ablations import ablation_table, interactions
from medbench.scoring.costs import cost_plot, costs
from medbench.scoring.intervals import resample_counts
from medbench.scoring.testing import holm

WEB, TOOL, BOTH = frozenset({"web"}), frozenset({"tool"}), frozenset({"web", "tool"})
COUNTS = resample_counts(60, seed=1, resamples=500)


def run(level, seed=0):
    """Equal recall and precision around a level, the same hard cases every time."""
    difficulty = np.random.default_rng(9).normal(0, 0.1, 60)
    noise = np.random.default_rng(seed).normal(0, 0.005, 60)
    values = level + difficulty + noise
    return np.column_stack([values, values])


VARIANTS = {WEB: run(0.49, 1), TOOL: run(0.48, 2), BOTH: run(0.43, 3)}


def test_losses_are_the_whole_minus_the_variant():
    whole = run(0.52)
    table = ablation_table(whole, VARIANTS, COUNTS)
    assert [row.without for row in table] == [WEB, TOOL, BOTH]
    for row in table:
        assert row.loss.difference == pytest.approx(whole.mean() - row.f1)
        assert row.recall_loss == pytest.approx(row.precision_loss)
        low, high = row.loss.interval
        assert 0 < low < row.loss.difference < high
    assert [row.p_holm for row in table] == holm([row.loss.p for row in table])
    assert all(row.p_holm < 0.05 for row in table)


def test_two_parts_together_can_be_worth_more_than_their_sum():
    (found,) = interactions(run(0.52), VARIANTS, COUNTS)
    assert found.parts == (WEB, TOOL)
    assert found.interaction == pytest.approx(found.loss_of_both - found.sum_of_losses)
    assert found.interaction == pytest.approx(0.02, abs=0.003)
    low, high = found.interval
    assert 0 < low < found.interaction < high


def test_without_the_joint_variant_there_is_no_interaction():
    assert interactions(run(0.52), {WEB: run(0.49), TOOL: run(0.48)}, COUNTS) == []


def test_the_arithmetic_of_table_5():
    """0.5242 as a whole; the parts lose 0.0116 and 0.0121 alone, 0.0353 with one more left out."""
    level = [np.full((60, 2), value) for value in (0.5242, 0.5126, 0.5121, 0.4889)]
    (found,) = interactions(level[0], dict(zip((WEB, TOOL, BOTH), level[1:], strict=True)), COUNTS)
    assert found.sum_of_losses == pytest.approx(0.0237)
    assert found.loss_of_both == pytest.approx(0.0353)


def test_few_cases_have_losses_without_intervals():
    few = [each[:8] for each in (run(0.52), *VARIANTS.values())]
    variants = dict(zip(VARIANTS, few[1:], strict=True))
    counts = resample_counts(8, seed=1, resamples=20)
    assert {row.loss.interval for row in ablation_table(few[0], variants, counts)} == {None}
    assert interactions(few[0], variants, counts)[0].interval is None


def test_what_was_not_reported_is_missing_and_not_free():
    found = costs([{"api_calls": 3, "seconds": 0}, {"api_calls": 5, "seconds": None}, {}])
    assert found.api_calls == (4, 2)
    assert found.seconds == (0, 1)
    assert found.input_tokens == (None, 0)


def test_the_plot_marks_who_is_best_for_the_cost():
    points = cost_plot([("slow", 9, 0.5), ("fast", 1, 0.4), ("poor", 9, 0.3), ("unknown", None, 0.9)])
    assert [(point.name, point.is_best_for_its_cost) for point in points] == [
        ("fast", True),
        ("slow", True),
        ("poor", False),
    ]
    assert all(point.is_best_for_its_cost for point in cost_plot([("a", 1, 0.5), ("b", 1, 0.5)]))
