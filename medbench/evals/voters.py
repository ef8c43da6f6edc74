"""Three voters on what no reference says: is an unmatched output correct all the same?

Every unmatched output is voted on; the vote is the check of its faithfulness. Voters see the rendered
slide, the goal and the submission's outputs before this one, and reason before they vote. Two of three
decide. Source: metrics_spec section 4.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medbench.evals.questions import vote_question
from medbench.scoring.novelty import Counts, counts, decide, matched
from medbench.scoring.text import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from medbench.evals.judges import CaseToJudge, JudgedCase
    from medbench.evals.profiles import EvaluatorProfile
    from medbench.evals.questions import Question, Verdict
    from medbench.evals.session import Session
    from medbench.scoring.matching import Kept
    from medbench.scoring.novelty import Decision

NO_IMAGE = "no_image"


@dataclass(frozen=True, slots=True)
class Votes:
    """The votes on one unmatched output, named by its position as uploaded. `reason` says why there
    were none."""

    position: int
    decision: Decision
    verdicts: tuple[Verdict, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class VotedCase:
    """The novelty of one case: `matched` for each kept output, votes for each unmatched one."""

    case_id: str
    matched: tuple[bool, ...]
    votes: tuple[Votes, ...]

    @property
    def counts(self) -> Counts:
        """What `scoring.novelty.voted_novelty` makes totals of."""
        return counts(self.matched, [vote.decision for vote in self.votes])

    @property
    def reasons(self) -> Counter[str]:
        """Why outputs or single votes are undetermined, with how many."""
        missing = Counter(vote.reason for vote in self.votes if vote.reason)
        return missing + Counter(
            verdict.reason for vote in self.votes for verdict in vote.verdicts if verdict.answer is None
        )


def vote_on_case(
    session: Session, profile: EvaluatorProfile, case: CaseToJudge, judged: JudgedCase, image: bytes | None
) -> VotedCase:
    """Let the voters decide on the unmatched outputs of a judged case. `image` is the release's
    rendered slide as PNG; without one nothing can be decided.

    Raises Stopped, and InvalidInput where a pair of the case is unscored or the profile has no voters.
    """
    is_matched = matched(judged.matrix, profile.tau)
    asked = dict(_asked(profile, case, judged.kept, is_matched, image) if image else ())
    questions = [question for each in asked.values() for question in each]
    verdicts = {verdict.key: verdict for verdict in session.ask(questions)}
    votes = []
    for column, position in enumerate(judged.kept.indexes):
        if is_matched[column]:
            continue
        own = tuple(verdicts[question.key] for question in asked.get(position, ()))
        decision = decide(None if each.answer is None else each.answer["vote"] == "correct" for each in own)
        votes.append(Votes(position, decision, own, "" if image else NO_IMAGE))
    return VotedCase(case.case_id, tuple(is_matched.tolist()), tuple(votes))


def vote_questions_of(
    profile: EvaluatorProfile, case: CaseToJudge, judged: JudgedCase, image: bytes
) -> list[Question]:
    """What voting on a judged case asks, for an estimate."""
    is_matched = matched(judged.matrix, profile.tau)
    asked = _asked(profile, case, judged.kept, is_matched, image)
    return [question for _, questions in asked for question in questions]


def _asked(
    profile: EvaluatorProfile, case: CaseToJudge, kept: Kept, is_matched: NDArray[np.bool_], image: bytes
) -> Iterator[tuple[int, list[Question]]]:
    """The position of each unmatched output and the question to each voter; the history is what the
    submission says before it on this case."""
    texts = [normalise((case.outputs or ())[i]) for i in kept.indexes]
    goal = normalise(case.goal)
    for column, position in enumerate(kept.indexes):
        if not is_matched[column]:
            history = texts[:column]
            yield (
                position,
                [vote_question(voter, goal, history, texts[column], image) for voter in profile.voters],
            )
