"""What judges and voters said of one case, as people read it: see services.judged_cases for the form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from leaderboard import matrices
from medbench.scoring.rouge import pair_matrix
from medbench.scoring.text import normalise

if TYPE_CHECKING:
    from leaderboard.models import CaseScore, Output
    from medbench.cases.models import TripletVersion
    from medbench.scoring.rouge import Profile

SCALE = 10  # of a judge's scores
MEAN, WORDS = "mean", "words"


@dataclass(frozen=True)
class Opinion:
    """One judge on one pair. `score` None: unscored, and `why` says why."""

    judge: str
    score: int | None
    expected: float | None  # weighted by probabilities, where it is
    why: str


@dataclass(frozen=True)
class Decision:
    """What the voters made of one unmatched output."""

    decision: str  # correct, incorrect, undetermined
    reason: str
    votes: list[tuple[str, bool | None, str]]  # voter, vote, why

    @property
    def word(self) -> str:
        return {"correct": "new, correct", "incorrect": "not correct"}.get(self.decision, "undetermined")


def metrics(score: CaseScore) -> list[tuple[str, str]]:
    """What the map can show: the board's own score first, then each judge, then shared words."""
    if not score.judged:
        return [(MEAN, "ROUGE-1 F")]
    judges = score.judged["judges"]
    each = [(f"judge-{number}", name) for number, name in enumerate(judges, 1)]
    return [(MEAN, "Judges, mean" if len(judges) > 1 else "Judge"), *each, (WORDS, "ROUGE-1 F")]


def matrix_of(
    score: CaseScore, metric: str, references: list[TripletVersion], outputs: list[Output], profile: Profile
) -> np.ndarray:
    """The pair matrix by one of `metrics`."""
    if metric == MEAN:
        return matrices.of_case(score)
    if metric == WORDS:
        kept = [normalise(outputs[position].insight) for position in score.kept]
        return pair_matrix([normalise(each.insight) for each in references], kept, profile)
    assert score.judged is not None  # else there is no such metric
    judge = int(metric.removeprefix("judge-")) - 1
    raw = np.array(score.judged["raw"][judge], dtype=float)  # null is NaN
    if score.judged["expected"]:
        expected = np.array(score.judged["expected"][judge], dtype=float)
        raw = np.where(np.isnan(expected), raw, expected)
    found: np.ndarray = raw.reshape(score.n_references, score.n_outputs) / SCALE
    return found


def opinions(score: CaseScore, reference: int, output: int) -> list[Opinion]:
    """What each judge said of the pair of a reference and an output, both numbered from 1."""
    if not score.judged:
        return []
    row, column = reference - 1, score.kept.index(output - 1)
    said: dict[str, Any] = score.judged
    return [
        Opinion(
            name,
            said["raw"][i][row][column],
            said["expected"][i][row][column] if said["expected"] else None,
            said["why"][i][row][column],
        )
        for i, name in enumerate(said["judges"])
    ]


def decisions(score: CaseScore) -> dict[int, Decision]:
    """Output position -> what the voters made of it; matched ones were not voted on."""
    if not score.voted:
        return {}
    voters = score.voted["voters"]
    return {
        each["position"]: Decision(
            each["decision"],
            each["reason"] or "",
            [
                (name, vote["vote"], vote["why"] or "")
                for name, vote in zip(voters, each["votes"], strict=False)
            ],
        )
        for each in score.voted["votes"]
    }
