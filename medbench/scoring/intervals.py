"""How far a score could be off by the choice of cases: percentile bootstrap over cases.

All submissions of a board share one matrix of resample counts (D9), so that they are compared on
the same resamples. Judge noise and the sampling of a system are not in these intervals.
Source: metrics_spec section 5.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESAMPLES = 10_000
MOST_RESAMPLES = 100_000  # more would only cost memory
LEVEL = 0.95
FEWEST_CASES = 10
TOO_FEW_CASES = "too_few_cases"
CHUNK = 5_000_000  # drawn at a time, to bound memory

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Intervals:
    """95 % intervals (low, high), or None all three and the reason why there are none."""

    recall: Interval | None
    precision: Interval | None
    f1: Interval | None
    reason: str = ""


def seed_of(*parts: object) -> int:
    """A seed from what the resamples belong to: benchmark version, evaluator profile, resamples.

    The same parts give the same seed everywhere; it fits into 31 bits.
    """
    text = json.dumps([str(part) for part in parts])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1


def resample_counts(n_cases: int, *, seed: int, resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """How often each case is drawn in each resample: resamples x cases, rows sum to `n_cases`."""
    generator = np.random.default_rng(seed)
    counts = np.empty((resamples, n_cases))
    step = max(CHUNK // n_cases, 1)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = generator.integers(0, n_cases, (rows, n_cases)) + np.arange(rows)[:, None] * n_cases
        counts[start : start + rows] = np.bincount(drawn.ravel(), minlength=rows * n_cases).reshape(rows, -1)
    return counts


def f1_of_means(recall: NDArray[np.float64], precision: NDArray[np.float64]) -> NDArray[np.float64]:
    """The headline F1 of each pair of means, 0 where both are 0."""
    both = recall + precision
    return np.divide(2 * recall * precision, both, out=np.zeros_like(both), where=both > 0)


def bootstrap(recall: Sequence[float], precision: Sequence[float], counts: NDArray[np.float64]) -> Intervals:
    """Intervals of the means of per-case recall and precision and of their F1.

    `counts` are `resample_counts` of as many cases. Fewer than 10 cases: none, `too_few_cases`.
    """
    n_cases = len(recall)
    if n_cases < FEWEST_CASES:
        return Intervals(None, None, None, TOO_FEW_CASES)
    means = (counts @ np.array([recall, precision], dtype=float).T / n_cases).clip(0, 1)
    recalls, precisions = means[:, 0], means[:, 1]
    return Intervals(
        percentiles(recalls), percentiles(precisions), percentiles(f1_of_means(recalls, precisions))
    )


def mean_interval(values: Sequence[float], counts: NDArray[np.float64]) -> Interval | None:
    """The interval of the mean of one number per case, of any sign or scale; None for fewer than 10."""
    if len(values) < FEWEST_CASES:
        return None
    return percentiles(counts @ np.asarray(values, dtype=float) / len(values))


def percentiles(values: NDArray[np.float64]) -> Interval:
    """The middle 95 % of resampled values, linear between neighbours."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(values, [tail, 1 - tail]).tolist()
    return low, high
