"""Heads of sortable tables: each links to its own order, the current one to the reverse.

An address asks for a column by its key; a minus before it turns the column's usual direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Head:
    key: str
    label: str
    is_number: bool
    link: str  # what ?sort= becomes
    direction: str  # for aria-sort, "" where it is not the current one


def asked_order(asked: str, usually_down: Mapping[str, bool], default: str) -> tuple[str, bool]:
    """The key and whether it sorts downwards, as `?sort=` asks; an unknown key is the default."""
    key = asked.removeprefix("-")
    if key not in usually_down:
        return default, usually_down.get(default, False)
    return key, usually_down[key] != asked.startswith("-")


def heads(
    columns: Iterable[tuple[str, str, bool]], usually_down: Mapping[str, bool], key: str, *, down: bool
) -> list[Head]:
    """The heads of `columns` (key, label, whether numbers), sorted by `key` now."""
    made = []
    for column, label, is_number in columns:
        is_current = column == key
        turned = is_current and down == usually_down[column]
        direction = ("descending" if down else "ascending") if is_current else ""
        made.append(Head(column, label, is_number, f"-{column}" if turned else column, direction))
    return made
