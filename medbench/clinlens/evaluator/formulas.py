"""The named formulas that every row of an artifact must keep to.

A formula takes the row's values by role (None for null), the tolerance and its parameters, and
answers whether the row keeps to it. To add one: a function here and its line in `FORMULAS`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Row = dict[str, Any]
Parameters = dict[str, float]
Formula = tuple[tuple[str, ...], "Callable[[Row, float, Parameters], bool]"]

SLACK = 1e-9  # relative: binary fractions are not decimal ones


def near(value: float, wanted: float, tolerance: float) -> bool:
    """Whether two numbers differ by at most `tolerance`, and what binary fractions add to it."""
    return math.isfinite(wanted) and abs(value - wanted) <= tolerance + SLACK * max(1.0, abs(wanted))


def difference(row: Row, tolerance: float, _: Parameters) -> bool:
    """`result` = `after` - `before`; null iff one of them is."""
    if row["after"] is None or row["before"] is None:
        return row["result"] is None
    return row["result"] is not None and near(row["result"], row["after"] - row["before"], tolerance)


def ratio(row: Row, tolerance: float, _: Parameters) -> bool:
    """`result` = `numerator` / `denominator`; null iff that is undefined."""
    if row["numerator"] is None or not row["denominator"]:
        return row["result"] is None
    return row["result"] is not None and near(row["result"], row["numerator"] / row["denominator"], tolerance)


def hours_between(row: Row, tolerance: float, _: Parameters) -> bool:
    """`result` = hours from the time `start` to the time `end`; null iff one of them is."""
    if row["start"] is None or row["end"] is None:
        return row["result"] is None
    hours = (row["end"] - row["start"]).total_seconds() / 3600
    return row["result"] is not None and near(row["result"], hours, tolerance)


def in_order(row: Row, _: float, __: Parameters) -> bool:
    """`first` < `second` wherever both are given."""
    return row["first"] is None or row["second"] is None or row["first"] < row["second"]


def null_unless(row: Row, _: float, __: Parameters) -> bool:
    """`value` is given exactly where `flag` is true."""
    return (row["value"] is not None) == bool(row["flag"])


def kidney_stage(row: Row, _: float, __: Parameters) -> bool:
    """`stage` (0 to 3) from creatinine: `ratio` to the baseline, or `rise` of 0.3 mg/dL in 48 h.

    Source: KDIGO 2012, creatinine alone, without the 4.0 mg/dL and dialysis rules of stage 3.
    """
    ratio_, rise = (row[name] if row[name] is not None else 0.0 for name in ("ratio", "rise"))
    by_ratio = sum(ratio_ + SLACK >= cut for cut in (1.5, 2.0, 3.0))
    return bool(row["stage"] == max(by_ratio, int(rise + SLACK >= 0.3)))


FORMULAS: Mapping[str, Formula] = {
    "difference": (("before", "after", "result"), difference),
    "ratio": (("numerator", "denominator", "result"), ratio),
    "hours_between": (("start", "end", "result"), hours_between),
    "in_order": (("first", "second"), in_order),
    "null_unless": (("flag", "value"), null_unless),
    "kidney_stage": (("ratio", "rise", "stage"), kidney_stage),
}
