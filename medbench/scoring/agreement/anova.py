"""The six intraclass correlations of a complete table, from mean squares.

Source: McGraw & Wong 1996, Psychological Methods 1:30-46, tables 4 and 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from medbench.scoring.estimate import UNSTABLE, Estimate
from medbench.scoring.intervals import LEVEL, Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNDEFINED_INTERVAL = "undefined_interval"
ROUNDING = 1e-18  # a sum of squares below this share of the total is 0


@dataclass(frozen=True, slots=True)
class MeanSquares:
    """The two-way table of `n` items x `k` raters: MSR, MSC, MSE, MSW."""

    n: int
    k: int
    items: float
    raters: float
    error: float
    within: float

    @classmethod
    def of(cls, ratings: NDArray[np.float64]) -> MeanSquares:
        n, k = ratings.shape
        ratings = ratings - ratings.mean()
        rows, columns = ratings.mean(axis=1), ratings.mean(axis=0)
        least = ROUNDING * np.sum(ratings**2)
        sums = (
            k * np.sum(rows**2),
            n * np.sum(columns**2),
            np.sum((ratings - rows[:, None] - columns) ** 2),
        )
        items, raters, error = (float(each) if each > least else 0.0 for each in sums)
        return cls(
            n,
            k,
            items / (n - 1),
            raters / (k - 1),
            error / ((n - 1) * (k - 1)),
            (raters + error) / (n * (k - 1)),
        )


def spearman_brown(single: float, k: int) -> float | None:
    """The reliability of the mean of k ratings from that of one; None where that has no meaning."""
    below = 1 + (k - 1) * single
    return k * single / below if below > 0 else None


def interval_of_mean(single: Interval, k: int) -> Interval | None:
    """The interval for the mean of k ratings from that for one."""
    low, high = (spearman_brown(end, k) for end in single)
    return None if low is None or high is None else (low, high)


def one_way(of: MeanSquares) -> tuple[Estimate, Estimate]:
    """ICC(1) and ICC(k)."""
    return _ratio_forms(of, of.within, of.n * (of.k - 1))


def consistency(of: MeanSquares) -> tuple[Estimate, Estimate]:
    """ICC(C,1) and ICC(C,k)."""
    return _ratio_forms(of, of.error, (of.n - 1) * (of.k - 1))


def agreement(of: MeanSquares) -> tuple[Estimate, Estimate]:
    """ICC(A,1) and ICC(A,k), where there is error; no value outside of [-1, 1] is told.

    The interval of ICC(A,k) is Spearman-Brown of that of ICC(A,1): both take the degrees of freedom
    from ICC(A,1).
    """
    n, k = of.n, of.k
    apart = of.items - of.error
    below = of.items + (k - 1) * of.error + k / n * (of.raters - of.error)
    if below <= 0:  # two items and two raters who say the opposite of each other
        return Estimate(None, reason=UNSTABLE), Estimate(None, reason=UNSTABLE)
    single = apart / below
    ci = _agreement_interval(of, single)
    reason = None if ci else UNDEFINED_INTERVAL
    below = of.items + (of.raters - of.error) / n
    mean = apart / below if below else np.inf
    if abs(single) > 1 or abs(mean) > 1:
        alone = Estimate(None, reason=UNSTABLE) if abs(single) > 1 else Estimate(single, ci, reason)
        return alone, Estimate(None, reason=UNSTABLE)
    of_mean = None if ci is None else interval_of_mean(ci, k)
    return Estimate(single, ci, reason), Estimate(mean, of_mean, None if of_mean else UNDEFINED_INTERVAL)


def _ratio_forms(of: MeanSquares, error: float, df_error: int) -> tuple[Estimate, Estimate]:
    """One rating and the mean of k, which follow from F = items / error alone."""
    from scipy.special import fdtri

    if error == 0:
        perfect = Estimate(1.0, (1.0, 1.0)) if of.items else Estimate(None, reason=UNSTABLE)
        return perfect, perfect
    f, df_items, k = of.items / error, of.n - 1, of.k
    tail = (1 + LEVEL) / 2
    low_f = f / float(fdtri(df_items, df_error, tail))
    high_f = f * float(fdtri(df_error, df_items, tail))
    single, low, high = ((each - 1) / (each + k - 1) for each in (f, low_f, high_f))
    if f == 0:
        return Estimate(single, (low, high)), Estimate(None, reason=UNSTABLE)
    return Estimate(single, (low, high)), Estimate(1 - 1 / f, (1 - 1 / low_f, 1 - 1 / high_f))


def _agreement_interval(of: MeanSquares, single: float) -> Interval | None:
    from scipy.special import fdtri

    n, k = of.n, of.k
    a = k * single / (n * (1 - single))
    b = 1 + k * single * (n - 1) / (n * (1 - single))
    raters, error = a * of.raters, b * of.error
    spread = raters**2 / (k - 1) + error**2 / ((n - 1) * (k - 1))
    if spread == 0:
        return None
    df = (raters + error) ** 2 / spread
    tail = (1 + LEVEL) / 2
    low_f, high_f = float(fdtri(n - 1, df, tail)), float(fdtri(df, n - 1, tail))
    others = k * of.raters + (k * n - k - n) * of.error
    low = n * (of.items - low_f * of.error) / (low_f * others + n * of.items)
    high = n * (high_f * of.items - of.error) / (others + n * high_f * of.items)
    return (low, high) if np.isfinite(low) and np.isfinite(high) else None
