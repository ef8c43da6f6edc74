"""Which rows and columns of a board are shown: all of it in the address, so that a link keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard.models import Submission

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import QueryDict

    from leaderboard.models import Evaluation

SOURCES = (("verified", "Verified by a curator"), ("reported", "Self-reported"))
BESIDE = (("published", "Published rows"), ("floors", "Floors"), ("none", "Neither"))


@dataclass(frozen=True)
class Filters:
    """Empty stands for all of a kind; an unknown value is as good as none."""

    kind: str = ""
    backbone: str = ""
    source: str = ""
    beside: str = ""  # what is shown below the entries: both, one, neither
    hidden: frozenset[str] = frozenset()  # columns

    @property
    def with_published(self) -> bool:
        """Whether the printed rows are shown: of one kind too, of one backbone or source they are not."""
        return self.beside in ("", "published") and not (self.backbone or self.source)

    @property
    def with_floors(self) -> bool:
        """Whether the floors are shown; they are of no kind."""
        return self.beside in ("", "floors") and not (self.kind or self.backbone or self.source)

    def keep(self, submission: Submission) -> bool:
        """Whether a row passes."""
        return (
            self.kind in ("", submission.kind)
            and self.backbone in ("", submission.backbone)
            and self.source in ("", "verified" if submission.verified_at else "reported")
        )


def asked(query: QueryDict, columns: Iterable[str]) -> Filters:
    """The filters that an address asks for."""
    shown = frozenset(query.getlist("column"))
    return Filters(
        kind=_one_of(query.get("kind", ""), Submission.Kind.values),
        backbone=query.get("backbone", ""),
        source=_one_of(query.get("source", ""), [key for key, _ in SOURCES]),
        beside=_one_of(query.get("beside", ""), [key for key, _ in BESIDE]),
        hidden=frozenset(columns) - shown if shown else frozenset(),
    )


def backbones(entries: Iterable[Evaluation]) -> list[str]:
    """The choices of the filter, of all entries."""
    return sorted({each.submission.backbone for each in entries} - {""}, key=str.casefold)


def _one_of(value: str, choices: Iterable[str]) -> str:
    return value if value in choices else ""
