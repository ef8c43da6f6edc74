"""Artifacts: CSV files from strangers, read strictly into typed columns.

Source of the rules: ClinLens design, section 4.4.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from medbench.clinlens.evaluator.failure import Failed
from medbench.formats.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from medbench.clinlens.manifest import Artifact, Column
    from medbench.clinlens.private import Key

CSV_BYTES = 10_000_000
ROWS_MOST = 200_000
FIELD_CHARACTERS = 64 * 1024
RECORD_CHARACTERS = 1_000_000
UNKNOWN_COLUMNS_MOST = 32
SHOWN = 40
CHUNK = 4_096  # rows read at a time
SHORT = 18  # digits that any int64 can have

_NULLS = {
    "",
    *(form(word) for word in ("NA", "NaN", "null", "None", "NaT") for form in (str, str.lower, str.upper)),
}
_INTEGER = re.compile(r"(-?[0-9]{1,19})(?:\.0{1,20})?")
_FLOAT = re.compile(r"-?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(rf"{_DATE.pattern}[ T][0-9]{{2}}:[0-9]{{2}}(?::[0-9]{{2}}(?:\.[0-9]{{1,6}})?)?")
_ZONE = re.compile(r"\s*(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?|UTC|GMT)")
_BOOLEANS = {"0": False, "1": True, "false": False, "true": True}


@dataclass
class Table:
    """The contract's columns of an artifact: lists of one length, None for null."""

    artifact: Artifact
    columns: dict[str, list[Any]]
    warnings: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.columns[self.artifact.columns[0].name])

    @cached_property
    def keys(self) -> list[Key]:
        """The key of each row."""
        return list(zip(*(self.columns[name] for name in self.artifact.key), strict=True))

    @cached_property
    def row_of(self) -> dict[Key, int]:
        """The row number of each key; the last one of a key that stands twice."""
        return {key: row for row, key in enumerate(self.keys)}


def parse_table(data: bytes, artifact: Artifact) -> Table:
    """An artifact by its contract; raises Failed at a deviation, with its line."""
    rows = _rows(_text_of(data))
    header = next(rows, (0, []))[1]
    warnings = _check_header(header, artifact)
    columns: dict[str, list[Any]] = {column.name: [] for column in artifact.columns}
    n_rows = 0
    while chunk := list(islice(rows, CHUNK)):
        n_rows += len(chunk)
        if n_rows > ROWS_MOST:
            raise Failed("too_many_rows", f"More than {ROWS_MOST:,} rows.")
        _read_chunk(chunk, header, artifact, columns)
    return Table(artifact, columns, warnings)


def _read_chunk(
    chunk: list[tuple[int, list[str]]], header: list[str], artifact: Artifact, columns: dict[str, list[Any]]
) -> None:
    """Add the values of some records to the columns; column by column, which is faster."""
    for line, row in chunk:
        if len(row) != len(header):
            raise Failed("ragged_row", f"Line {line} has {len(row)} fields, the header {len(header)}.")
    texts = list(zip(*(row for _, row in chunk), strict=True))
    for column in artifact.columns:
        values, of_column = columns[column.name], texts[header.index(column.name)]
        n_before = len(values)
        try:
            values.extend(map(_reader(column), of_column))
        except Failed as error:  # those before it were added
            at = len(values) - n_before
            shown = f"“{printable(of_column[at], SHOWN)}”"
            raise Failed(
                error.code, f"Line {chunk[at][0]}, {column.name}: {shown} {error.message}"
            ) from error


def _text_of(data: bytes) -> str:
    if len(data) > CSV_BYTES:
        raise Failed("file_too_large", f"More than {CSV_BYTES:,} bytes.")
    at = data.find(b"\0")
    if at >= 0:
        line = data.count(b"\n", 0, at) + 1
        raise Failed("nul_byte", f"Line {line} holds a NUL byte.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Failed("not_utf8", "The file is not UTF-8 text.") from error


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each record that is not blank."""
    lines = _Lines(text)
    reader = csv.reader(lines, strict=True)
    try:
        for row in reader:
            lines.n_characters = 0
            if not row:
                continue
            if max(map(len, row)) > FIELD_CHARACTERS:
                raise Failed("malformed_csv", f"Line {reader.line_num}: a field is longer than 64 KB.")
            yield reader.line_num, row
    except csv.Error as error:
        raise Failed("malformed_csv", f"Line {reader.line_num}: {error}.") from error


class _Lines:
    """The lines of a text, until a record of them is so long that its fields would fill the memory."""

    def __init__(self, text: str) -> None:
        self._lines = io.StringIO(text, newline="")
        self.n_characters = 0  # of the record so far

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.n_characters += len(line)
        if self.n_characters > RECORD_CHARACTERS:
            raise Failed("malformed_csv", "A record is longer than 1 MB.")
        return line


def _check_header(header: list[str], artifact: Artifact) -> list[str]:
    """The warnings of a header; raises Failed."""
    if not header:
        raise Failed("malformed_csv", "There is no header.")
    wanted = [column.name for column in artifact.columns]
    if len(header) > len(wanted) + UNKNOWN_COLUMNS_MOST:
        raise Failed("too_many_columns", f"{len(header):,} columns.")
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise Failed("duplicate_column", f"“{printable(twice, SHOWN)}” stands twice in the header.")
    missing = [name for name in wanted if name not in header]
    if missing:
        raise Failed("missing_column", f"There is no column “{missing[0]}”.")
    extra = [name for name in header if name not in wanted]
    if extra and artifact.extra_columns == "forbid":
        raise Failed("extra_column", f"“{printable(extra[0], SHOWN)}” is not in the contract.")
    return ["extra_columns"] if extra else []


def _reader(column: Column) -> Callable[[str], Any]:
    """What turns the text of a cell into its value; it raises Failed."""
    parse = _PARSERS[column.dtype]
    nulls = {""} if column.dtype == "string" else _NULLS
    is_nullable, allowed = column.nullable, set(column.enum)

    def read(text: str) -> Any:
        if text in nulls:
            if is_nullable:
                return None
            raise Failed("null_not_allowed", "must not be empty.")
        value = parse(text)
        if allowed and value not in allowed:
            raise Failed("enum", "is not one of the values allowed.")
        return value

    return read


def _int64(text: str) -> int:
    if len(text) <= SHORT and text.isascii() and text.isdigit():  # most are, and this is fast
        return int(text)
    match = _INTEGER.fullmatch(text)
    if match and -(2**63) <= (value := int(match[1])) < 2**63:
        return value
    raise Failed("dtype", "is not a whole number (int64).")


def _float64(text: str) -> float:
    if _FLOAT.fullmatch(text) and abs(value := float(text)) < float("inf"):
        return value
    raise Failed("dtype", "is not a finite number (float64).")


def _timestamp(text: str) -> datetime:
    if _TIME.fullmatch(text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass
    match = _TIME.match(text)
    if match and _ZONE.fullmatch(text, match.end()):
        raise Failed("timezone_forbidden", "has a time zone; times are local.")
    raise Failed("dtype", "is not a time YYYY-MM-DD HH:MM:SS.")


def _date(text: str) -> date:
    if _DATE.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    raise Failed("dtype", "is not a date YYYY-MM-DD.")


def _bool(text: str) -> bool:
    value = _BOOLEANS.get(text.lower())
    if value is None:
        raise Failed("dtype", "is not 0, 1, true or false.")
    return value


_PARSERS: dict[str, Callable[[str], Any]] = {
    "int64": _int64,
    "float64": _float64,
    "string": str,
    "timestamp": _timestamp,
    "date": _date,
    "bool": _bool,
}
