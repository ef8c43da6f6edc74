"""Where verdicts are kept, by the content key of their question.

The caller supplies one: the site a table, a command a file, a test a dict.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Protocol

from medbench.evals.questions import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

AT_ONCE = 500  # keys in one query


class Store(Protocol):
    """Only scored verdicts are put; they are called from the thread that asks, never from the event
    loop, so a store may use an ORM."""

    def get(self, keys: Collection[str]) -> dict[str, Verdict]:
        """The verdicts that are there, by key."""
        ...

    def put(self, verdict: Verdict) -> Verdict:
        """Keep a verdict, and return the one that stands: the first that came for its key. Where two
        workers ask the same at once both go on with the same answer."""
        ...


class MemoryStore:
    """In a dict, for as long as the process lives."""

    def __init__(self) -> None:
        self.verdicts: dict[str, Verdict] = {}

    def get(self, keys: Collection[str]) -> dict[str, Verdict]:
        return {key: self.verdicts[key] for key in keys if key in self.verdicts}

    def put(self, verdict: Verdict) -> Verdict:
        return self.verdicts.setdefault(verdict.key, verdict)


class FileStore:
    """In an SQLite file that several processes may share."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with closing(self._open()) as database, database:
            database.execute("CREATE TABLE IF NOT EXISTS verdict (key TEXT PRIMARY KEY, value TEXT NOT NULL)")

    def get(self, keys: Collection[str]) -> dict[str, Verdict]:
        ordered = list(keys)
        with closing(self._open()) as database:
            rows = [
                row
                for start in range(0, len(ordered), AT_ONCE)
                for row in self._rows(database, ordered[start : start + AT_ONCE])
            ]
        return {key: Verdict.from_dict(json.loads(value)) for key, value in rows}

    def put(self, verdict: Verdict) -> Verdict:
        value = json.dumps(verdict.as_dict(), ensure_ascii=False)
        with closing(self._open()) as database, database:
            database.execute("INSERT OR IGNORE INTO verdict VALUES (?, ?)", (verdict.key, value))
        return self.get([verdict.key])[verdict.key]

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=60)

    @staticmethod
    def _rows(database: sqlite3.Connection, keys: list[str]) -> list[tuple[str, str]]:
        marks = ",".join("?" * len(keys))
        query = f"SELECT key, value FROM verdict WHERE key IN ({marks})"  # noqa: S608 (marks are "?")
        return database.execute(query, keys).fetchall()
