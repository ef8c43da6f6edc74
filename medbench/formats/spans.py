"""Where in a report an evidence stands. Offsets count code points of the raw report text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

CRLF = "\r\n"
_WORD = re.compile(r"\S+")
_BARE = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Span:
    """`report_text[start:end]` is `quote`."""

    start: int
    end: int
    quote: str


def find_span(report_text: str, evidence: str) -> Span | None:
    """The first place where `evidence` stands in the report: as it is, else with white space folded.

    Folded: every run of white space counts as one space, at both ends as nothing. None where the
    evidence is blank or not there.
    """
    if not evidence.strip():
        return None
    start = report_text.find(evidence)
    if start >= 0:
        return Span(start, start + len(evidence), evidence)
    wanted = " ".join(evidence.split())
    report = _fold(report_text)
    folded = report.text.find(wanted)
    if folded < 0:
        return None
    return _span(report_text, report.raw(folded), report.raw(folded + len(wanted) - 1) + 1)


def from_shown(report_text: str, start: int, end: int, quote: str) -> Span | None:
    """The span that a browser means by code points `start` to `end` of the text as it shows it, where
    every line end is one. None where what stands there is not `quote`."""
    shown = [raw - i for i, raw in enumerate(_line_ends(report_text))]  # where the browser has them
    span = Span(start + bisect_left(shown, start), end + bisect_left(shown, end), "")
    found = report_text[span.start : span.end]
    if not 0 <= start < end or found.replace(CRLF, "\n").replace("\r", "\n") != quote:
        return None
    return Span(span.start, span.end, found)


def as_shown(report_text: str, offset: int) -> int:
    """The offset of a code point as a browser counts it, with every line end as one."""
    return offset - bisect_left(_line_ends(report_text), offset)


def _line_ends(text: str) -> list[int]:
    """Where the line ends of two characters begin."""
    return [found.start() for found in re.finditer(CRLF, text)]


def nearest_passage(report_text: str, evidence: str) -> Span | None:
    """The passage of as many words as `evidence` that shares most words with it, for a warning.

    None where no word is shared. Words are compared without case and punctuation.
    """
    wanted = Counter(_bare(word) for word in evidence.split())
    del wanted[""]
    words = list(_WORD.finditer(report_text))
    length = min(wanted.total(), len(words))
    bare = [_bare(word.group()) for word in words]
    inside: Counter[str] = Counter()
    best = shared = best_end = 0
    for end, word in enumerate(bare, 1):
        inside[word] += 1
        shared += inside[word] <= wanted[word]
        if end > length:
            left = bare[end - length - 1]
            shared -= inside[left] <= wanted[left]
            inside[left] -= 1
        if shared > best:
            best, best_end = shared, end
    if not best:
        return None
    first = max(best_end - length, 0)
    return _span(report_text, words[first].start(), words[best_end - 1].end())


@dataclass(frozen=True, slots=True)
class _Folded:
    """A text with single spaces, and where its words begin in both texts."""

    text: str
    folded_starts: list[int]
    raw_starts: list[int]

    def raw(self, folded: int) -> int:
        """The raw offset of a folded offset that is not at a space."""
        i = bisect_right(self.folded_starts, folded) - 1
        return self.raw_starts[i] + folded - self.folded_starts[i]


@lru_cache(maxsize=4)  # the triplets of a case ask for one report in turn
def _fold(report_text: str) -> _Folded:
    words, folded_starts, raw_starts, at = [], [], [], 0
    for match in _WORD.finditer(report_text):
        words.append(match.group())
        raw_starts.append(match.start())
        folded_starts.append(at)
        at += len(words[-1]) + 1
    return _Folded(" ".join(words), folded_starts, raw_starts)


def _span(text: str, start: int, end: int) -> Span:
    return Span(start, end, text[start:end])


def _bare(word: str) -> str:
    return "".join(_BARE.findall(word.casefold()))
