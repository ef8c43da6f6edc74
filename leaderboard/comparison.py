"""Two submissions of one board side by side, reference by reference: who found what.

A reference is *found* where its best output reaches tau. Only the matrices of the two evaluations
are read for this, never a text: those come for one page of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from django.core.cache import cache

from leaderboard import matrices, queries
from medbench.scoring.intervals import RESAMPLES, resample_counts
from medbench.scoring.novelty import DECIMALS, LEXICAL_TAU, TAU
from medbench.scoring.testing import Runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from leaderboard.models import Board, Evaluation
    from medbench.scoring.testing import Comparison

KEPT_S = 24 * 3600  # two finished evaluations never change
TAUS = ("0.10", "0.15", "0.20", "0.25", "0.30", "0.40", "0.50", "0.60", "0.70", "0.80", "0.90")
GROUPS = ("a", "b", "both", "neither", "unscored")
SORTS = ("difference", "a", "b", "case", "site", "difficulty")
USUALLY_DOWN = {key: key in ("difference", "a", "b") for key in SORTS}


@dataclass(frozen=True)
class Totals:
    """A minus B in the headline scores, and on how many cases which of the two is better."""

    f1: Comparison
    recall: Comparison
    precision: Comparison
    a_better: int
    equal: int
    b_better: int

    @property
    def n_cases(self) -> int:
        return self.f1.n_cases


def totals(a: Evaluation, b: Evaluation) -> Totals:
    """The paired tests of two finished, complete evaluations. Kept: a test takes a while."""
    key = f"leaderboard.comparison.{a.pk}.{b.pk}"
    found: Totals | None = cache.get(key)
    if found is None:
        found = _totals(a, b)
        cache.set(key, found, KEPT_S)
    return found


def _totals(a: Evaluation, b: Evaluation) -> Totals:
    of_a, of_b = queries.recall_and_precision(a), queries.recall_and_precision(b)
    shared = [case for case in of_a if case in of_b]
    runs = np.array([[of[case] for case in shared] for of in (of_a, of_b)])  # 2 x cases x 2
    recall, precision = (np.repeat(runs[:, :, [i]], 2, axis=2) for i in (0, 1))
    counts = resample_counts(len(shared), seed=a.seed, resamples=RESAMPLES)
    all_six = Runs([*runs, *recall, *precision], counts, seed=a.seed)
    f1 = 2 * runs[:, :, 0] * runs[:, :, 1] / np.maximum(runs.sum(axis=2), 1e-12)
    better = np.sign((f1[0] - f1[1]).round(DECIMALS))
    return Totals(
        f1=all_six.compare(0, 1),
        recall=all_six.compare(2, 3),
        precision=all_six.compare(4, 5),
        a_better=int((better > 0).sum()),
        equal=int((better == 0).sum()),
        b_better=int((better < 0).sum()),
    )


def usual_tau(board: Board) -> float:
    """The board's own threshold: of its judges, or that of shared words."""
    return float(board.profile.config.get("tau", TAU)) if board.profile.metric == "judges" else LEXICAL_TAU


@dataclass(frozen=True)
class References:
    """Every reference in question as columns of one length, in the order of the release."""

    triplet: NDArray[np.int64]  # ReleaseTriplet
    case: NDArray[np.int64]  # ReleaseCase
    case_position: NDArray[np.int64]
    site: NDArray[np.str_]
    difficulty: NDArray[np.int64]
    number: NDArray[np.int64]  # within its case, from 1
    best: NDArray[np.float64]  # 2 x references; NaN where a pair of it is unscored
    output: NDArray[np.int64]  # 2 x references: position of the best output, −1 without any

    @property
    def difference(self) -> NDArray[np.float64]:
        """A minus B."""
        found: NDArray[np.float64] = self.best[0] - self.best[1]
        return found

    def groups(self, tau: float) -> dict[str, NDArray[np.bool_]]:
        """Which references are in which of GROUPS at this threshold."""
        with np.errstate(invalid="ignore"):
            a, b = self.best.round(DECIMALS) >= round(tau, DECIMALS)
        unscored = np.isnan(self.best).any(axis=0)
        known = ~unscored
        return {
            "a": a & ~b & known,
            "b": b & ~a & known,
            "both": a & b & known,
            "neither": ~a & ~b & known,
            "unscored": unscored,
        }

    def order(self, where: NDArray[np.bool_], sort: str, *, down: bool) -> NDArray[np.int64]:
        """The indices of those in `where`, sorted; what is unscored comes last in both directions."""
        columns: dict[str, NDArray[Any]] = {
            "difference": self.difference,
            "a": self.best[0],
            "b": self.best[1],
            "case": self.case_position,
            "site": np.unique(self.site, return_inverse=True)[1],
            "difficulty": self.difficulty,
        }
        value = columns[sort].astype(float)
        value = np.where(np.isnan(value), np.inf, -value if down else value)
        at = np.flatnonzero(where)
        found: NDArray[np.int64] = at[np.argsort(value[at], kind="stable")]
        return found


def references(a: Evaluation, b: Evaluation, *, category: str = "") -> References:
    """All references of the board's split, or those of one category, with the best of both."""
    rows = queries.reference_rows(a.submission.board)
    bests = [_bests(each) for each in (a, b)]
    triplets, cases, places, sites, difficulties, categories = zip(*rows, strict=True)
    number = _numbers(cases)
    pairs = [[bests[side][case][n - 1] for case, n in zip(cases, number, strict=True)] for side in (0, 1)]
    keep = np.array([not category or each == category for each in categories])
    return References(
        triplet=np.array(triplets)[keep],
        case=np.array(cases)[keep],
        case_position=np.array(places)[keep],
        site=np.array(sites)[keep],
        difficulty=np.array(difficulties)[keep],
        number=np.array(number)[keep],
        best=np.array([[score for score, _ in side] for side in pairs])[:, keep],
        output=np.array([[output for _, output in side] for side in pairs])[:, keep],
    )


def _numbers(cases: Sequence[int]) -> list[int]:
    """1, 2, 3 within each run of the same case."""
    numbers: list[int] = []
    for i, case in enumerate(cases):
        numbers.append(numbers[-1] + 1 if i and cases[i - 1] == case else 1)
    return numbers


def _bests(evaluation: Evaluation) -> dict[int, list[tuple[float, int]]]:
    """ReleaseCase -> for each reference its best score and the position of the output that has it."""
    found: dict[int, list[tuple[float, int]]] = {}
    for score in queries.matrices_of(evaluation):
        matrix = matrices.of_case(score)
        if not matrix.shape[1]:
            found[score.release_case_id] = [(0.0, -1)] * matrix.shape[0]
            continue
        at = np.nanargmax(np.where(np.isnan(matrix), -1.0, matrix), axis=1)
        best = matrix.max(axis=1)  # NaN where any is
        found[score.release_case_id] = [
            (float(value), score.kept[column] if value != 0 else -1)
            for value, column in zip(best, at.tolist(), strict=True)
        ]
    return found
