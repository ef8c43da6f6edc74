"""How to cite a board: everything that its numbers depend on, in one BibTeX entry."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

if TYPE_CHECKING:
    from leaderboard.models import Board, Ranking


def bibtex(board: Board, ranking: Ranking | None, url: str) -> str:
    """Release digest, profile hash, software version and the day on which the board was ranked."""
    day = (ranking.computed_at if ranking else timezone.now()).date()
    fields = {
        "title": f"{{{_plain(str(board))}}}",
        "year": f"{{{day.year}}}",
        "howpublished": f"{{\\url{{{url}}}}}",
        "note": f"{{Release digest {board.release.digest}; evaluator profile {board.profile.sha256}; "
        f"MedBench {settings.VERSION}; ranked {day}}}",
    }
    lines = ",\n".join(f"  {name} = {value}" for name, value in fields.items())
    return f"@misc{{medbench-{board.pk.hex[:8]},\n{lines}\n}}\n"


def _plain(text: str) -> str:
    """Without what BibTeX reads as its own."""
    return re.sub(r"([&%$#_])", r"\\\1", re.sub(r"[{}\\]", "", text))
