"""Condition 4: what must hold inside the artifacts, from a closed vocabulary, computed by us.

A predicate never believes what an artifact says of itself: anchors and labels come from the
reference at the same key. It answers a Finding, None where it holds.
Source of the vocabulary: ClinLens design, sections 2.2 and 4.6; parameters: `schema.PREDICATES`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from medbench.clinlens.evaluator.formulas import FORMULAS, near
from medbench.clinlens.evaluator.statistics import STATISTICS, auroc, brier
from medbench.clinlens.private import key_set_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from medbench.clinlens.evaluator.answers import Answer
    from medbench.clinlens.evaluator.tables import Table
    from medbench.clinlens.private import PrivateTask

TEST_DIGITS = (7, 8, 9)  # convention S1
_BEFORE_END = {"left", "neither"}  # kinds of window without their end
_AFTER_START = {"right", "neither"}


@dataclass(frozen=True, slots=True)
class Finding:
    """A predicate that does not hold: how many rows are against it, and what kind of mistake it is.

    Of a finding about a whole artifact, `n_rows` is 0. `offset_hours` is how far the wrong times lie
    outside of their window, in the median; 0 at its edge.
    """

    n_wrong: int
    n_rows: int
    mistake: str = ""
    offset_hours: float | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What a predicate may look at: an artifact, its reference, the private task, the final answer."""

    table: Table
    reference: Table
    private: PrivateTask
    answer: Answer

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Row numbers here and in the reference of the keys that both have."""
        for key, row in self.table.row_of.items():
            there = self.reference.row_of.get(key)
            if there is not None:
                yield row, there


def find(kind: str, given: Given, options: dict[str, Any]) -> Finding | None:
    """What a predicate of `kind` finds. Whatever it raises is our fault, not the participant's."""
    with np.errstate(all="ignore"):  # hostile numbers overflow: the result is then undefined
        return _KINDS[kind](given, options)


def _key_set(given: Given, _: dict[str, Any]) -> Finding | None:
    cohort = given.private.cohorts[given.table.artifact.name]
    if key_set_hash(given.private.salt, given.table.keys) == cohort.key_set:
        return None
    extra = len(given.table.row_of.keys() - given.reference.row_of.keys())
    missing = len(given.reference.row_of.keys() - given.table.row_of.keys())
    return Finding(extra + missing, len(given.table), "POPULATION")


def _equal(given: Given, options: dict[str, Any], mistake: str) -> Finding | None:
    wrong = n_rows = 0
    columns = [(given.table.columns[name], given.reference.columns[name]) for name in options["columns"]]
    for row, there in given.pairs():
        n_rows += 1
        wrong += any(ours[row] != theirs[there] for ours, theirs in columns)
    return Finding(wrong, n_rows, mistake) if wrong else None


def _anchor_equals(given: Given, options: dict[str, Any]) -> Finding | None:
    return _equal(given, options, "ANCHOR")


def _ownership(given: Given, options: dict[str, Any]) -> Finding | None:
    return _equal(given, options, "ENCOUNTER_MISLINK")


def _label_match(given: Given, options: dict[str, Any]) -> Finding | None:
    return _equal(given, options, "LABEL_ERROR")


def _values_match(given: Given, options: dict[str, Any]) -> Finding | None:
    ours, theirs = (table.columns[options["column"]] for table in (given.table, given.reference))
    absolute, relative = options["abs"], options.get("rel", 0)
    wrong = n_rows = 0
    for row, there in given.pairs():
        n_rows += 1
        value, wanted = ours[row], theirs[there]
        if isinstance(value, float | int) and isinstance(wanted, float | int):
            wrong += not near(value, wanted, max(absolute, relative * abs(wanted)))
        else:
            wrong += value != wanted
    is_enough = n_rows - wrong >= options.get("min_fraction", 1) * n_rows - 1e-9
    return None if is_enough else Finding(wrong, n_rows, "VALUES")


def _time_window(given: Given, options: dict[str, Any]) -> Finding | None:
    """Times outside of the window; its edges come from the reference."""
    values = given.table.columns[options["column"]]
    early: list[float] = []
    late: list[float] = []
    n_rows = 0
    for row, there in given.pairs():
        if values[row] is None:
            continue
        n_rows += 1
        moment = _moment(values[row])
        start, end = (_edge(given, options[side], there) for side in ("start", "end"))
        if start and (moment < start or (moment == start and options["closed"] in _AFTER_START)):
            early.append((start - moment) / timedelta(hours=1))
        elif end and (moment > end or (moment == end and options["closed"] in _BEFORE_END)):
            late.append((moment - end) / timedelta(hours=1))
    if not early and not late:
        return None
    mistake, offsets = ("WINDOW_EARLY", early) if len(early) > len(late) else ("WINDOW_LATE", late)
    return Finding(len(early) + len(late), n_rows, mistake, median(offsets))


