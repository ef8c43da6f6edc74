"""The stored ablations of a board with the submissions that a reader sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leaderboard.models import Ranking
    from leaderboard.standings import Standings


def of(standings: Standings, ranking: Ranking | None) -> list[dict[str, Any]]:
    """Each whole method with its variants and interactions; none while the ranking is of other entries."""
    seen = {
        str(each.evaluation.submission_id): each.evaluation.submission
        for each in standings.ranked
        if each.place
    }
    return [
        {
            "whole": seen[each["submission"]],
            "variants": [
                row | {"submission": seen[row["submission"]]}
                for row in each["variants"]
                if row["submission"] in seen
            ],
            "interactions": each["interactions"],
        }
        for each in (ranking.ablations if ranking else [])
        if each["submission"] in seen
    ]
