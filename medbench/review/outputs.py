"""What the review item of a generated output says beside what is judged: which system made it and how
it was scored automatically. Whoever makes such items (leaderboard) hides both from their judges;
whoever compares people with machines (annotation) reads them here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SYSTEM = "system"  # name of the method with its backbone
AUTOMATED = "automated"  # metric -> score of the system's outputs for the case, 0 to 1
METRICS = ("recall", "precision", "f1", "novelty")
HIDDEN = (SYSTEM, AUTOMATED)  # for `ReviewItem.hides`


def system_of(payload: Mapping[str, Any]) -> str:
    """The system whose output the item is; "" where it is none's."""
    return str(payload.get(SYSTEM, ""))


def automated_of(payload: Mapping[str, Any], metric: str) -> float | None:
    """An automated score, None where there is none."""
    value = payload.get(AUTOMATED, {}).get(metric)
    return None if value is None else float(value)
