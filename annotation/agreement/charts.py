"""Values with their intervals, drawn: a bar for a table row, and all questions as one SVG file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.template.loader import render_to_string

from annotation.agreement import coefficients

if TYPE_CHECKING:
    from annotation.models import Agreement

WIDTH = 160.0
MARGIN = 12.0  # room for a dot at the end of the axis, and for the arrow before 0
THRESHOLDS = (0.667, 0.8)  # Krippendorff's
ROW = 28  # of the file, in px
LEFT = 360  # room for its words
AXIS = 400.0


@dataclass(frozen=True)
class Bar:
    """A dot for the value and a line for its interval, as x in drawing units. What lies below 0 is
    drawn at the left end, with `is_below`."""

    dot: float
    low: float | None
    high: float | None
    is_below: bool
    thresholds: tuple[float, ...]


def bar_of(value: float | None, ci: tuple[float, float] | None, *, width: float = WIDTH) -> Bar | None:
    """The drawing of a coefficient on an axis from 0 to 1; None where there is no value."""
    if value is None:
        return None
    low, high = (x_of(end, width) for end in ci) if ci else (None, None)
    return Bar(
        x_of(value, width),
        low,
        high,
        is_below=min(value, *(ci or (value,))) < 0,
        thresholds=tuple(x_of(each, width) for each in THRESHOLDS),
    )


def x_of(value: float, width: float = WIDTH) -> float:
    """Where a value lies on an axis from 0 to 1."""
    return round(MARGIN + min(max(value, 0.0), 1.0) * (width - 2 * MARGIN), 1)


def svg_of(agreement: Agreement) -> str:
    """All questions of a study with the coefficients that fit them, as a file for a paper."""
    rows = [
        (result["title"] if first else "", coefficient, bar_of(coefficient.value, coefficient.ci, width=AXIS))
        for result in (agreement.result or {})["questions"]
        for first, coefficient in _fitting(result)
    ]
    height = ROW * len(rows) + 3 * ROW
    context = {
        "agreement": agreement,
        "rows": [(ROW * (at + 1) + ROW / 2, *row) for at, row in enumerate(rows)],
        "ticks": [(x_of(tick, AXIS) + LEFT, tick) for tick in (0.0, *THRESHOLDS, 1.0)],
        "left": LEFT,
        "right": LEFT + AXIS,
        "top": ROW / 2,
        "foot": ROW * (len(rows) + 1),
        "width": LEFT + AXIS + 200,
        "height": height,
    }
    return render_to_string("annotation/agreement/chart.svg", context)


def _fitting(result: dict[str, object]) -> list[tuple[bool, coefficients.Coefficient]]:
    return [(at == 0, each) for at, each in enumerate(coefficients.fitting(result))]
