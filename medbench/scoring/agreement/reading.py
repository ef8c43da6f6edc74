"""Coefficients in words. The words belong to their authors' thresholds and are named with them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medbench.scoring.intervals import Interval


def krippendorff(alpha: float | None) -> str | None:
    """Krippendorff 2004, Content Analysis, section 11.4: from .800 reliable, from .667 tentative."""
    if alpha is None:
        return None
    return "reliable" if alpha >= 0.8 else "tentative" if alpha >= 0.667 else "unreliable"


def koo_li(icc: float | None) -> str | None:
    """Koo & Li 2016, Journal of Chiropractic Medicine 15:155-163: below .5, .75, .9, and above."""
    if icc is None:
        return None
    return "poor" if icc < 0.5 else "moderate" if icc < 0.75 else "good" if icc <= 0.9 else "excellent"


def more_items(n_items: int, ci: Interval, half_width: float) -> int:
    """About how many more items bring the interval to +- `half_width`: widths shrink with root n."""
    now = (ci[1] - ci[0]) / 2
    return max(0, math.ceil(n_items * (now / half_width) ** 2) - n_items)
