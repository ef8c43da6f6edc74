"""What the entries of a board cost per case, and F1 against it as a drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from medbench.scoring.costs import FIELDS, Point, cost_plot

if TYPE_CHECKING:
    from leaderboard.standings import Standing

WIDTH, HEIGHT = 640.0, 280.0
LEFT, BOTTOM, MARGIN = 56.0, 36.0, 16.0
COST = "api_calls"  # what the drawing shows: known for most, and no matter of the machine


@dataclass(frozen=True)
class Cost:
    """An entry with the mean of each kind of usage over the cases that report it, None for none."""

    standing: Standing
    means: list[tuple[float | None, int]]  # in the order of FIELDS, with the number of cases


@dataclass(frozen=True)
class Dot:
    """A point of the drawing; `is_left` = its name stands left of it."""

    point: Point
    x: float
    y: float
    is_left: bool


@dataclass(frozen=True)
class Plot:
    """The dots with the ticks of both axes, (label, place)."""

    dots: list[Dot]
    costs: list[tuple[str, float]]
    scores: list[tuple[str, float]]


def of(ranked: list[Standing]) -> list[Cost]:
    """Each ranked entry with its costs; those that report none come last."""
    found = [Cost(each, [_mean(each, field) for field in FIELDS]) for each in ranked]
    return sorted(found, key=lambda each: all(mean is None for mean, _ in each.means))


def plot(ranked: list[Standing]) -> Plot | None:
    """F1 against calls per case; None where fewer than two entries report them."""
    points = cost_plot(
        [
            (each.evaluation.submission.method, _mean(each, COST)[0], each.evaluation.f1)
            for each in ranked
            if each.evaluation.f1 is not None
        ]
    )
    if len(points) < 2:
        return None
    most = max(point.cost for point in points) or 1.0
    dots = [Dot(point, *_at(point, most), is_left=point.cost > most / 2) for point in points]
    return Plot(
        dots,
        costs=[(f"{most * share:,.3g}", _x(share)) for share in (0, 0.5, 1)],
        scores=[(f"{share:.2f}", _y(share)) for share in (0, 0.25, 0.5, 0.75, 1)],
    )


def _mean(standing: Standing, field: str) -> tuple[float | None, int]:
    usage = standing.evaluation.submission.usage or {}
    total, n_cases = usage.get(field), (usage.get("cases") or {}).get(field, 0)
    return (None if total is None or not n_cases else total / n_cases), n_cases


def _at(point: Point, most: float) -> tuple[float, float]:
    return _x(point.cost / most), _y(point.f1)


def _x(share: float) -> float:
    return round(LEFT + share * (WIDTH - LEFT - MARGIN), 1)


def _y(share: float) -> float:
    return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - MARGIN), 1)
