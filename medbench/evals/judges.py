"""Judges' scores of the pairs of a case: asked, averaged, bounded where some are missing.

A pair counts when every judge scored it; a pair that one of them could not score is unscored, never 0
and never the other's score. Source: metrics_spec sections 2 and 9.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medbench.errors import InvalidInput
from medbench.evals.prompts import HIGHEST, LOWEST
from medbench.evals.questions import pair_question, row_question
from medbench.scoring.matching import CaseScore, Kept, case_score, kept_outputs
from medbench.scoring.text import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from medbench.evals.profiles import EvaluatorProfile, JudgeModel
    from medbench.evals.questions import Question, Verdict
    from medbench.evals.session import Session

CAP = 2  # of a score where a check differs
SCALE = 10  # raw / 10, as the parents do: the lowest score is 0.1
TURNED = 20  # one row in so many is asked again in the reverse order


@dataclass(frozen=True, slots=True)
class CaseToJudge:
    """One case as it was submitted. `outputs` are raw, None where the file does not name the case;
    `decoy` is a reference of another case (see `defences.decoys`), "" for none."""

    case_id: str
    goal: str
    references: tuple[str, ...]
    outputs: tuple[str, ...] | None
    decoy: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """Candidates against one reference; texts are normalised."""

    goal: str
    reference: str
    candidates: tuple[str, ...]

    @property
    def is_turned_too(self) -> bool:
        """Whether the row is also asked in the reverse order, to see what the order does."""
        digest = hashlib.sha256("\n".join((self.reference, *self.candidates)).encode()).digest()
        return len(self.candidates) > 1 and int.from_bytes(digest[:4]) % TURNED == 0


@dataclass(frozen=True, slots=True)
class Cell:
    """What one judge said of one pair. The whole verdict is in the store under `key`; one that is
    unscored is here, in `failed`."""

    key: str
    model: str  # as reported
    raw: int | None  # 1 to 10
    expected: float | None = None  # weighted by probabilities, where it is
    rationale: str = ""
    is_over_the_cap: bool = False  # above 2 although a check differs: the judge broke its rubric
    failed: Verdict | None = None

    @property
    def score(self) -> float:
        """In [0, 1]; NaN where it is unscored."""
        value = self.raw if self.expected is None else self.expected
        return float("nan") if value is None else value / SCALE

    @property
    def zero_based(self) -> float | None:
        """The raw score from 0 to 1, for exports: `score` has the parents' scale, from 0.1."""
        return None if self.raw is None else (self.raw - LOWEST) / (HIGHEST - LOWEST)


@dataclass(frozen=True)
class JudgedRow:
    """The cells of one row, judges x candidates, and by how much each judge's scores changed when
    the order was reversed (none where it was not)."""

    cells: tuple[tuple[Cell, ...], ...]
    turns: tuple[float, ...] = ()


@dataclass(frozen=True)
class JudgedCase:
    """One case with all that the judges said. Columns are the kept outputs.

    `matrix` is references x outputs, the mean over judges, NaN where a pair is unscored. `score` is
    None while any is; `bounds` are the case with those pairs at 0 and at 1.
    """

    case_id: str
    kept: Kept
    is_missing: bool
    rows: tuple[JudgedRow, ...]  # of the references
    decoys: JudgedRow | None
    by_judge: NDArray[np.float64]  # judges x references x outputs

    @property
    def matrix(self) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = self.by_judge.mean(axis=0)
        return mean

    @property
    def n_pairs(self) -> int:
        return int(self.matrix.size)

    @property
    def n_scored(self) -> int:
        return int(np.isfinite(self.matrix).sum())

    @property
    def is_complete(self) -> bool:
        """Whether every pair is scored."""
        return self.n_scored == self.n_pairs

    @property
    def n_decoys_unscored(self) -> int:
        """Answers about the decoy that are missing: so many outputs could hide something."""
        cells = [cell for own in self.decoys.cells for cell in own] if self.decoys else []
        return sum(cell.raw is None for cell in cells)

    @property
    def score(self) -> CaseScore | None:
        """The case as boards keep it; None while a pair is unscored."""
        return self._with(self.matrix) if self.is_complete else None

    @property
    def bounds(self) -> tuple[CaseScore, CaseScore]:
        """The case if every unscored pair were worth nothing, and if it were worth everything."""
        return self._with(np.nan_to_num(self.matrix, nan=0.0)), self._with(
            np.nan_to_num(self.matrix, nan=1.0)
        )

    @property
    def reasons(self) -> Counter[str]:
        """Why verdicts are missing, with how many."""
        return Counter(cell.failed.reason for cell in self.cells() if cell.failed)

    @property
    def decoy_scores(self) -> NDArray[np.float64]:
        """The highest raw score that any judge gave each output against the reference of another
        case, 0 where none was asked or none answered."""
        if self.decoys is None:
            return np.zeros(len(self.kept.indexes))
        raw = np.array([[cell.raw or 0 for cell in cells] for cells in self.decoys.cells], dtype=float)
        highest: NDArray[np.float64] = raw.max(axis=0)
        return highest

    def cells(self) -> Iterator[Cell]:
        """Every cell of every reference, judge by judge."""
        for row in self.rows:
            for cells in row.cells:
                yield from cells

    def slim(self) -> JudgedCase:
        """The same without what the judges wrote: enough for a report, and a submission has 100,000
        cells."""

        def without(row: JudgedRow) -> JudgedRow:
            cells = (
                tuple(replace(cell, rationale="", failed=_slim(cell.failed)) for cell in own)
                for own in row.cells
            )
            return replace(row, cells=tuple(cells))

        decoys = without(self.decoys) if self.decoys else None
        return replace(self, rows=tuple(without(row) for row in self.rows), decoys=decoys)

    def _with(self, matrix: NDArray[np.float64]) -> CaseScore:
        return case_score(self.kept, matrix, is_missing=self.is_missing)


