"""Intervals as small drawings: one axis for all rows of a table, positions in drawing units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leaderboard.models import Evaluation, Floor

WIDTH = 160.0
MARGIN = 6.0  # so that a dot at the end of the axis is drawn whole
STEP = 0.05  # the axis ends at multiples of this


@dataclass(frozen=True)
class Bar:
    """One row: a dot for the value and a line for its interval, as x in drawing units."""

    dot: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Axis:
    """The scores from `low` to `high` laid out over WIDTH."""

    low: float
    high: float

    def x(self, score: float) -> float:
        """Where `score` lies, in drawing units."""
        share = (score - self.low) / (self.high - self.low)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    def bar(self, row: Evaluation | Floor) -> Bar | None:
        """The drawing of the F1 of one row; None while it has none."""
        if row.f1 is None:
            return None
        low, high = row.ci["f1"] if row.ci else (None, None)
        return Bar(
            self.x(row.f1), low if low is None else self.x(low), high if high is None else self.x(high)
        )


def axis_of(rows: Iterable[Evaluation | Floor]) -> Axis:
    """The narrowest axis that holds every F1 and interval of `rows`, ending at round numbers."""
    scores = [
        score for row in rows if row.f1 is not None for score in (row.f1, *(row.ci or {}).get("f1", ()))
    ]
    low = math.floor(min(scores, default=0.0) / STEP) * STEP
    high = math.ceil(max(scores, default=1.0) / STEP) * STEP
    return Axis(round(low, 2), round(max(high, low + STEP), 2))
