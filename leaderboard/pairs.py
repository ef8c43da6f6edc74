"""The pair matrix of one case as people read it: references in rows, kept outputs in columns.

References count from 1 in the order of the release, outputs from 1 as uploaded: an output that was
removed before scoring keeps its number and has no column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from leaderboard import matrices
from leaderboard.words import Comparison, compare
from medbench.scoring.matching import kept_outputs
from medbench.scoring.novelty import DECIMALS
from medbench.scoring.text import normalise

if TYPE_CHECKING:
    from leaderboard.models import CaseScore, Output
    from medbench.cases.models import TripletVersion
    from medbench.scoring.rouge import Profile

STEPS = 9  # --seq-0 to --seq-8
COLUMNS_AT_ONCE = 40


@dataclass(frozen=True)
class Cell:
    """One pair. `best_of_row`: no output comes closer to this reference; `best_of_column`: this
    reference is the closest to the output. A pair without any shared word is nobody's best."""

    reference: int
    output: int
    score: float  # NaN where no judge gave one
    best_of_row: bool
    best_of_column: bool
    is_match: bool = False  # reaches the tau that is shown

    @property
    def key(self) -> str:
        """How addresses name the pair."""
        return f"{self.reference}-{self.output}"

    @property
    def is_unscored(self) -> bool:
        return math.isnan(self.score)

    @property
    def step(self) -> int | None:
        """The class of the heat scale: [0, 1] in nine equal steps, never stretched to the data."""
        return None if self.is_unscored else min(int(self.score * STEPS), STEPS - 1)

    @property
    def hundredths(self) -> str:
        """The score as the cell prints it: 85 for 0.85."""
        return "?" if self.is_unscored else f"{self.score * 100:.0f}"

    @property
    def name(self) -> str:
        """What a screen reader says."""
        best = {
            (True, True): ", best of both",
            (True, False): ", best of the reference",
            (False, True): ", best of the output",
            (False, False): "",
        }[self.best_of_row, self.best_of_column]
        if self.is_unscored:
            return f"Reference {self.reference}, output {self.output}: unscored"
        matched = ", matched" if self.is_match else ""
        return f"Reference {self.reference}, output {self.output}: {self.score:.3f}{best}{matched}"


@dataclass(frozen=True)
class Row:
    """One reference with its pairs and the score of its best output."""

    number: int
    version: TripletVersion
    best: float
    best_output: int | None
    cells: list[Cell]

    @property
    def best_key(self) -> str:
        """The address of its best pair; "" where no output shares a word with it."""
        return f"{self.number}-{self.best_output}" if self.best_output else ""


@dataclass(frozen=True)
class Column:
    """One uploaded output: scored, with the closest reference if it shares a word with any; or
    `removed` says why it was not."""

    number: int
    output: Output
    best: float | None = None
    best_reference: int | None = None
    removed: str = ""

    @property
    def best_key(self) -> str:
        """The address of its best pair; "" where it has none."""
        return f"{self.best_reference}-{self.number}" if self.best_reference else ""

    @property
    def hundredths(self) -> str:
        return f"{(self.best or 0) * 100:.0f}"


@dataclass(frozen=True)
class Grid:
    """The whole matrix of a case with its texts."""

    rows: list[Row]
    columns: list[Column]  # the kept ones, in the order of the cells
    removed: list[Column]

    def cell(self, key: str) -> Cell | None:
        """The pair that an address names, None where there is no such pair."""
        return next((cell for row in self.rows for cell in row.cells if cell.key == key), None)

    def closest(self) -> Cell | None:
        """The pair with the highest score, None where there is no pair."""
        cells = (cell for row in self.rows for cell in row.cells)
        return max(cells, key=lambda cell: -1 if cell.is_unscored else cell.score, default=None)

    def outputs(self, order: str) -> list[Column]:
        """Every output: as uploaded, best scored first, or by its best reference."""
        columns = sorted([*self.columns, *self.removed], key=lambda column: column.number)
        if order == "score":
            return sorted(
                columns, key=lambda column: -1 if column.best is None else column.best, reverse=True
            )
        if order == "reference":
            return sorted(columns, key=lambda column: column.best_reference or len(self.rows) + 1)
        return columns

    def part(self, number: int) -> Grid:
        """The columns of one page of the map, COLUMNS_AT_ONCE of them."""
        shown = slice((number - 1) * COLUMNS_AT_ONCE, number * COLUMNS_AT_ONCE)
        rows = [replace(row, cells=row.cells[shown]) for row in self.rows]
        return replace(self, rows=rows, columns=self.columns[shown])

    def parts(self) -> list[dict[str, int]]:
        """The pages of the map with their first and last column; none where one page holds all."""
        if len(self.columns) <= COLUMNS_AT_ONCE:
            return []
        firsts = range(0, len(self.columns), COLUMNS_AT_ONCE)
        return [
            {
                "number": number,
                "first": self.columns[first].number,
                "last": self.columns[min(first + COLUMNS_AT_ONCE, len(self.columns)) - 1].number,
            }
            for number, first in enumerate(firsts, 1)
        ]


