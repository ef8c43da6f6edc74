"""The novelty of a judged submission as its evaluation keeps it: shares, intervals, and what is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leaderboard.services.board_scores import seed_for
from medbench.evals.voters import NO_IMAGE
from medbench.scoring.intervals import FEWEST_CASES, mean_interval, percentiles, resample_counts
from medbench.scoring.novelty import Counts, n_matched, voted_novelty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leaderboard.models import Board
    from medbench.evals.judges import JudgedCase
    from medbench.evals.voters import VotedCase

UNSCORED = "unscored_pairs"
NO_VOTERS = "no_voters"


def novelty_fields(
    board: Board, tau: float, judged: Sequence[JudgedCase], voted: Mapping[str, VotedCase]
) -> dict[str, Any]:
    """The fields of an evaluation. `voted` is by case id, empty where the profile has no voters."""
    if not all(case.is_complete for case in judged):
        return {"original": None, "innovation": None, "novelty_reason": UNSCORED, "novelty": None}
    cases = [voted[case.case_id].counts if voted else _unvoted(case, tau) for case in judged]
    found = voted_novelty(cases, tau)
    reasons: dict[str, int] = {}
    for case in voted.values():
        for reason, times in case.reasons.items():
            reasons[reason] = reasons.get(reason, 0) + times
    kept = found._asdict() | {
        "reasons": reasons,
        "bounds": _bounds(cases),
        "ci": _intervals(board, cases, whole=found.innovation is not None),
    }
    if not voted:
        kept["reason"] = NO_VOTERS
    elif NO_IMAGE in reasons:
        kept["reason"] = NO_IMAGE
    return {
        "original": found.original,
        "innovation": found.innovation,
        "novelty_reason": "" if found.innovation is not None else kept["reason"],
        "novelty": kept,
    }


def _unvoted(case: JudgedCase, tau: float) -> Counts:
    matched = n_matched(case.matrix, tau)
    unmatched = len(case.kept.indexes) - matched
    return Counts(matched, unmatched, 0, unmatched)


def _bounds(cases: Sequence[Counts]) -> list[float]:
    """Innovation if every undetermined output were incorrect, and if it were correct."""
    sides = (cases, [case._replace(correct=case.correct + case.undetermined) for case in cases])
    return [float(np.mean([case.innovation for case in side])) for side in sides]


def _intervals(board: Board, cases: Sequence[Counts], *, whole: bool) -> dict[str, Any] | None:
    """95 % intervals over cases, by the resamples that all entries of the board share."""
    if len(cases) < FEWEST_CASES:
        return None
    counts = resample_counts(len(cases), seed=seed_for(board))
    original, innovation = ([getattr(c, name) for c in cases] for name in ("original", "innovation"))
    found: dict[str, Any] = {"original": mean_interval(original, counts)}
    if whole:
        new = np.subtract(innovation, original)
        found |= {"innovation": mean_interval(innovation, counts), "new": mean_interval(new.tolist(), counts)}
        rest = counts @ (1 - np.array(original))
        has_rest = rest > 0
        if has_rest.all():
            found["new_of_unmatched"] = percentiles(counts @ new / rest)
    return found
