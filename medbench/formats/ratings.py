"""Ratings tables in CSV: wide (an item and a column per annotator) or long (item, annotator, rating).

The first row names the columns. A file with exactly the columns item, annotator and rating, in any
order, is long; in any other the first column names the item. An empty cell is a missing rating.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from medbench.formats.csv_text import read_rows
from medbench.formats.json_text import Unreadable
from medbench.formats.problems import SHOWN, Findings, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from medbench.formats.csv_text import Numbered

LONG = ("item", "annotator", "rating")
ANNOTATORS_MOST = 100
CELLS_MOST = 5_000_000  # items x annotators
_OTHER_SEPARATORS = (";", "\t", "|")


class Rated(NamedTuple):
    """One rating as it stands in the file; "" where the cell is empty."""

    item: str
    annotator: str
    rating: str


def read_ratings(data: bytes, *, file: str = "", keep: int = SHOWN) -> list[Rated]:
    """The ratings in the order of the file, missing ones included.

    Raises Refused with all problems: `too_large`, `not_utf8`, `bad_csv`, `empty_file`,
    `wrong_separator`, `missing_field`, `wrong_length`, `duplicate_annotator`, `duplicate_rating`,
    `too_many_annotators`.
    """
    findings = Findings(file, keep)
    rated: list[tuple[int, Rated]] = []
    with suppress(Unreadable):
        rated = numbered_ratings(read_rows(data, findings), findings)
    if findings.problems:
        raise Refused(f"The ratings table {file}".rstrip(), findings)
    return [rating for _, rating in rated]


def numbered_ratings(rows: list[Numbered], findings: Findings) -> list[tuple[int, Rated]]:
    """Each rating of a table with its line, missing ones included. Problems go into `findings`; raises
    Unreadable where the first row names no columns."""
    (line, header), *body = rows
    findings.line = line
    is_long = sorted(name.casefold() for name in header) == sorted(LONG)
    if not is_long:
        _check_annotators(header, findings)
    split = _long(header) if is_long else _wide(header)
    ratings: list[tuple[int, Rated]] = []
    lines: dict[tuple[str, str], int] = {}  # where an item (of an annotator) stands
    for number, cells in body:
        findings.line = number
        if len(cells) != len(header):
            message = f"The row has {len(cells)} cells, the first row {len(header)}."
            findings.problem("wrong_length", message)
            continue
        rated = split(cells)
        key = rated[0].item, rated[0].annotator if is_long else ""
        if _is_sound(key, rated[0], lines.setdefault(key, number), findings):
            ratings += [(number, each) for each in rated]
    findings.line = None
    _check_size([rated for _, rated in ratings], findings)
    return ratings


def _check_annotators(header: list[str], findings: Findings) -> None:
    if len(header) < 2:
        other = next((each for each in _OTHER_SEPARATORS if each in header[0]), None)
        if other:
            name = {"\t": "tabs"}.get(other, other)
            findings.problem(
                "wrong_separator", f"Columns are separated by {name}. Save the file with commas."
            )
        else:
            findings.problem("missing_field", "The first row names no annotator.")
        raise Unreadable
    seen: set[str] = set()
    for column, name in enumerate(header[1:], start=2):
        if not name:
            findings.problem("missing_field", f"Column {column} has ratings of nobody: name the annotator.")
        elif name in seen:
            findings.problem("duplicate_annotator", f"Two columns are of “{name}”.", (name,))
        seen.add(name)
    if findings.problems:
        raise Unreadable


def _long(header: list[str]) -> Callable[[list[str]], list[Rated]]:
    item, annotator, rating = ([name.casefold() for name in header].index(name) for name in LONG)
    return lambda cells: [Rated(cells[item], cells[annotator], cells[rating])]


def _wide(header: list[str]) -> Callable[[list[str]], list[Rated]]:
    return lambda cells: [
        Rated(cells[0], annotator, rating) for annotator, rating in zip(header[1:], cells[1:], strict=True)
    ]


def _is_sound(key: tuple[str, str], first: Rated, line: int, findings: Findings) -> bool:
    """Whether a row names item and annotator, and is the first to do so (on `line`)."""
    for field in ("item", "annotator"):
        if not getattr(first, field):
            findings.problem("missing_field", f"The row names no {field}.", (field,))
            return False
    if line == findings.line:
        return True
    if key[1]:
        message = f"“{first.annotator}” rated “{first.item}” on line {line} already. Keep one of the two."
    else:
        message = (
            f"“{first.item}” stands on line {line} already. A long table names its columns {', '.join(LONG)}."
        )
    findings.problem("duplicate_rating", message, ("item",))
    return False


def _check_size(ratings: list[Rated], findings: Findings) -> None:
    n_annotators = len({rated.annotator for rated in ratings})
    if n_annotators > ANNOTATORS_MOST:
        message = f"The table has {n_annotators:,} annotators, limit {ANNOTATORS_MOST}."
        findings.problem("too_many_annotators", message)
    elif (cells := n_annotators * len({rated.item for rated in ratings})) > CELLS_MOST:
        findings.problem("too_large", f"Items times annotators are {cells:,}, limit {CELLS_MOST:,}.")
