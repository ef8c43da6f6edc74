"""From verdicts to scores. Counts are kept; rates are exact fractions until they are shown.

StrictPass and ExecSuccess of a scope: tasks met / tasks of that scope in the suite. Overall: the
unweighted mean of the four scope rates; none where a scope has no task. Source: ClinLens, Table 1,
and design, section 4.8.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

RESAMPLES = 10_000
SEED = 20_260_731
LEVEL = 0.95
DIGITS = 6  # of a rate in a results file

Counts = tuple[int, int]  # tasks met, tasks
Interval = tuple[float, float]


def macro(counts: Sequence[Counts]) -> Fraction | None:
    """The mean of the rates of the scopes; None where one has no tasks."""
    if not counts or any(n == 0 for _, n in counts):
        return None
    return sum((Fraction(met, n) for met, n in counts), Fraction()) / len(counts)


def micro(counts: Sequence[Counts]) -> Fraction | None:
    """All tasks met / all tasks; stored beside the macro score and never ranked."""
    n_tasks = sum(n for _, n in counts)
    return Fraction(sum(met for met, _ in counts), n_tasks) if n_tasks else None


def rounded(value: Fraction, digits: int = DIGITS) -> str:
    """A fraction as decimal text, halves rounded up: the only rounding there is."""
    scaled = math.floor(value * 10**digits + Fraction(1, 2))
    return str(Decimal(scaled).scaleb(-digits).quantize(Decimal(1).scaleb(-digits)))


def wilson(met: int, n: int) -> Interval | None:
    """Wilson's 95 % interval of a rate; None without tasks."""
    if n == 0:
        return None
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    rate, spread = met / n, z * math.sqrt(met / n * (1 - met / n) / n + z * z / (4 * n * n))
    middle, scale = rate + z * z / (2 * n), 1 + z * z / n
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def macro_interval(counts: Sequence[Counts]) -> Interval | None:
    """The percentile bootstrap of the macro score over tasks within scope, with a fixed seed.

    Drawing n tasks of which k were met, with replacement, meets Binomial(n, k / n) of them.
    """
    if macro(counts) is None:
        return None
    generator = np.random.default_rng(SEED)
    draws = [generator.binomial(n, met / n, RESAMPLES) / n for met, n in counts]
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(np.mean(draws, axis=0), [tail, 1 - tail]).tolist()
    return low, high
