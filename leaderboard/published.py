"""What the authors of MedInsightBench printed, digit by digit, with what does not fit together in it.

Only what we could read is here: a cell that is not stays empty and is named in `not_available`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leaderboard.models import EvaluatorProfile

FILE = Path(__file__).parent / "data" / "published.json"


@cache
def everything() -> dict[str, Any]:
    """The whole file."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def rows(profile: EvaluatorProfile) -> list[dict[str, Any]]:
    """The printed rows under the same kind of metric, highest F1 first."""
    found: list[dict[str, Any]] = everything()["rows"].get(profile.metric, [])
    return found


def with_footnotes(shown: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows with the numbers of their notes as `marks`, and the notes in that order."""
    keys = list(dict.fromkeys(key for row in shown for key in row.get("notes", ())))
    marked = [row | {"marks": [keys.index(key) + 1 for key in row.get("notes", ())]} for row in shown]
    return marked, [everything()["notes"][key] for key in keys]
