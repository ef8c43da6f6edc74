"""One judged case as a row: `CaseScore.judged` and `CaseScore.voted`.

    judged = {"judges": [name, ...], "raw": [judge][reference][output], "expected": the same or null,
              "why": the same, the reason of the score or why there is none}
    voted = {"voters": [name, ...], "matched": [of each kept output], "votes": [{"position", "decision",
             "reason", "votes": [{"vote", "why"}, ...]}, ...]}

Scores are 1 to 10, a vote is true for correct; null where there is none. The whole answers
stand in JudgeVerdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leaderboard import matrices
from leaderboard.services.verdict_store import storable

if TYPE_CHECKING:
    from medbench.evals.judges import Cell, JudgedCase
    from medbench.evals.profiles import EvaluatorProfile as Instrument
    from medbench.evals.questions import Verdict
    from medbench.evals.voters import VotedCase

COUNTS = ("n_references", "n_outputs", "n_empty_removed", "n_duplicates_removed", "is_missing")
SCORES = ("recall", "precision", "f1")


def judged_fields(instrument: Instrument, case: JudgedCase) -> dict[str, Any]:
    """The fields of a CaseScore, without the votes."""
    counted, score = case.bounds[0], case.score
    return {
        **{name: getattr(counted, name) for name in COUNTS},
        **{name: score and getattr(score, name) for name in SCORES},
        "kept": list(counted.kept),
        "matrix": matrices.to_bytes(case.matrix),
        "judged": storable(_judged(instrument, case)),
    }


def _judged(instrument: Instrument, case: JudgedCase) -> dict[str, Any]:
    def each(value: Any) -> list[Any]:
        return [[[value(cell) for cell in row.cells[i]] for row in case.rows] for i in judges]

    judges = range(len(instrument.judges))
    is_weighted = any(cell.expected is not None for cell in case.cells())
    return {
        "judges": [judge.name for judge in instrument.judges],
        "raw": each(lambda cell: cell.raw),
        "expected": each(lambda cell: cell.expected) if is_weighted else None,
        "why": each(_why),
    }


def _why(cell: Cell) -> str:
    return cell.failed.reason if cell.failed else cell.rationale


def voted_fields(instrument: Instrument, case: VotedCase) -> dict[str, Any]:
    """The value of `CaseScore.voted`."""
    votes = [
        {
            "position": each.position,
            "decision": each.decision,
            "reason": each.reason,
            "votes": [_vote(verdict) for verdict in each.verdicts],
        }
        for each in case.votes
    ]
    found: dict[str, Any] = storable(
        {
            "voters": [voter.name for voter in instrument.voters],
            "matched": [bool(each) for each in np.asarray(case.matched)],
            "votes": votes,
        }
    )
    return found


def _vote(verdict: Verdict) -> dict[str, Any]:
    if verdict.answer is None:
        return {"vote": None, "why": verdict.reason}
    return {"vote": verdict.answer["vote"] == "correct", "why": verdict.answer["reasoning"]}
