"""What a method costs for each case, and what a score more costs. Source: metrics_spec section 8.

What was not reported is missing, never 0: each mean says how many cases it covers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

FIELDS = ("api_calls", "input_tokens", "output_tokens", "seconds")


class Mean(NamedTuple):
    """A mean over the cases that reported it; None where none did."""

    value: float | None
    n_cases: int


@dataclass(frozen=True, slots=True)
class Costs:
    """The means per case of a submission."""

    api_calls: Mean
    input_tokens: Mean
    output_tokens: Mean
    seconds: Mean


class Point(NamedTuple):
    """One method in the plot of F1 against a cost."""

    name: str
    cost: float
    f1: float
    is_best_for_its_cost: bool  # nobody is as cheap and better, or as good and cheaper


def costs(usages: Collection[Mapping[str, float | None]]) -> Costs:
    """The costs of a submission from the usage of each of its cases; keys are FIELDS."""
    return Costs(**{field: _mean([usage.get(field) for usage in usages]) for field in FIELDS})


def ratio(value: float | None, reference: float | None) -> float | None:
    """How many times the reference; None where either is missing or the reference is 0."""
    if value is None or not reference:
        return None
    return value / reference


def gain(value: float | None, reference: float | None) -> float | None:
    """By which share of the reference it is more: 0.035 is 3.5 %."""
    times = ratio(value, reference)
    return None if times is None else times - 1


def cost_plot(methods: Sequence[tuple[str, float | None, float]]) -> list[Point]:
    """The points of (name, cost, F1), cheapest first; a method without the cost has none."""
    known = [(name, cost, f1) for name, cost, f1 in methods if cost is not None]
    return [
        Point(name, cost, f1, not any(_beats(other, (cost, f1)) for _, *other in known))
        for name, cost, f1 in sorted(known, key=lambda point: (point[1], -point[2]))
    ]


def _beats(other: Sequence[float], point: tuple[float, float]) -> bool:
    cost, f1 = other
    return cost <= point[0] and f1 >= point[1] and (cost, f1) != point


def _mean(values: Sequence[float | None]) -> Mean:
    known = [value for value in values if value is not None]
    return Mean(math.fsum(known) / len(known) if known else None, len(known))