def _edge(given: Given, at: dict[str, Any] | None, there: int) -> datetime | None:
    """The edge of a window by the reference: None where it is open or its anchor is null."""
    anchor = given.reference.columns[at["anchor"]][there] if at else None
    if at is None or anchor is None:
        return None
    return _moment(anchor) + timedelta(hours=at["hours"])


def _moment(value: date) -> datetime:
    return value if isinstance(value, datetime) else datetime.combine(value, time())


def _feature_time_before(given: Given, options: dict[str, Any]) -> Finding | None:
    values, anchors = (
        given.table.columns[options["column"]],
        given.reference.columns[options["anchor"]],
    )
    after: list[float] = []
    n_rows = 0
    for row, there in given.pairs():
        if values[row] is None or anchors[there] is None:
            continue
        n_rows += 1
        ahead = _moment(values[row]) - _moment(anchors[there])
        if ahead > timedelta() or (not ahead and not options.get("or_equal", False)):
            after.append(ahead / timedelta(hours=1))
    return Finding(len(after), n_rows, "FUTURE_LEAK", median(after)) if after else None


def _split_rule(given: Given, options: dict[str, Any]) -> Finding | None:
    subjects, splits = (given.table.columns[options[name]] for name in ("subject", "split"))
    digits = options.get("test_digits", TEST_DIGITS)
    wrong = sum(
        split != ("test" if subject % 10 in digits else "train")
        for subject, split in zip(subjects, splits, strict=True)
    )
    return Finding(wrong, len(given.table), "SPLIT_LEAK") if wrong else None


def _sums_to(given: Given, options: dict[str, Any]) -> Finding | None:
    values = given.table.columns[options["column"]]
    total = sum(value for value in values if value is not None)
    return None if total == options["total"] else Finding(0, 0, "INCONSISTENT")


def _row_formula(given: Given, options: dict[str, Any]) -> Finding | None:
    roles, keeps_to = FORMULAS[options["formula"]]
    columns = [given.table.columns[options["columns"][role]] for role in roles]
    parameters = options.get("parameters", {})
    wrong = sum(
        not keeps_to(dict(zip(roles, values, strict=True)), options["abs"], parameters)
        for values in zip(*columns, strict=True)
    )
    return Finding(wrong, len(given.table), "INCONSISTENT") if wrong else None


def _domain(given: Given, options: dict[str, Any]) -> Finding | None:
    low, high = options.get("min", -math.inf), options.get("max", math.inf)
    values = [value for value in given.table.columns[options["column"]] if value is not None]
    wrong = sum(not low <= value <= high for value in values)
    return Finding(wrong, len(values), "DOMAIN") if wrong else None


def _recompute(given: Given, options: dict[str, Any]) -> Finding | None:
    roles, statistic = STATISTICS[options["statistic"]]
    columns = [options["columns"][role] for role in roles]
    rows = _rows_of(given.table, columns, options.get("where", {}))
    values = {role: [row[place] for row in rows] for place, role in enumerate(roles)}
    return _against_answer(given, statistic(values, options.get("parameters", {})), options)


def _score_recompute(given: Given, options: dict[str, Any]) -> Finding | None:
    rows = _rows_of(given.table, [options["label"], options["score"]], options.get("where", {}))
    labels, scores = [row[0] for row in rows], [row[1] for row in rows]
    value = (auroc if options["measure"] == "auroc" else brier)(labels, scores)
    return _against_answer(given, value, options)


def _rows_of(table: Table, columns: list[str], where: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The rows without nulls in `columns` whose other columns are as `where` says."""
    kept = zip(*(table.columns[name] for name in where), strict=True) if where else [()] * len(table)
    wanted = tuple(where.values())
    rows = zip(*(table.columns[name] for name in columns), strict=True)
    return [row for row, of in zip(rows, kept, strict=True) if of == wanted and None not in row]


def _against_answer(given: Given, value: float | None, options: dict[str, Any]) -> Finding | None:
    if value is None or not math.isfinite(value) or not isinstance(given.answer, Decimal):
        return Finding(0, 0, "INCONSISTENT")
    is_same = near(value, float(given.answer), options["abs"])
    return None if is_same else Finding(0, 0, "INCONSISTENT")


_KINDS: dict[str, Callable[[Given, dict[str, Any]], Finding | None]] = {
    "key_set": _key_set,
    "anchor_equals": _anchor_equals,
    "ownership": _ownership,
    "label_match": _label_match,
    "values_match": _values_match,
    "time_window": _time_window,
    "feature_time_before": _feature_time_before,
    "split_rule": _split_rule,
    "sums_to": _sums_to,
    "row_formula": _row_formula,
    "domain": _domain,
    "recompute": _recompute,
    "score_recompute": _score_recompute,
}
