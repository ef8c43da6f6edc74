"""Is one submission better than another? Paired tests over the cases that both were scored on.

A *run* is the (recall, precision) of every case, cases x 2; what is compared is the F1 of the
means (D1). For a single number per case give it twice: the F1 of a mean with itself is the mean.
From 50 cases on the paired bootstrap answers, below them the swap permutation, which keeps its
error rate there; up to 12 cases it looks at every swap. Source: metrics_spec section 5, D10, D11.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np

from medbench.errors import InvalidInput
from medbench.scoring.intervals import (
    FEWEST_CASES,
    TOO_FEW_CASES,
    f1_of_means,
    percentiles,
    seed_of,
)
from medbench.scoring.matching import harmonic_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from medbench.scoring.intervals import Interval

BOOTSTRAP_FROM = 50  # cases
ENUMERATED = 12  # cases: 4,096 swaps
BLOCK = 100  # runs resampled at a time, to bound memory
ROUNDING = 1e-12  # differences this close are the same difference
Z_95 = 1.959963984540054

Method = Literal["paired_bootstrap", "swap_permutation", "swap_enumeration"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """First minus second. `interval` is None for fewer than 10 cases, with the `reason`."""

    difference: float
    interval: Interval | None
    p: float  # two-sided
    method: Method
    n_cases: int
    reason: str = ""


class Runs:
    """Runs on the same cases with their resamples: what boards, comparisons and ablations ask.

    `counts` are the `resample_counts` of the cases; permutations draw as many swaps as there are
    resamples, by `seed`. `scores` holds the headline F1 of each run, `resampled` the same in every
    resample, resamples x runs.
    """

    def __init__(self, runs: Sequence[ArrayLike], counts: NDArray[np.float64], *, seed: int = 0) -> None:
        self.runs = [as_run(run) for run in runs]
        if len({len(run) for run in self.runs}) > 1:
            raise InvalidInput("Only runs on the same cases can be compared.", code="different_cases")
        self.n_cases = len(self.runs[0])
        self.draws, self.seed = len(counts), seed
        self.scores = [_score(run) for run in self.runs]
        blocks = (np.hstack(self.runs[i : i + BLOCK]) for i in range(0, len(self.runs), BLOCK))
        self.resampled = np.hstack([_f1(counts @ block / self.n_cases) for block in blocks])

    @property
    def reason(self) -> str:
        """Why there are no intervals; "" where there are."""
        return TOO_FEW_CASES if self.n_cases < FEWEST_CASES else ""

    @property
    def method(self) -> Method:
        """The test for so many cases."""
        if self.n_cases >= BOOTSTRAP_FROM:
            return "paired_bootstrap"
        return "swap_permutation" if self.n_cases > ENUMERATED else "swap_enumeration"

    def interval(self, resampled: NDArray[np.float64]) -> Interval | None:
        """The interval of what was computed from `resampled`; None for too few cases."""
        return None if self.reason else percentiles(resampled)

    def compare(self, first: int, second: int) -> Comparison:
        """The first minus the second run, by index."""
        return Comparison(
            self.scores[first] - self.scores[second],
            self.interval(self.resampled[:, first] - self.resampled[:, second]),
            self.p(first, second),
            self.method,
            self.n_cases,
            self.reason,
        )

    def p(self, first: int, second: int) -> float:
        """Two-sided p of no difference, not corrected for the number of tests."""
        observed = self.scores[first] - self.scores[second]
        if self.method == "paired_bootstrap":
            strayed = self.resampled[:, first] - self.resampled[:, second] - observed
            return add_one_p(np.abs(strayed), abs(observed))
        swapped = self._swapped(first, second)
        if self.method == "swap_enumeration":  # all ways there are, the observed one among them
            return float((swapped >= abs(observed) - ROUNDING).mean())
        return add_one_p(swapped, abs(observed))

    def _swapped(self, first: int, second: int) -> NDArray[np.float64]:
        """How large the difference is where some cases change sides."""
        a, b = self.runs[first], self.runs[second]
        moved = self._swaps @ (b - a) / self.n_cases
        scores = _f1(np.hstack([a.mean(axis=0) + moved, b.mean(axis=0) - moved]))
        return np.abs(scores[:, 0] - scores[:, 1])

    @cached_property
    def _swaps(self) -> NDArray[np.float64]:
        """Which cases change sides, 0 or 1: all ways for a few cases, random ones for more."""
        if self.method == "swap_enumeration":
            return np.array(list(product((0.0, 1.0), repeat=self.n_cases)))
        rng = np.random.default_rng(seed_of("swaps", self.seed))
        return rng.integers(0, 2, (self.draws, self.n_cases)).astype(float)


def compare(first: ArrayLike, second: ArrayLike, counts: NDArray[np.float64], *, seed: int = 0) -> Comparison:
    """Compare two runs on the same cases, see `Runs`."""
    return Runs([first, second], counts, seed=seed).compare(0, 1)


def as_run(run: ArrayLike) -> NDArray[np.float64]:
    """(recall, precision) of each case as floats, cases x 2. Raises InvalidInput for another shape,
    for no case, and for what is not a number: what is unscored is not compared."""
    values = np.asarray(run, dtype=float)
    if values.ndim != 2 or values.shape[1] != 2 or not len(values) or not np.isfinite(values).all():
        raise InvalidInput("A run is a recall and a precision for every case.", code="bad_run")
    return values


def add_one_p(strayed: NDArray[np.float64], observed: float) -> float:
    """How often a drawn difference strays as far as the observed one (D10): never 0."""
    return (1 + int((strayed >= observed - ROUNDING).sum())) / (len(strayed) + 1)


def _score(run: NDArray[np.float64]) -> float:
    """The headline F1 of a run, to the last bit that of `matching.aggregate`."""
    recall, precision = (math.fsum(column) / len(run) for column in run.T.tolist())
    return harmonic_mean(recall, precision)


def _f1(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 from columns recall, precision, recall, precision ..."""
    return f1_of_means(means[:, 0::2], means[:, 1::2])


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p for a family of tests, step-down with running maximum, at most 1 (Holm 1979)."""
    adjusted = [0.0] * len(p)
    highest = 0.0
    for place, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        highest = max(highest, min((len(p) - place) * p[i], 1.0))
        adjusted[i] = highest
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """The false discovery rate at which each test would be called (Benjamini & Hochberg 1995).

    For a matrix of all pairs, where Holm could never reach 0.05 with 10,000 resamples.
    """
    adjusted = [0.0] * len(p)
    lowest = 1.0
    for place, i in reversed(list(enumerate(sorted(range(len(p)), key=p.__getitem__), 1))):
        lowest = min(lowest, p[i] * (len(p) / place))
        adjusted[i] = lowest
    return adjusted


def unpaired_z(difference: float, half_widths: tuple[float, float]) -> tuple[float, float]:
    """The z and two-sided p of two published scores of which only the 95 % half-widths are known.

    As if the systems had been scored on different cases, so it finds less than a paired test.
    """
    z = difference / math.hypot(*(width / Z_95 for width in half_widths))
    return z, math.erfc(abs(z) / math.sqrt(2))
