"""Categorical answers as they are compared: spelling is forgiven, meaning is not."""

from __future__ import annotations

import unicodedata

_AROUND = " \"'`“”‘’„‚«»"


def normalised(label: str) -> str:
    """NFKC, one kind of dash, white space and underscores as one space, no quotes around it, no full
    stop at its end, case folded. No synonyms and no parts: two labels in one text equal neither.
    """
    text = unicodedata.normalize("NFKC", label)
    text = "".join("-" if unicodedata.category(c) == "Pd" or c == "\N{MINUS SIGN}" else c for c in text)
    text = " ".join(text.replace("_", " ").split()).strip(_AROUND)
    return text.removesuffix(".").strip(_AROUND).casefold()
