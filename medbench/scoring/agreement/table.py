"""A table of ratings, and the same table in numbers once its level of measurement is known."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from medbench.errors import InvalidInput
from medbench.formats.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)
Rating = str | float
MISSING = -1
MOST_RATINGS = 1_000  # different ones; differences of all of them are kept
NAME_SHOWN = 60
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class RatingsTable:
    """Who rated what how: `cells` is items x annotators of text, numbers, or None for missing."""

    items: tuple[str, ...]
    annotators: tuple[str, ...]
    cells: NDArray[np.object_]

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, Any]]) -> Self:
        """From (item, annotator, rating), in the order in which items and annotators appear.

        None, NaN and blank text are missing; an item or annotator without any rating stays in the
        table. Raises InvalidInput `duplicate_rating`, `infinite_rating`.
        """
        items: dict[str, int] = {}
        annotators: dict[str, int] = {}
        found: dict[tuple[int, int], Rating | None] = {}
        for item, annotator, rating in rows:
            place = items.setdefault(item, len(items)), annotators.setdefault(annotator, len(annotators))
            if place in found:
                message = f"{_shown(annotator)} rated {_shown(item)} twice. Keep one of the two ratings."
                raise InvalidInput(message, code="duplicate_rating")
            found[place] = clean(rating)
        cells = np.full((len(items), len(annotators)), None, dtype=object)
        for place, rating in found.items():
            cells[place] = rating
        return cls(tuple(items), tuple(annotators), cells)

    @classmethod
    def from_matrix(cls, ratings: Sequence[Sequence[Any]]) -> Self:
        """From a list of items, each the ratings of annotators 1, 2, ...; missing as in `from_rows`."""
        return cls.from_rows(
            (str(i), str(j), rating)
            for i, row in enumerate(ratings, start=1)
            for j, rating in enumerate(row, start=1)
        )

    def of(self, annotators: Sequence[str]) -> Self:
        """The table of these annotators alone, say of those with one background."""
        at = [self.annotators.index(annotator) for annotator in annotators]
        return type(self)(self.items, tuple(annotators), self.cells[:, at])


@dataclass(frozen=True)
class Coded:
    """A table at a level of measurement.

    `codes` (items x annotators) are places in `labels`, -1 where missing. `values` are the numbers
    that the labels stand for, None where they are words; `is_ordered` says whether the order of
    the labels means anything.
    """

    codes: NDArray[np.intp]
    labels: tuple[str, ...]
    values: NDArray[np.float64] | None
    level: Level
    is_ordered: bool

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """Items x labels: how many annotators gave the item that rating."""
        counts = np.zeros((len(self.codes), len(self.labels)))
        for column in self.codes.T:
            rated = np.flatnonzero(column != MISSING)
            counts[rated, column[rated]] += 1
        return counts

    def of(self, items: NDArray[np.bool_], annotators: NDArray[np.bool_]) -> Coded:
        """The rows and columns that are marked."""
        return replace(self, codes=self.codes[items][:, annotators])

    def without(self, annotator: int) -> Coded:
        """The same without one column."""
        return replace(self, codes=np.delete(self.codes, annotator, axis=1))

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """Items x annotators of numbers, NaN where missing; None for words and nominal ratings."""
        if self.values is None or self.level == "nominal":
            return None
        return np.where(self.codes == MISSING, np.nan, np.append(self.values, np.nan)[self.codes])


def code(table: RatingsTable, level: str, order: Sequence[Rating] | None = None) -> Coded:
    """The table at a level of measurement.

    `order` names every rating that the scale allows, lowest first; ordinal words need it. Without
    it the ratings are sorted, by number where all are numbers. Raises InvalidInput: `unknown_level`,
    `order_needed`, `bad_order`, `not_in_order`, `not_a_number`, `infinite_rating`, `negative_rating`,
    `too_many_ratings`.
    """
    known = next((each for each in LEVELS if each == level), None)
    if known is None:
        message = f"{_shown(level)} is no level of measurement. Choose one of {', '.join(LEVELS)}."
        raise InvalidInput(message, code="unknown_level")
    found: set[Rating] = {rating for rating in table.cells.ravel().tolist() if rating is not None}
    if len(found) > MOST_RATINGS:
        message = f"There are {len(found):,} different ratings, limit {MOST_RATINGS:,}: round them."
        raise InvalidInput(message, code="too_many_ratings")
    scale = [rating for rating in map(clean, order or ()) if rating is not None]
    keys = _keys(found.union(scale))
    _check_level(table, set(keys.values()), known, has_order=bool(scale))
    sorted_keys = [keys[rating] for rating in scale] or sorted(set(keys.values()))
    place = {key: i for i, key in enumerate(sorted_keys)}
    if len(place) < len(sorted_keys):
        raise InvalidInput("The order names a rating twice.", code="bad_order")
    code_of: dict[Rating | None, int] = {None: MISSING}
    for rating in found:
        if keys[rating] not in place:
            raise InvalidInput(f"{_told(table, rating)} is not in the order.", code="not_in_order")
        code_of[rating] = place[keys[rating]]
    codes = np.array([code_of[rating] for rating in table.cells.ravel().tolist()], dtype=np.intp)
    are_numbers = not any(isinstance(key, str) for key in sorted_keys)
    values = np.array(sorted_keys, dtype=float) if are_numbers else None
    labels = tuple(map(_label, sorted_keys))
    return Coded(codes.reshape(table.cells.shape), labels, values, known, are_numbers or bool(scale))


def clean(rating: Any) -> Rating | None:
    """A rating as text or a finite number, None where it is missing; raises `infinite_rating`."""
    if rating is None or type(rating).__name__ == "NAType":  # of pandas, which need not be here
        return None
    if isinstance(rating, str):
        return rating.strip() or None
    number = float(rating)
    if math.isinf(number):
        raise _infinite(rating)
    return None if math.isnan(number) else number


def _keys(ratings: set[Rating]) -> dict[Rating, float] | dict[Rating, str]:
    """What two ratings must share to be the same: 1 is 1.0 and "1", as long as all are numbers."""
    numbers = {rating: number for rating in ratings if (number := _number(rating)) is not None}
    return numbers if len(numbers) == len(ratings) else {rating: _label(rating) for rating in ratings}


def _number(rating: Rating) -> float | None:
    if isinstance(rating, str) and not _NUMBER.fullmatch(rating):
        return None
    number = float(rating)
    if math.isinf(number):
        raise _infinite(rating)
    return number


def _check_level(table: RatingsTable, keys: set[float | str], level: Level, *, has_order: bool) -> None:
    words = sorted(key for key in keys if isinstance(key, str) and _number(key) is None)
    if words and level in ("interval", "ratio"):
        if words[0].lower().lstrip("+-") in ("inf", "infinity"):
            raise _infinite(words[0])
        message = f"{_told(table, words[0])} is not a number. Leave the cell empty where it is missing."
        raise InvalidInput(message, code="not_a_number")
    if words and level == "ordinal" and not has_order:
        message = f"Ratings are words ({_shown(words[0])}): name their order, lowest first."
        raise InvalidInput(message, code="order_needed")
    if level == "ratio" and any(key < 0 for key in keys if not isinstance(key, str)):
        message = "A rating is negative, but a ratio scale begins at 0. Choose the interval level."
        raise InvalidInput(message, code="negative_rating")


def _told(table: RatingsTable, rating: Rating) -> str:
    """A rating with the first place where it stands."""
    places = np.argwhere(table.cells == rating)
    where = (f"{_shown(table.items[i])} by {_shown(table.annotators[j])}" for i, j in places)
    return " of ".join(["The rating " + _shown(rating), *islice(where, 1)])


def _infinite(rating: object) -> InvalidInput:
    message = f"The rating {_shown(rating)} is infinite. Leave the cell empty where it is missing."
    return InvalidInput(message, code="infinite_rating")


def _label(rating: Rating) -> str:
    """A number without needless decimals, or the text."""
    return rating if isinstance(rating, str) else f"{rating:.15g}"


def _shown(text: object) -> str:
    return f"“{printable(str(text), NAME_SHOWN)}”"
