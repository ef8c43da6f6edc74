"""What a spreadsheet does to a table, recognised before it becomes a wrong answer."""

from __future__ import annotations

import csv
import gzip
import re
from typing import TYPE_CHECKING, TextIO

from medbench.formats.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import duckdb

SLASHED = r"^\d{1,2}/\d{1,2}/\d{2,4}( \d{1,2}:\d{2}(:\d{2})?)?$"
TAIL_BYTES = 4096
ENOUGH_CODES = 200  # ICD-9 codes of which some begin with 0 in any intact table


def read_header(path: Path) -> list[str]:
    """The first row of a CSV file, gzipped or not."""
    with _open(path) as lines:
        return next(csv.reader(lines), [])


def header_problem(table: str, path: Path, header: Sequence[str], expected: Sequence[str]) -> Problem:
    """Why a header that is not `expected` was refused."""
    if sorted(last_row(path)) == sorted(expected):
        message = (
            "The header stands in the last row: the file was sorted with its header. Take the original file."
        )
        return Problem("moved_header", message, file=table, line=1)
    missing = [name for name in expected if name not in header]
    unknown = [name for name in header if name not in expected]
    parts = (
        f"missing: {', '.join(missing)}" if missing else "",
        f"unknown: {', '.join(unknown)}" if unknown else "",
        "" if missing or unknown else "the same columns in another order",
    )
    message = f"The header is not that of a release this adapter knows: {'; '.join(filter(None, parts))}."
    return Problem("unknown_header", message, file=table, line=1)


def last_row(path: Path) -> list[str]:
    with _open(path) as lines:
        last = ""
        for line in lines:
            last = line if line.strip() else last
    return next(csv.reader([last]), [])


def value_problems(
    db: duckdb.DuckDBPyConnection, table: str, text: str, columns: dict[str, str]
) -> Iterator[Problem]:
    """What is wrong with the values of `text`, a relation of the table with every column as text."""
    typed = {name: kind for name, kind in columns.items() if kind != "VARCHAR"}
    counts = ", ".join(
        f"count(*) FILTER ({_bad(name, kind)}), min(line) FILTER ({_bad(name, kind)}), "
        f"arg_min({_quoted(name)}, line) FILTER ({_bad(name, kind)})"
        for name, kind in typed.items()
    )
    if counts:
        row = db.execute(f"SELECT {counts} FROM {text}").fetchone()
        assert row is not None
        for number, (name, kind) in enumerate(typed.items()):
            count, line, example = row[number * 3 : number * 3 + 3]
            if count:
                yield _value_problem(table, name, kind, (count, line, example))
    if "icd_version" in columns:
        yield from _lost_zeros(db, table, text)


def _value_problem(table: str, name: str, kind: str, found: tuple[int, int, str]) -> Problem:
    count, line, example = found
    if kind in ("TIMESTAMP", "DATE") and re.match(SLASHED, example):
        message = (
            f"{count:,} dates are written like “{example}”, not 2180-05-07: a spreadsheet saved this file."
        )
        return Problem("other_dates", message, file=table, line=line, field=name)
    message = f"{count:,} values are no {kind.lower()}, the first is “{example}”."
    return Problem("bad_value", message, file=table, line=line, field=name)


def _lost_zeros(db: duckdb.DuckDBPyConnection, table: str, text: str) -> Iterator[Problem]:
    """ICD-9 codes have three digits or more, and thousands of them never all begin with 1 to 9."""
    shortest = 3 if "diagnoses" in table else 2
    digits = "icd_version = '9' AND regexp_full_match(icd_code, '[0-9]+')"
    row = db.execute(
        f"SELECT count(*), count(*) FILTER (starts_with(icd_code, '0')), "
        f"count(*) FILTER (length(icd_code) < {shortest}), min(line) FILTER (length(icd_code) < {shortest}) "
        f"FROM {text} WHERE {digits}"
    ).fetchone()
    assert row is not None
    codes, with_zero, short, line = row
    if short or (codes >= ENOUGH_CODES and not with_zero):
        what = f"{short:,} of them are too short" if short else "none begins with 0"
        message = f"Of {codes:,} numeric ICD-9 codes {what}: leading zeros were lost. Take the original file."
        yield Problem("lost_zeros", message, file=table, line=line, field="icd_code")


def _bad(name: str, kind: str) -> str:
    text = _quoted(name)
    wrong = f"TRY_CAST({text} AS {kind}) IS NULL"
    if kind in ("TIMESTAMP", "DATE"):  # DuckDB takes 7/14/2155 for no date, but "50:50.0" for none either
        wrong = f"({wrong} OR NOT regexp_matches({text}, '^\\d{{4}}-\\d\\d-\\d\\d'))"
    return f"WHERE {text} IS NOT NULL AND {wrong}"


def _quoted(name: str) -> str:
    return f'"{name}"'


def _open(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
    return path.open(encoding="utf-8-sig", errors="replace", newline="")
