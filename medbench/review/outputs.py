"""What the review item of a generated output says beside what is judged: which method made it and how
it was scored automatically. Whoever makes such items (leaderboard) hides both from their judges;
whoever compares people with machines (annotation) reads them here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

METHOD = "method"  # its name, with its backbone
AUTOMATED = "automated"  # metric -> score of the method's outputs for the case, 0 to 1
METRICS = ("recall", "precision", "f1", "novelty")
HIDDEN = (METHOD, AUTOMATED)  # for `ReviewItem.hides`


def method_of(payload: Mapping[str, Any]) -> str:
    """The method whose output the item is; "" where it is none's."""
    return str(payload.get(METHOD, ""))


def automated_of(payload: Mapping[str, Any], metric: str) -> float | None:
    """An automated score, None where there is none."""
    value = payload.get(AUTOMATED, {}).get(metric)
    return None if value is None else float(value)
