"""Passages marked in text: evidence in a report, found words in a list. Offsets are code points."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Span:
    """The passage of triplet `number`: code points `start` to `end`, end exclusive. A passage that
    is only near to the evidence is not marked before somebody asks for it."""

    number: int
    start: int
    end: int
    near: bool = False


@dataclass(frozen=True)
class Segment:
    """A piece of text and the triplets whose passages cover it; `begins` those that start here."""

    text: str
    numbers: tuple[int, ...] = ()
    begins: tuple[int, ...] = ()
    near: tuple[int, ...] = ()


def segments(text: str, spans: Iterable[Span]) -> list[Segment]:
    """The text cut at every border of a passage. Overlapping passages share their pieces."""
    inside = sorted((s for s in spans if 0 <= s.start < s.end <= len(text)), key=lambda s: s.number)
    cuts = sorted({0, len(text)} | {s.start for s in inside} | {s.end for s in inside})
    return [_segment(text, start, end, inside) for start, end in pairwise(cuts)]


def _segment(text: str, start: int, end: int, spans: list[Span]) -> Segment:
    covering = [s for s in spans if s.start <= start and end <= s.end]
    return Segment(
        text[start:end],
        tuple(s.number for s in covering if not s.near),
        tuple(s.number for s in covering if s.start == start),
        tuple(s.number for s in covering if s.near),
    )


BEFORE, AFTER = 25, 90  # characters shown on either side of a found word


def excerpt(text: str, terms: Iterable[str]) -> list[Segment]:
    """The surroundings of the first found word in one line, all found words marked with number 1.

    Empty where no word is found.
    """
    pattern = re.compile("|".join(re.escape(term) for term in terms), re.IGNORECASE)
    first = pattern.search(text)
    if first is None:
        return []
    before = text[max(0, first.start() - BEFORE) : first.start()]
    after = text[first.end() : first.end() + AFTER]
    if first.start() > BEFORE:  # begin and end with whole words
        before = f"… {before.partition(' ')[2] or before}"
    if first.end() + AFTER < len(text):
        after = f"{after.rpartition(' ')[0] or after} …"
    shown = " ".join(f"{before}{first.group()}{after}".split())
    return segments(shown, [Span(1, *found.span()) for found in pattern.finditer(shown)])


def marked(text: str, terms: Iterable[str]) -> list[Segment]:
    """The whole text with every found word marked with number 1."""
    pattern = re.compile("|".join(re.escape(term) for term in terms), re.IGNORECASE)
    return segments(text, [Span(1, *found.span()) for found in pattern.finditer(text)])
