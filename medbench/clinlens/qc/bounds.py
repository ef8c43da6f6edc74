"""Times: what a reference used lies inside its windows, and the package reaches beyond them.

A package that ended where a window ends would tell the window to whoever looks at its last row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medbench.clinlens.templates.core import fill

if TYPE_CHECKING:
    import duckdb

    from medbench.clinlens.templates.core import Template, Window


def outside_of_bounds(db: duckdb.DuckDBPyConnection, template: Template, parameters: dict[str, Any]) -> str:
    """What is wrong with the times of a task whose reference has just run in `db`, "" for nothing."""
    for number, window in enumerate(template.windows, 1):
        wrong = _outside(db, window, parameters) or _too_short(db, window, parameters)
        if wrong:
            return f"window {number} of {len(template.windows)}: {wrong}"
    return ""


def _outside(db: duckdb.DuckDBPyConnection, window: Window, parameters: dict[str, Any]) -> str:
    upper = "<=" if window.is_closed else "<"
    inside = f"t >= {window.start} AND t {upper} {window.end}"
    used, wrong = _counts(db, window.used, ("count(t)", f"count(t) FILTER (NOT ({inside}))"), parameters)
    if not used:
        return "the reference uses no event"
    return f"{wrong} of {used} events used lie outside" if wrong else ""


def _too_short(db: duckdb.DuckDBPyConnection, window: Window, parameters: dict[str, Any]) -> str:
    after = ">" if window.is_closed else ">="
    sides = (f"count(*) FILTER (t < {window.start})", f"count(*) FILTER (t {after} {window.end})")
    before, behind = _counts(db, window.packaged, sides, parameters)
    if before and behind:
        return ""
    return f"the package holds no event {'after its end' if before else 'before its start'}"


def _counts(
    db: duckdb.DuckDBPyConnection, events: str, counted: tuple[str, str], parameters: dict[str, Any]
) -> tuple[int, int]:
    row = db.execute(fill(f"SELECT {', '.join(counted)} FROM ({events})", parameters)).fetchone()
    assert row is not None
    return row
