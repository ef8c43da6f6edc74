"""Krippendorff's alpha for ratings with holes, and its interval over items.

alpha = 1 - Do/De over the items with two ratings or more. Do is the mean difference within items,
De that of all pairs of their ratings. Sources: Krippendorff 2011, "Computing Krippendorff's
alpha-reliability"; the bootstrap of items as in Zapf et al. 2016; metrics_spec section 6.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, assert_never

import numpy as np

from medbench.scoring.estimate import (
    FEWER_THAN_2_ITEMS,
    NO_PAIRABLE_UNITS,
    NO_VARIATION,
    Estimate,
    resample_weights,
    with_interval,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from medbench.scoring.agreement.table import Coded, Level

    Floats = NDArray[np.float64]


class Patterns(NamedTuple):
    """The different rows of counts (patterns x labels) and how many items have each."""

    counts: Floats
    times: NDArray[np.intp]


def alpha(coded: Coded, level: Level) -> Estimate:
    """The coefficient alone. Reasons: `no_pairable_units`, `no_variation`."""
    counts = pairable(coded.counts)
    totals = counts.sum(axis=0)
    if not len(counts):
        return Estimate(None, reason=NO_PAIRABLE_UNITS)
    if np.count_nonzero(totals) < 2:
        return Estimate(None, reason=NO_VARIATION)
    delta = differences(level, coded.values, totals)
    within = within_items(counts, delta).sum()
    return Estimate(float(1 - (totals.sum() - 1) * within / (totals @ delta @ totals)))


def alphas(coded: Coded, levels: Sequence[Level], *, resamples: int, seed: int) -> dict[Level, Estimate]:
    """The coefficient at several levels, their intervals from the same resamples of pairable items.

    Resamples in which all ratings are equal are left out; above 5 % of them there is no interval
    (`undefined_resamples`). One item has none either (`fewer_than_2_items`).
    """
    found = {level: alpha(coded, level) for level in levels}
    counts = pairable(coded.counts)
    values = {level: each.value for level, each in found.items() if each.value is not None}
    if len(counts) < 2:
        return found | {level: Estimate(value, None, FEWER_THAN_2_ITEMS) for level, value in values.items()}
    if values and all(value == 1 for value in values.values()):  # no resample can disagree
        return found | dict.fromkeys(values, Estimate(1.0, (1.0, 1.0)))
    if values:
        patterns = patterns_of(counts)
        parts = [
            resampled(patterns, weights, list(values), coded.values)
            for weights in resample_weights(patterns.times, resamples=resamples, seed=seed)
        ]
        for level, value in values.items():
            found[level] = with_interval(value, np.concatenate([part[level] for part in parts]))
    return found


def pairable(counts: Floats) -> Floats:
    """The rows of items with two ratings or more."""
    return np.asarray(counts[counts.sum(axis=1) >= 2])


def patterns_of(counts: Floats) -> Patterns:
    patterns, times = np.unique(counts, axis=0, return_counts=True)
    return Patterns(patterns, times)


def differences(level: Level, values: Floats | None, totals: Floats) -> Floats:
    """The squared difference of every two labels (labels x labels), symmetric, 0 on the diagonal."""
    match level:
        case "nominal":
            return np.asarray(1 - np.eye(len(totals)))
        case "ordinal":
            middles = np.cumsum(totals) - totals / 2
            return np.asarray(np.subtract.outer(middles, middles) ** 2)
        case "interval":
            assert values is not None
            return np.asarray(np.subtract.outer(values, values) ** 2)
        case "ratio":
            assert values is not None
            apart, sums = np.subtract.outer(values, values), np.add.outer(values, values)
            return np.divide(apart, sums, out=np.zeros_like(apart), where=sums > 0) ** 2
        case _:
            assert_never(level)


def within_items(counts: Floats, delta: Floats) -> Floats:
    """The difference of all ordered pairs of ratings of each item, over its ratings less one."""
    return np.asarray(((counts @ delta) * counts).sum(axis=1) / (counts.sum(axis=1) - 1))


def resampled(
    patterns: Patterns, weights: Floats, levels: Sequence[Level], values: Floats | None
) -> Mapping[Level, Floats]:
    """Alpha for each row of `weights` (resamples x patterns); NaN where all ratings are equal."""
    totals = weights @ patterns.counts
    n = totals.sum(axis=1)
    varies = np.count_nonzero(totals, axis=1) >= 2
    found: dict[Level, Floats] = {}
    for level in levels:
        if level == "ordinal":
            within, expected = _ordinal(patterns.counts, weights, totals)
        else:
            delta = differences(level, values, totals[0])
            within = weights @ within_items(patterns.counts, delta)
            expected = ((totals @ delta) * totals).sum(axis=1)
        disagreement = np.full(len(n), np.nan)
        np.divide((n - 1) * within, expected, out=disagreement, where=varies)
        found[level] = 1 - disagreement
    return found


def _ordinal(counts: Floats, weights: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Within and expected differences, which follow the totals of each resample.

    The sum of (a - b)² over ordered pairs of m numbers is 2 (m sum a² - (sum a)²), so that no pair
    of labels is looked at. Middle ranks are counted from their mean, so that they sum to 0.
    """
    n = totals.sum(axis=1, keepdims=True)
    middles = np.cumsum(totals, axis=1) - totals / 2 - n / 2
    ratings = counts.sum(axis=1, keepdims=True)
    squares = ((weights @ (counts * ratings / (ratings - 1))) * middles**2).sum(axis=1)
    sums = middles @ counts.T
    within = 2 * (squares - (weights * sums**2) @ (1 / (ratings[:, 0] - 1)))
    return within, 2 * n[:, 0] * (totals * middles**2).sum(axis=1)