def judge_case(session: Session, profile: EvaluatorProfile, case: CaseToJudge) -> JudgedCase:
    """Ask all that the store does not have. Raises Stopped (what came before is stored), InvalidInput
    for a case without references."""
    kept, rows = rows_of(profile, case)
    judged = ask_rows(session, profile, rows)
    n_references = len(case.references)
    scores = np.full((len(profile.judges), n_references, len(kept.indexes)), np.nan)
    for i, row in enumerate(judged[:n_references]):
        scores[:, i] = [[cell.score for cell in cells] for cells in row.cells]
    return JudgedCase(
        case_id=case.case_id,
        kept=kept,
        is_missing=case.outputs is None,
        rows=tuple(judged[:n_references]),
        decoys=judged[n_references] if len(judged) > n_references else None,
        by_judge=scores,
    )


def rows_of(profile: EvaluatorProfile, case: CaseToJudge) -> tuple[Kept, list[Row]]:
    """Which outputs count (D5), and a row for each reference, the decoy last. Raises InvalidInput."""
    if not case.references:
        raise InvalidInput("A case without references cannot be scored.", code="invalid_case_empty_gt")
    outputs = case.outputs or ()
    kept = kept_outputs(outputs, profile.tokeniser)
    candidates = tuple(normalise(outputs[i]) for i in kept.indexes)
    goal = normalise(case.goal)
    references = [*case.references, *([case.decoy] if case.decoy and candidates else [])]
    return kept, [Row(goal, normalise(reference), candidates) for reference in references]


def questions_of(profile: EvaluatorProfile, case: CaseToJudge) -> list[Question]:
    """Everything that judging the case asks, for an estimate."""
    return [asked.question for asked in _asked(profile, rows_of(profile, case)[1])]


def ask_rows(session: Session, profile: EvaluatorProfile, rows: Sequence[Row]) -> list[JudgedRow]:
    """Every row by every judge, together. Raises Stopped."""
    asked = list(_asked(profile, rows))
    verdicts = {verdict.key: verdict for verdict in session.ask(each.question for each in asked)}
    cells: dict[tuple[int, int], dict[int, Cell]] = defaultdict(dict)  # (row, judge) -> candidate -> cell
    turned: dict[tuple[int, int], dict[int, Cell]] = defaultdict(dict)
    for each in asked:
        found = _cells(each.question, verdicts[each.question.key])
        target = turned if each.is_reversed else cells
        target[each.row, each.judge].update(zip(each.candidates, found, strict=True))
    judges = range(len(profile.judges))
    return [
        JudgedRow(
            tuple(tuple(cells[i, judge][j] for j in range(len(row.candidates))) for judge in judges),
            tuple(_change(cells[i, judge], turned[i, judge]) for judge in judges),
        )
        for i, row in enumerate(rows)
    ]


class _Ask(NamedTuple):
    """A question, and what it is about: which candidates of which row, in the order of its answers."""

    row: int
    judge: int
    question: Question
    candidates: list[int]
    is_reversed: bool = False


def _asked(profile: EvaluatorProfile, rows: Iterable[Row]) -> Iterator[_Ask]:
    for i, row in enumerate(rows):
        for judge, model in enumerate(profile.judges):
            if profile.mode == "row":
                yield from _asked_at_once(i, judge, model, row)
                continue
            for j, candidate in enumerate(row.candidates):
                yield _Ask(i, judge, pair_question(model, row.goal, row.reference, candidate), [j])


def _asked_at_once(i: int, judge: int, model: JudgeModel, row: Row) -> Iterator[_Ask]:
    """The whole row, and a part of the rows once more in the reverse order."""
    orders = [False, True] if row.is_turned_too else [False]
    for is_reversed in orders if row.candidates else []:
        question, order = row_question(
            model, row.goal, row.reference, row.candidates, is_reversed=is_reversed
        )
        yield _Ask(i, judge, question, order, is_reversed)


def _cells(question: Question, verdict: Verdict) -> list[Cell]:
    """The cells of a question in the order of its candidates."""
    if verdict.answer is None:
        return [Cell(verdict.key, verdict.model, None, failed=verdict)] * max(len(question.ids), 1)
    answers = verdict.answer["scores"] if question.kind == "row" else [verdict.answer]
    return [
        Cell(
            key=verdict.key,
            model=sys.intern(verdict.model),
            raw=answer["score"],
            expected=verdict.expected,
            rationale=answer["rationale"],
            is_over_the_cap="differs" in answer["checks"].values() and answer["score"] > CAP,
        )
        for answer in answers
    ]


def _slim(failed: Verdict | None) -> Verdict | None:
    return replace(failed, text="") if failed else None


def _change(cells: Mapping[int, Cell], turned: Mapping[int, Cell]) -> float:
    """Mean absolute change of the scores in the reverse order; NaN where it was not asked."""
    changes = [abs(cells[j].score - cell.score) for j, cell in turned.items()]
    return float(np.mean(changes)) if changes else float("nan")
