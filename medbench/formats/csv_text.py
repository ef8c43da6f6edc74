"""CSV: read with every fault told by its line, and written for spreadsheets, where text that came from
others never becomes a formula."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from medbench.formats.json_text import BOM, Unreadable, decode

if TYPE_CHECKING:
    from medbench.formats.problems import Findings

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
FILE_BYTES = 20_000_000

Numbered = tuple[int, list[str]]  # the line on which a row begins, and its cells


def safe(text: str) -> str:
    """Text that a spreadsheet shows as it is, with an apostrophe before what it would compute."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def plain(text: str) -> str:
    """What `safe` was given."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_STARTS) else text


def read_rows(data: bytes, findings: Findings) -> list[Numbered]:
    """The rows that are not blank, cells stripped. Raises Unreadable after noting `too_large`,
    `not_utf8`, `bad_csv` or `empty_file`."""
    if len(data) > FILE_BYTES:
        findings.problem("too_large", f"The file has more than {FILE_BYTES:,} bytes.")
        raise Unreadable
    text = decode(data, findings).removeprefix(BOM)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[Numbered] = []
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((line, [cell.strip() for cell in cells]))
            line = reader.line_num + 1
    except csv.Error as error:
        findings.line = line
        findings.problem("bad_csv", f"The row that begins here cannot be read: {error}.")
        raise Unreadable from error
    if not rows:
        findings.problem("empty_file", "The file has no row.")
        raise Unreadable
    return rows
