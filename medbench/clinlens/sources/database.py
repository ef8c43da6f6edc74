"""Connections to DuckDB, set up alike everywhere."""

from __future__ import annotations

import duckdb


def connect(threads: int | None = None) -> duckdb.DuckDBPyConnection:
    """A database in memory. It draws no progress bar: that would go to stdout, where JSON is awaited."""
    db = duckdb.connect(config={"threads": threads} if threads else {})
    db.execute("SET enable_progress_bar = false")
    return db
