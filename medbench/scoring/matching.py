"""Insights against references: which outputs count, recall, precision and F1 of a case and of all.

Source of every definition: metrics_spec sections 1 and 2, decisions D1 to D6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from medbench.errors import InvalidInput
from medbench.scoring.rouge import DEFAULT_PROFILE, Profile, matrix_of_words, tokenise
from medbench.scoring.text import normalise

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray


class Prf(NamedTuple):
    """Recall, precision and their harmonic mean, each in [0, 1]."""

    recall: float
    precision: float
    f1: float


@dataclass(frozen=True, slots=True)
class Kept:
    """The outputs of a case that are scored: not blank, and each only once.

    `indexes` are positions as uploaded. `same_as` says for each repeated output which kept one
    it repeats.
    """

    indexes: tuple[int, ...]
    words: tuple[tuple[str, ...], ...]
    empty: tuple[int, ...]
    same_as: dict[int, int]


@dataclass(frozen=True, slots=True)
class CaseScore:
    """One case. Row i of `matrix` is reference i, column j the output uploaded at `kept[j]`."""

    n_references: int
    n_outputs: int  # kept
    n_empty_removed: int
    n_duplicates_removed: int
    is_missing: bool
    recall: float
    precision: float
    f1: float
    kept: tuple[int, ...]
    matrix: NDArray[np.float64]


class Scored(Protocol):
    """What totals are made of: a CaseScore, or a row that keeps its numbers."""

    @property
    def n_references(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def n_empty_removed(self) -> int: ...
    @property
    def n_duplicates_removed(self) -> int: ...
    @property
    def is_missing(self) -> bool: ...
    @property
    def recall(self) -> float: ...
    @property
    def precision(self) -> float: ...
    @property
    def f1(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Totals:
    """All cases of a split. `f1` is the headline: the harmonic mean of the means (D1)."""

    n_cases: int
    n_missing_cases: int
    n_empty_cases: int  # named in the file with an empty list
    n_empty_removed: int
    n_duplicates_removed: int
    recall: float
    precision: float
    f1: float
    mean_case_f1: float
    recall_micro: float  # pooled over references
    precision_micro: float  # pooled over outputs; 0 where there is none


def harmonic_mean(recall: float, precision: float) -> float:
    """2RP / (R + P), and 0 where both are 0."""
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def prf(matrix: NDArray[np.float64]) -> Prf:
    """Scores of a pair matrix, references x outputs: recall is the mean of the row maxima, precision
    the mean of the column maxima, both 0 without outputs.

    Raises InvalidInput `invalid_case_empty_gt` without references: nothing can be recalled.
    """
    n_references, n_outputs = matrix.shape
    if not n_references:
        raise InvalidInput("A case without references cannot be scored.", code="invalid_case_empty_gt")
    if not n_outputs:
        return Prf(0.0, 0.0, 0.0)
    recall = _mean(matrix.max(axis=1).tolist())
    precision = _mean(matrix.max(axis=0).tolist())
    return Prf(recall, precision, harmonic_mean(recall, precision))


def kept_outputs(outputs: Sequence[str], profile: Profile = DEFAULT_PROFILE) -> Kept:
    """Sort out blank outputs and repeats (D5): the first of each counts.

    Repeats have the same words under `profile`; texts without any word, the same normalised text.
    """
    indexes, words, empty = [], [], []
    first: dict[tuple[str, ...] | str, int] = {}
    same_as: dict[int, int] = {}
    for i, raw in enumerate(outputs):
        text = normalise(raw)
        if not text:
            empty.append(i)
            continue
        found = tuple(tokenise(text, profile))
        if first.setdefault(found or text, i) != i:
            same_as[i] = first[found or text]
            continue
        indexes.append(i)
        words.append(found)
    return Kept(tuple(indexes), tuple(words), tuple(empty), same_as)


def score_case(
    references: Sequence[str], outputs: Sequence[str] | None, profile: Profile = DEFAULT_PROFILE
) -> CaseScore:
    """Score one case from raw texts. `outputs` is None where the file does not name the case.

    Raises InvalidInput without references.
    """
    kept = kept_outputs(outputs or (), profile)
    matrix = matrix_of_words([tokenise(normalise(text), profile) for text in references], kept.words)
    return case_score(kept, matrix, is_missing=outputs is None)


def case_score(kept: Kept, matrix: NDArray[np.float64], *, is_missing: bool) -> CaseScore:
    """One case from the scores of its pairs, references x kept outputs, whoever gave them.

    Raises InvalidInput without references.
    """
    recall, precision, f1 = prf(matrix)
    return CaseScore(
        n_references=matrix.shape[0],
        n_outputs=len(kept.indexes),
        n_empty_removed=len(kept.empty),
        n_duplicates_removed=len(kept.same_as),
        is_missing=is_missing,
        recall=recall,
        precision=precision,
        f1=f1,
        kept=kept.indexes,
        matrix=matrix,
    )


def assigned(matrix: NDArray[np.float64]) -> Prf:
    """`prf` where each output may answer one reference only and each reference one output: the pairs
    of the one-to-one assignment with the largest sum.

    A diagnostic beside the headline: far below it, many outputs live on the same reference. Source:
    metrics_spec section 1, gaming notes.
    """
    from scipy.optimize import linear_sum_assignment  # slow to import, and only this needs it

    n_references, n_outputs = matrix.shape
    if not n_outputs:
        return Prf(0.0, 0.0, 0.0)
    total = math.fsum(matrix[linear_sum_assignment(matrix, maximize=True)].tolist())
    recall, precision = total / n_references, total / n_outputs
    return Prf(recall, precision, harmonic_mean(recall, precision))


def assigned_f1(matrices: Collection[NDArray[np.float64]]) -> float:
    """The F1 of the mean `assigned` recall and precision of all cases of a split."""
    cases = [assigned(matrix) for matrix in matrices]
    return harmonic_mean(_mean(case.recall for case in cases), _mean(case.precision for case in cases))


def aggregate(cases: Collection[Scored]) -> Totals:
    """Totals over all cases of a split; missing and empty ones are among them with 0 (D2).

    Raises InvalidInput without cases.
    """
    if not cases:
        raise InvalidInput("There are no cases to score.", code="no_cases")
    recall = _mean(case.recall for case in cases)
    precision = _mean(case.precision for case in cases)
    return Totals(
        n_cases=len(cases),
        n_missing_cases=sum(case.is_missing for case in cases),
        n_empty_cases=sum(_is_empty(case) for case in cases),
        n_empty_removed=sum(case.n_empty_removed for case in cases),
        n_duplicates_removed=sum(case.n_duplicates_removed for case in cases),
        recall=recall,
        precision=precision,
        f1=harmonic_mean(recall, precision),
        mean_case_f1=_mean(case.f1 for case in cases),
        recall_micro=_pooled((case.recall, case.n_references) for case in cases),
        precision_micro=_pooled((case.precision, case.n_outputs) for case in cases),
    )


def _is_empty(case: Scored) -> bool:
    return not (case.is_missing or case.n_outputs or case.n_empty_removed or case.n_duplicates_removed)


def _mean(values: Iterable[float]) -> float:
    """The mean, exact to the last bit in any order of the values."""
    values = list(values)
    return math.fsum(values) / len(values)


def _pooled(means: Iterable[tuple[float, int]]) -> float:
    """The mean over all members of groups of which (mean, size) is known; 0 without members."""
    groups = list(means)
    size = sum(n for _, n in groups)
    return math.fsum(mean * n for mean, n in groups) / size if size else 0.0
