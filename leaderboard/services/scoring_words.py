"""Scoring by ROUGE-1: a few cases at a time, each written once."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from leaderboard import matrices, stages
from leaderboard.models import CaseScore, Evaluation
from leaderboard.services.board_scores import outputs_by_case, references_of, totals, word_profile
from medbench.scoring.matching import score_case

if TYPE_CHECKING:
    from leaderboard.services.board_scores import References
    from medbench.jobs.attempt import Attempt
    from medbench.scoring.matching import Scored

CASES_AT_ONCE = 32  # a commit for each would cost more than its score
NO_JUDGES = "no_judges"  # shared words say nothing of what is new


def score(attempt: Attempt, evaluation: Evaluation) -> dict[str, Any]:
    """Score what is not scored yet, and answer the totals as fields of the evaluation."""
    _score_cases(attempt, evaluation)
    attempt.progress(stage=stages.INTERVALS)
    cases = list(evaluation.case_scores.defer("matrix"))
    found = totals(evaluation.submission.board, cast("list[Scored]", cases))  # ROUGE-1 leaves no gaps
    return found | {"novelty_reason": NO_JUDGES}


def _score_cases(attempt: Attempt, evaluation: Evaluation) -> None:
    outputs = outputs_by_case(evaluation.submission)
    cases = references_of(evaluation.submission.board)
    scored = set(evaluation.case_scores.values_list("release_case", flat=True))
    attempt.progress(done=len(scored), total=len(cases), stage=stages.ROUGE_1)
    waiting = [case for case in cases if case.pk not in scored]
    for start in range(0, len(waiting), CASES_AT_ONCE):
        some = waiting[start : start + CASES_AT_ONCE]
        rows = [case_score(evaluation, case, outputs[case.pk]) for case in some]
        with attempt.writing():
            CaseScore.objects.bulk_create(rows)
            attempt.progress(done=len(scored) + start + len(rows))


def case_score(evaluation: Evaluation, case: References, outputs: list[str] | None) -> CaseScore:
    """One case as it is stored, not stored yet."""
    found = asdict(score_case(case.texts, outputs, word_profile(evaluation.submission.board)))
    found |= {"kept": list(found["kept"]), "matrix": matrices.to_bytes(found["matrix"])}
    return CaseScore(evaluation=evaluation, release_case_id=case.pk, **found)
