"""Novelty: which outputs restate a reference, and which of the others are correct all the same.

An output is *matched* where its best score reaches tau, else *unmatched*; three voters say of each
unmatched output whether it is correct. With M matched, N unmatched and C correct unmatched ones:
Original = M / (N+M), Innovation = (M+C) / (N+M). Both reward agreement with the references, so the
part that is new stands beside them: C / (N+M), and C / N. Shares of a run without any judge come
from shared words alone; they are provisional and never ranked. Source: metrics_spec section 4.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

TAU = 0.70  # on the judges' scale: "the same finding, a detail missing"
STRIP = (0.5, 0.6, 0.7, 0.8)  # tau changes Original by about 0.11 per 0.1, so others are shown too
LEXICAL_TAU = 0.25
LEXICAL = "lexical_provisional"
UNDETERMINED = "undetermined_votes"
NOTHING_UNMATCHED = "nothing_unmatched"
DECIMALS = 9  # a best score that should equal tau may differ by rounding
MAJORITY = 2  # of three voters

Decision = Literal["correct", "incorrect", "undetermined"]


class Novelty(NamedTuple):
    """`reason` says why `innovation` is None and what `original` is worth."""

    tau: float
    original: float
    innovation: float | None
    reason: str


class Counts(NamedTuple):
    """The outputs of one case: matched, unmatched, and how the unmatched ones were decided."""

    matched: int
    unmatched: int
    correct: int = 0
    undetermined: int = 0

    @property
    def original(self) -> float:
        """M / (N+M); 0 for a case without outputs."""
        return self.matched / max(self.matched + self.unmatched, 1)

    @property
    def innovation(self) -> float:
        """(M+C) / (N+M); 0 for a case without outputs."""
        return (self.matched + self.correct) / max(self.matched + self.unmatched, 1)


class VotedNovelty(NamedTuple):
    """All cases of a split: means over cases, 0 for cases without outputs; *micro* pools all outputs.

    While a vote is undetermined everything that needs votes is None, with `reason`.
    """

    tau: float
    original: float
    innovation: float | None
    new: float | None  # C / (N+M)
    new_of_unmatched: float | None  # C / N
    original_micro: float
    innovation_micro: float | None
    matched: int
    unmatched: int
    correct: int
    undetermined: int
    reason: str


def matched(matrix: NDArray[np.float64], tau: float) -> NDArray[np.bool_]:
    """For each output (column) whether its best score reaches `tau`.

    Raises InvalidInput `unscored_pairs` where a pair has no score (NaN): its best is not known.
    """
    if np.isnan(matrix).any():
        raise InvalidInput("Novelty needs every pair of the case to be scored.", code="unscored_pairs")
    if not matrix.size:
        return np.zeros(matrix.shape[1], dtype=bool)
    best: NDArray[np.float64] = matrix.max(axis=0).round(DECIMALS)
    return best >= round(tau, DECIMALS)


def n_matched(matrix: NDArray[np.float64], tau: float) -> int:
    """The number of outputs (columns) whose best score reaches `tau`."""
    return int(matched(matrix, tau).sum())


def lexical_novelty(matrices: Collection[NDArray[np.float64]], tau: float = LEXICAL_TAU) -> Novelty:
    """Novelty from the ROUGE-1 matrices of all cases; a case without outputs counts with 0."""
    return Novelty(tau, _original(matrices, tau), None, LEXICAL)


def sensitivity(
    matrices: Collection[NDArray[np.float64]], taus: Sequence[float] = STRIP
) -> dict[float, float]:
    """Original at other thresholds, so that nobody takes one tau for the truth."""
    return {tau: _original(matrices, tau) for tau in taus}


def decide(votes: Iterable[bool | None]) -> Decision:
    """The majority of three votes; None is a voter that failed.

    Two of a kind decide, even when the third failed; anything less is undetermined.
    """
    n_of = Counter(votes)
    if n_of[True] >= MAJORITY:
        return "correct"
    return "incorrect" if n_of[False] >= MAJORITY else "undetermined"


def counts(is_matched: Sequence[bool] | NDArray[np.bool_], decisions: Collection[Decision]) -> Counts:
    """The counts of one case; `decisions` are those of its unmatched outputs, one each."""
    n_in = sum(bool(each) for each in is_matched)
    n_out = len(is_matched) - n_in
    if len(decisions) != n_out:
        raise ValueError(f"{n_out} unmatched outputs, {len(decisions)} decisions")
    n_of = Counter(decisions)
    return Counts(n_in, n_out, n_of["correct"], n_of["undetermined"])


def voted_novelty(cases: Collection[Counts], tau: float = TAU) -> VotedNovelty:
    """Novelty of all cases of a split from their counts. Raises InvalidInput without cases."""
    if not cases:
        raise InvalidInput("There are no cases to score.", code="no_cases")
    total = Counts(*map(sum, zip(*cases, strict=True)))
    original = _mean([case.original for case in cases])
    innovation = None if total.undetermined else _mean([case.innovation for case in cases])
    new_of_unmatched = new_among_unmatched(original, innovation)
    reason = UNDETERMINED if innovation is None else ""
    return VotedNovelty(
        tau=tau,
        original=original,
        innovation=innovation,
        new=None if innovation is None else innovation - original,
        new_of_unmatched=new_of_unmatched,
        original_micro=total.original,
        innovation_micro=None if innovation is None else total.innovation,
        **total._asdict(),
        reason=reason or (NOTHING_UNMATCHED if new_of_unmatched is None else ""),
    )


def new_among_unmatched(original: float, innovation: float | None) -> float | None:
    """C / N from the two shares: (Innovation - Original) / (1 - Original). None where every output is
    matched."""
    if innovation is None or original >= 1:
        return None
    return (innovation - original) / (1 - original)


def _original(matrices: Collection[NDArray[np.float64]], tau: float) -> float:
    return _mean([n_matched(matrix, tau) / max(matrix.shape[1], 1) for matrix in matrices])


def _mean(values: Collection[float]) -> float:
    return math.fsum(values) / len(values)