def grid_of(
    score: CaseScore,
    references: list[TripletVersion],
    outputs: list[Output],
    profile: Profile,
    *,
    matrix: np.ndarray | None = None,
    tau: float = 2.0,
) -> Grid:
    """The grid of a scored case from its references and all its uploaded outputs, both in order.
    `matrix` shows another metric than the board's; what reaches `tau` is marked as matched."""
    matrix = matrices.of_case(score) if matrix is None else matrix
    kept = [outputs[position] for position in score.kept]
    known = np.where(np.isnan(matrix), 0.0, matrix)
    row_best, column_best = known.max(axis=1, initial=0.0), known.max(axis=0, initial=0.0)
    rows = []
    for i, version in enumerate(references):
        best_output = kept[int(known[i].argmax())].position + 1 if row_best[i] > 0 else None
        cells = _cells(matrix, i, kept, row_best, column_best, tau)
        rows.append(Row(i + 1, version, float(row_best[i]), best_output, cells))
    columns = []
    for j, output in enumerate(kept):
        closest = int(known[:, j].argmax()) + 1 if column_best[j] > 0 else None
        columns.append(Column(output.position + 1, output, float(column_best[j]), closest))
    return Grid(rows, columns, _removed(outputs, profile))


def _removed(outputs: list[Output], profile: Profile) -> list[Column]:
    """The outputs without a column, each with the reason."""
    kept = kept_outputs([output.insight for output in outputs], profile)
    reasons = dict.fromkeys(kept.empty, "blank") | {
        position: f"repeats output {first + 1}" for position, first in kept.same_as.items()
    }
    return [Column(i + 1, outputs[i], removed=reason) for i, reason in sorted(reasons.items())]


def _cells(
    matrix: np.ndarray,
    i: int,
    kept: list[Output],
    row_best: np.ndarray,
    column_best: np.ndarray,
    tau: float,
) -> list[Cell]:
    cells = []
    for j, output in enumerate(kept):
        score = float(matrix[i, j])
        best_of_row = score > 0 and score == row_best[i]
        best_of_column = score > 0 and score == column_best[j]
        is_match = round(score, DECIMALS) >= round(tau, DECIMALS)
        cells.append(
            Cell(i + 1, output.position + 1, score, bool(best_of_row), bool(best_of_column), is_match)
        )
    return cells


@dataclass(frozen=True)
class Pair:
    """One pair looked at closely. The texts stand as they were scored: normalised."""

    cell: Cell
    reference: TripletVersion
    output: Output
    words: Comparison

    @property
    def precision(self) -> float:
        """Shared words over the words of the output."""
        return self.words.n_shared / max(self.words.n_output, 1)

    @property
    def recall(self) -> float:
        """Shared words over the words of the reference."""
        return self.words.n_shared / max(self.words.n_reference, 1)


def pair_of(grid: Grid, cell: Cell, profile: Profile) -> Pair:
    """The texts of one cell with their shared words."""
    reference = grid.rows[cell.reference - 1].version
    output = next(column.output for column in grid.columns if column.number == cell.output)
    words = compare(normalise(reference.insight), normalise(output.insight), profile)
    return Pair(cell, reference, output, words)
