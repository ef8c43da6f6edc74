"""Slips of the pen: one value of the reference's outputs changed, just enough to be wrong.

Wrong programs break the predicates that watch over programs. A predicate that watches over the file,
such as that of a row's owner, is broken by no program that is wrong in one place; so each is held
against the smallest slip it exists for. One that lets it pass checks nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from medbench.clinlens.evaluator.predicates import Given, find
from medbench.clinlens.evaluator.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from medbench.clinlens.evaluator.answers import Answer
    from medbench.clinlens.private import Predicate, PrivateTask

SECOND = timedelta(seconds=1)
NAMES = ("column", "columns", "split")  # options that name what a predicate watches


def idle_predicates(private: PrivateTask, tables: dict[str, Table], answer: Answer) -> list[str]:
    """The ids of the predicates that let every slip pass. `tables` are the reference's artifacts."""
    return [
        predicate.id
        for predicate in private.predicates
        if not any(
            find(predicate.kind, Given(slipped, tables[predicate.artifact], private, told), predicate.given)
            for slipped, told in _slips(predicate, tables[predicate.artifact], answer)
        )
    ]


def _slips(predicate: Predicate, table: Table, answer: Answer) -> Iterator[tuple[Table, Answer]]:
    given = predicate.given
    if predicate.kind in {"recompute", "score_recompute"}:
        assert isinstance(answer, Decimal)
        yield table, answer + 2 * Decimal(str(given["abs"]))
    elif predicate.kind == "time_window":
        for row, moment in _edges(given, table):
            yield _with(table, given["column"], row, moment), answer
    elif predicate.kind == "feature_time_before":
        row = _first_given(table.columns[given["column"]])
        yield _with(table, given["column"], row, table.columns[given["anchor"]][row]), answer
    elif predicate.kind == "domain":
        beyond = given["max"] + 1 if "max" in given else given["min"] - 1
        yield _with(table, given["column"], 0, beyond), answer
    else:
        for name in _watched(predicate, table):
            row = _first_given(table.columns[name])
            value = _other(table.columns[name][row], 2 * given.get("abs", 0) or 1)
            yield _with(table, name, row, value), answer


def _edges(given: dict[str, Any], table: Table) -> Iterator[tuple[int, datetime]]:
    """A time at the end of its window that is outside, and one just before its start."""
    row = _first_given(table.columns[given["column"]])
    for side, beyond in (
        ("end", SECOND if given["closed"] in {"both", "right"} else timedelta()),
        ("start", -SECOND),
    ):
        if given[side]:
            anchor = table.columns[given[side]["anchor"]][row]
            yield row, anchor + timedelta(hours=given[side]["hours"]) + beyond


def _watched(predicate: Predicate, table: Table) -> list[str]:
    if predicate.kind == "key_set":
        return list(table.artifact.key)
    named = next(predicate.given[name] for name in NAMES if name in predicate.given)
    if isinstance(named, str):
        return [named]
    return list(named.values() if isinstance(named, dict) else named)


def _first_given(values: list[Any]) -> int:
    return next((row for row, value in enumerate(values) if value is not None), 0)


def _other(value: Any, step: float) -> Any:
    """A value that is wrong by little."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return "test" if value == "train" else f"{value}x"
    if isinstance(value, datetime):
        return value + SECOND
    return (value or 0) + step


def _with(table: Table, column: str, row: int, value: Any) -> Table:
    changed = list(table.columns[column])
    changed[row] = value
    return Table(table.artifact, {**table.columns, column: changed})
