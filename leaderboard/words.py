"""Which words two texts share, as ROUGE-1 counts them, and where they stand in the texts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medbench.scoring.rouge import Profile, tokenise

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Piece:
    """A stretch of a text that is a shared word, or lies between them."""

    text: str
    is_shared: bool


@dataclass(frozen=True)
class Comparison:
    """Two normalised texts side by side. A word that stands twice in one and once in the other is
    shared once, so `n_shared` over a text's number of words is its ROUGE-1 recall or precision."""

    reference: list[Piece]
    output: list[Piece]
    n_shared: int
    n_reference: int
    n_output: int


def compare(reference: str, output: str, profile: Profile) -> Comparison:
    """Mark the shared words of two normalised texts."""
    words, others = Counter(tokenise(reference, profile)), Counter(tokenise(output, profile))
    shared = words & others
    return Comparison(
        list(_pieces(reference, shared, profile)),
        list(_pieces(output, shared, profile)),
        shared.total(),
        words.total(),
        others.total(),
    )


def _pieces(text: str, shared: Counter[str], profile: Profile) -> Iterator[Piece]:
    left = Counter(shared)
    at = 0
    for word, start, end in _places(text, profile):
        if not left[word]:
            continue
        left[word] -= 1
        if at < start:
            yield Piece(text[at:start], is_shared=False)
        yield Piece(text[start:end], is_shared=True)
        at = end
    if at < len(text):
        yield Piece(text[at:], is_shared=False)


def _places(text: str, profile: Profile) -> Iterator[tuple[str, int, int]]:
    """Each word with the code points where it starts and ends. Words are found one after the other
    in the lower-case text, whose characters remember where they come from: lower case may be longer."""
    lowered = [(small, i) for i, letter in enumerate(text) for small in letter.lower()]
    letters, origins = "".join(small for small, _ in lowered), [i for _, i in lowered]
    at = 0
    for word in tokenise(text, profile):
        found = letters.find(word, at)
        if found < 0:  # a stem, or case folding beyond lower case: not marked
            continue
        at = found + len(word)
        yield word, origins[found], origins[at - 1] + 1
