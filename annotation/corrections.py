"""Other words that an annotator proposes for a text of the item, as tracked changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from medbench.review.models import ReviewItem

if TYPE_CHECKING:
    from collections.abc import Mapping

_CORRECTABLE = {ReviewItem.Kind.TRIPLET: ("question", "insight", "evidence")}
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


class Piece(NamedTuple):
    """A stretch of text: `kind` is "same", "del" (only as it stands) or "ins" (only as proposed)."""

    kind: str
    text: str


@dataclass(frozen=True)
class Correction:
    """A text of the item beside what it should say; where nothing is proposed, both are equal."""

    name: str
    standing: str
    proposed: str

    @property
    def is_change(self) -> bool:
        return self.proposed != self.standing

    @property
    def pieces(self) -> list[Piece]:
        return tracked(self.standing, self.proposed)


def texts_of(item: ReviewItem) -> dict[str, str]:
    """The texts of an item that can be corrected, by the name of their field."""
    names = _CORRECTABLE.get(ReviewItem.Kind(item.kind), ())
    return {name: lines(item.payload[name] or "") for name in names if name not in item.hides}


def corrections_of(item: ReviewItem, proposed: Mapping[str, str]) -> list[Correction]:
    """Every text that can be corrected, with what is proposed for it."""
    return [Correction(name, text, proposed.get(name) or text) for name, text in texts_of(item).items()]


def tracked(old: str, new: str) -> list[Piece]:
    """What was kept, removed and added, word by word. The pieces that are not "ins" are the old text,
    those that are not "del" the new one. static/js/workbench/corrections.js shows it while one types."""
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    pieces = []
    for step, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if step == "equal":
            pieces.append(Piece("same", "".join(before[i:j])))
        else:
            pieces += [Piece("del", "".join(before[i:j])), Piece("ins", "".join(after[k:m]))]
    return [piece for piece in pieces if piece.text]


def lines(text: str) -> str:
    """A text as the browser has it: a line break is one character."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
