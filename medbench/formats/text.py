"""Text as it is scored and compared. What people see is always the raw text."""

from __future__ import annotations

import re
import unicodedata

_REMOVED = {"Cc", "Cf"}  # controls, soft hyphen, zero-width and direction signs, tags
_WHITE = "\t\n\r"  # controls that are white space
_UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")


def normalise(text: str) -> str:
    """The text that is scored: NFKC, without invisible characters, white space collapsed, stripped.

    Invisible characters go before NFKC, so that a text with them equals the text without.
    Source: metrics_spec section 1, step 1.
    """
    if not text.isprintable():
        text = "".join(c for c in text if c in _WHITE or unicodedata.category(c) not in _REMOVED)
    return " ".join(unicodedata.normalize("NFKC", text).split())


def is_blank(text: str) -> bool:
    """Whether nothing is left of the text when it is normalised."""
    return all(c.isspace() or unicodedata.category(c) in _REMOVED for c in text)


def shorten(text: str, longest: int) -> str:
    """The text, or its beginning and an ellipsis: at most `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def is_storable(text: str) -> bool:
    """Whether every database can keep the text: no NUL, no half of a surrogate pair."""
    return _UNSTORABLE.search(text) is None


def printable(text: str, longest: int) -> str:
    """The beginning of a hostile text that any terminal, page or database can take."""
    text = shorten(text, longest)
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
