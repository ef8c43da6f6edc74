"""Words of the credentialed resources that could not be compared with their files.

Where a source has none of an expected word, a template that lives by it is refused, with the words
that are there: guessing would give empty cohorts that look right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from medbench.clinlens.sources.database import connect

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from medbench.clinlens.sources.source import Source

SHOWN = 6
EXPECTED = {
    "echo/structured_measurement": (("test_type", "TTE"), ("measurement", "lvef")),
    "note/radiology": (("note_type", "RR"),),
    "note/discharge": (("note_type", "DS"),),
    "hosp/emar": (("event_txt", "Administered"),),
    "hosp/prescriptions": (("drug_type", "MAIN"),),
}
NO_INTERVAL = 29999  # the fill value of ECG machines
LONGEST_MS = 5000  # no interval of a ten-second ECG is longer


def unknown_words(source: Source, table: str) -> Iterator[str]:
    """What a table should hold and does not."""
    with connect() as db:
        for column, word in EXPECTED.get(table, ()):
            words = _words(db, source, table, column)
            if word not in words:
                shown = ", ".join(words[:SHOWN]) or "nothing"
                yield f"{table} has no {column} “{word}”, only: {shown}"
        if table == "ecg/machine_measurements":
            yield from _other_fill_values(db, source)


def other_items(source: Source, table: str, column: str, expected: dict[int, str]) -> Iterator[str]:
    """Items that a dictionary calls otherwise than a question does. Without the dictionary, none."""
    if table not in source.paths:
        return
    with connect() as db:
        rows = db.execute(f"SELECT itemid, {column} FROM {source.relation(table)}").fetchall()
    found = {item: str(word) for item, word in rows}
    for item, word in sorted(expected.items()):
        if found.get(item, "").casefold() != word.casefold():
            yield f"{table} has for item {item} the {column} “{found.get(item, 'nothing')}”, not “{word}”"


def _words(db: duckdb.DuckDBPyConnection, source: Source, table: str, column: str) -> list[str]:
    query = f"SELECT {column}, count(*) AS n FROM {source.relation(table)} GROUP BY 1 ORDER BY n DESC, 1"
    return [str(row[0]) for row in db.execute(query).fetchall()]


def _other_fill_values(db: duckdb.DuckDBPyConnection, source: Source) -> Iterator[str]:
    for column in ("rr_interval", "qrs_onset", "qrs_end", "t_end"):
        row = db.execute(
            f"SELECT {column} FROM {source.relation('ecg/machine_measurements')} "
            f"WHERE {column} > {LONGEST_MS} AND {column} <> {NO_INTERVAL} ORDER BY 1 LIMIT 1"
        ).fetchone()
        if row:
            yield f"ecg/machine_measurements has {column} = {row[0]}: neither an interval nor {NO_INTERVAL}"
