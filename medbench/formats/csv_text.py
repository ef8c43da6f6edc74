"""CSV for spreadsheets: text that came from others never becomes a formula."""

from __future__ import annotations

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def safe(text: str) -> str:
    """Text that a spreadsheet shows as it is, with an apostrophe before what it would compute."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
