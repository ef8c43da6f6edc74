"""ROUGE-1 F-measure of every pair of a reference and an output.

A profile says what a word is. `parity-ascii` is rouge_score 0.1.2 as the field uses it (lower
case, runs outside of a-z and 0-9 separate, no stemming); `porter` the same with its stemmer;
`unicode` serves every language. Profiles are never mixed on a board.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nltk.stem.porter import PorterStemmer
    from numpy.typing import NDArray

Profile = Literal["parity-ascii", "unicode", "porter"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
DEFAULT_PROFILE: Profile = "parity-ascii"
_Feature = str | tuple[str, int]
STEMMED_FROM = 4  # characters: rouge_score leaves shorter words as they are

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_DECIMAL_WORD = re.compile(r"[a-z0-9]++(?:(?<=\d)\.\d[a-z0-9]*+)*+")  # _unicode_word in ASCII, fast
# Scripts without spaces between words: each of these characters is a word.
_OWN_WORD = (
    "\u3005\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)


def tokenise(text: str, profile: Profile = DEFAULT_PROFILE) -> list[str]:
    """The words of a text. `unicode` also applies NFKC; the others take the text as it is."""
    if profile == "unicode":
        text = unicodedata.normalize("NFKC", text).casefold()
        pattern = _DECIMAL_WORD if text.isascii() else _unicode_word()
        return pattern.findall(text)
    words = _ASCII_WORD.findall(text.lower())
    return words if profile == "parity-ascii" else [stem for word in words if (stem := _stem(word))]


def pair_matrix(
    references: Sequence[str], outputs: Sequence[str], profile: Profile = DEFAULT_PROFILE
) -> NDArray[np.float64]:
    """ROUGE-1 F of each pair, references x outputs, in [0, 1]; texts are taken as they are.

    Bit-identical to rouge_score under `parity-ascii` and `porter`. Pairs without a shared word,
    empty texts among them, are 0.
    """
    return matrix_of_words(
        [tokenise(text, profile) for text in references], [tokenise(text, profile) for text in outputs]
    )


def matrix_of_words(
    references: Sequence[Sequence[str]], outputs: Sequence[Sequence[str]]
) -> NDArray[np.float64]:
    """`pair_matrix` of texts that are words already.

    The n-th occurrence of a word in a text is a feature of its own, so the number of shared words
    (the smaller count of each) is a plain product of 0/1 matrices. Source: metrics_spec section 7.
    """
    features: dict[_Feature, int] = {}
    rows = [[features.setdefault(f, len(features)) for f in _features(words)] for words in references]
    columns = [[features[f] for f in _features(words) if f in features] for words in outputs]
    hits = _one_hot(rows, len(features)) @ _one_hot(columns, len(features)).T
    recall = hits / np.array([max(len(words), 1) for words in references], dtype=float)[:, None]
    precision = hits / np.array([max(len(words), 1) for words in outputs], dtype=float)[None, :]
    both = precision + recall
    # The order of operations is rouge_score's, so that not even the last bit differs.
    scores: NDArray[np.float64] = np.zeros_like(both)
    np.divide(2 * precision * recall, both, out=scores, where=both > 0)
    return scores


def _features(words: Sequence[str]) -> Iterator[_Feature]:
    """Each word where it stands first; later, with the number of times it stood before."""
    seen: dict[str, int] = {}
    for word in words:
        n = seen.get(word, 0)
        seen[word] = n + 1
        yield (word, n) if n else word


def _one_hot(rows: list[list[int]], width: int) -> NDArray[np.int32]:
    """0/1 rows. Whole numbers: their product starts no threads that fight with other workers."""
    matrix = np.zeros((len(rows), width), np.int32)
    for i, row in enumerate(rows):
        matrix[i, row] = 1
    return matrix


@cache
def _unicode_word() -> re.Pattern[str]:
    """A run of letters, marks and digits with its decimals (3.5), or one character of its own.

    Marks are listed because a word character of Python's is none.
    """
    marks = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "M")
    letters = rf"(?:[^\W_{_OWN_WORD}]++|[{marks}]++)"
    return re.compile(rf"{letters}++(?:(?<=\d)\.\d{letters}*+)*+|[{_OWN_WORD}]")


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return _stemmer().stem(word) if len(word) >= STEMMED_FROM else word


@cache
def _stemmer() -> PorterStemmer:
    from nltk.stem.porter import PorterStemmer  # slow to import, and only this profile needs it

    return PorterStemmer()
