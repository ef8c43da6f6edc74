"""Scoring a submission in the background: case by case, each written once, totals at the end."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import TYPE_CHECKING, cast

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from leaderboard import matrices, stages
from leaderboard.models import CaseScore, Evaluation, Submission
from leaderboard.permissions import require_manage
from leaderboard.services import quota
from leaderboard.services.board_scores import references_of, seed_for, totals, word_profile
from medbench import jobs
from medbench.errors import Conflict
from medbench.scoring.matching import score_case

if TYPE_CHECKING:
    from leaderboard.services.board_scores import References
    from medbench.accounts.models import User
    from medbench.jobs.attempt import Attempt
    from medbench.scoring.matching import Scored

KIND = "leaderboard.evaluate"


def queue(submission: Submission, by: User) -> Evaluation:
    """Queue the next evaluation of a submission, inside the caller's transaction."""
    pk = uuid.uuid4()
    board = submission.board
    generation = submission.evaluations.count() + 1
    total = board.release.cases.filter(split=board.split).count()
    job = jobs.services.enqueue(KIND, {"evaluation": str(pk)}, requested_by=by, total=total)
    return Evaluation.objects.create(
        pk=pk,
        submission=submission,
        generation=generation,
        job=job,
        software_version=settings.VERSION,
        seed=seed_for(board),
    )


def cancel(submission: Submission, by: User) -> None:
    """Stop the newest evaluation while it waits or runs. Raises NotAllowed, Conflict."""
    require_manage(by, submission)
    jobs.services.cancel(_newest(submission).job)


@transaction.atomic
def run_again(submission: Submission, by: User) -> None:
    """Go on with a failed or cancelled evaluation where it stopped; score anew, as a new generation,
    where the newest one is finished. Raises NotAllowed, Conflict while one waits or runs."""
    require_manage(by, submission)
    Submission.objects.select_for_update().get(pk=submission.pk)  # two requests make one generation
    newest = _newest(submission)
    if not newest.job.is_over:
        raise Conflict("This evaluation waits or runs already.")
    if newest.finished_at is None:
        if newest.job.state == newest.job.State.CANCELLED:  # what counted for nothing counts from now on
            quota.lock()
            quota.require_slot(submission.submitted_by, submission.board)
        jobs.services.retry(newest.job)
    else:
        queue(submission, by)


def _newest(submission: Submission) -> Evaluation:
    return submission.evaluations.select_related("job").latest("generation")


def evaluate(attempt: Attempt) -> None:
    """Score what is not scored yet, then write the totals. May run again after a crash: a scored case
    is kept, and nothing is written by an attempt that was superseded."""
    evaluation = Evaluation.objects.select_related(
        "submission__board__release", "submission__board__profile"
    ).get(pk=attempt.payload["evaluation"])
    if evaluation.finished_at is None:
        _score_cases(attempt, evaluation)
        _write_totals(attempt, evaluation)


def _score_cases(attempt: Attempt, evaluation: Evaluation) -> None:
    outputs = _outputs_by_case(evaluation.submission)
    cases = references_of(evaluation.submission.board)
    scored = set(evaluation.case_scores.values_list("release_case", flat=True))
    attempt.progress(done=len(scored), total=len(cases), stage=stages.ROUGE_1)
    for case in cases:
        if case.pk in scored:
            continue
        row = _case_score(evaluation, case, outputs[case.pk])
        scored.add(case.pk)
        with attempt.writing():
            row.save(force_insert=True)
            attempt.progress(done=len(scored))


def _outputs_by_case(submission: Submission) -> dict[int, list[str] | None]:
    """The raw insights of every case as uploaded; None for a case that the file does not name."""
    board = submission.board
    cases = board.release.cases.filter(split=board.split).values_list("pk", flat=True)
    found: dict[int, list[str]] = {pk: [] for pk in cases}
    for case, insight in submission.outputs.order_by("position").values_list("release_case", "insight"):
        found[case].append(insight)
    return {**found, **dict.fromkeys(submission.missing_cases)}


def _case_score(evaluation: Evaluation, case: References, outputs: list[str] | None) -> CaseScore:
    score = asdict(score_case(case.texts, outputs, word_profile(evaluation.submission.board)))
    score |= {"kept": list(score["kept"]), "matrix": matrices.to_bytes(score["matrix"])}
    return CaseScore(evaluation=evaluation, release_case_id=case.pk, **score)


def _write_totals(attempt: Attempt, evaluation: Evaluation) -> None:
    """Totals and the end of the evaluation in one write: from then on it stands on its board."""
    attempt.progress(stage=stages.INTERVALS)
    cases = list(evaluation.case_scores.defer("matrix"))
    found = totals(evaluation.submission.board, cast("list[Scored]", cases))  # ROUGE-1 leaves no gaps
    attempt.progress(stage=stages.RANK)
    with attempt.writing():
        unfinished = Evaluation.objects.filter(pk=evaluation.pk, finished_at=None)
        unfinished.update(**found, finished_at=timezone.now())
