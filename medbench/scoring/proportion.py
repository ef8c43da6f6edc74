"""Shares of a count: Wilson's interval, and percentages as people round them."""

from __future__ import annotations

import math

from medbench.scoring.estimate import Estimate

Z = 1.959963984540054  # of the 95 % interval
NOTHING_COUNTED = "nothing_counted"


def wilson(hits: int, n: int) -> Estimate:
    """The share hits / n with its 95 % interval (Wilson 1927, JASA 22:209-212). n = 0: `nothing_counted`."""
    if n == 0:
        return Estimate(None, reason=NOTHING_COUNTED)
    share, z2 = hits / n, Z * Z
    centre = (hits + z2 / 2) / (n + z2)
    half = Z / (n + z2) * math.sqrt(n * share * (1 - share) + z2 / 4)
    return Estimate(share, (max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share))))


def percent(hits: int, n: int) -> float:
    """The share hits / n in percent with one decimal, a half rounded up: a column may not add up to 100."""
    return (2_000 * hits + n) // (2 * n) / 10
