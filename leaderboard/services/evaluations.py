"""The evaluations of a submission: queued, stopped, run again, and done in the background."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from leaderboard import stages
from leaderboard.models import Evaluation, Submission
from leaderboard.permissions import require_manage, team_of
from leaderboard.services import quota, rankings, scoring_judges, scoring_words
from leaderboard.services.board_scores import seed_for
from medbench import jobs
from medbench.accounts.permissions import require
from medbench.errors import Conflict, InvalidInput, NotAllowed
from medbench.scoring.novelty import UNDETERMINED

if TYPE_CHECKING:
    from medbench.accounts.models import User
    from medbench.jobs.attempt import Attempt

FLAGGED, MIXED = "flagged", "mixed_weighting"  # why an evaluation is not ranked, as reports say it

log = logging.getLogger(__name__)


def queue(submission: Submission, by: User) -> Evaluation:
    """Queue the next evaluation of a submission, inside the caller's transaction."""
    pk = uuid.uuid4()
    board = submission.board
    generation = submission.evaluations.count() + 1
    if _is_judged(submission):
        kind, total = stages.JUDGES_KIND, 0  # pairs, counted by the job
    else:
        kind, total = stages.WORDS_KIND, board.release.cases.filter(split=board.split).count()
    job = jobs.services.enqueue(kind, {"evaluation": str(pk)}, requested_by=by, total=total)
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
    rescoring = newest.rescoring
    if rescoring and not (rescoring.switched_at or rescoring.cancelled_at) and newest.finished_at:
        raise Conflict("The whole board is being scored anew, this submission with it.")
    if newest.finished_at is None and not (rescoring and rescoring.cancelled_at):
        if newest.job.state == newest.job.State.CANCELLED:  # what counted for nothing counts from now on
            quota.lock()
            quota.require_slot(submission.submitted_by, submission.board)
        jobs.services.retry(newest.job)
    else:
        queue(submission, by)


@transaction.atomic
def retry_unscored(submission: Submission, by: User) -> None:
    """Ask again for the pairs and votes that a finished evaluation lacks, and for nothing else: the
    next generation finds all other answers in the store. Raises NotAllowed, Conflict."""
    require_manage(by, submission)
    if not has_gaps(_newest(submission)):
        raise Conflict("Nothing is missing in this evaluation that could be asked for again.")
    run_again(submission, by)


def has_gaps(evaluation: Evaluation) -> bool:
    """Whether a finished evaluation lacks scores or votes that judges may yet give."""
    is_open = evaluation.blocked_by == scoring_judges.INCOMPLETE or evaluation.novelty_reason == UNDETERMINED
    return evaluation.finished_at is not None and is_open


@transaction.atomic
def clear_flags(submission: Submission, reason: str, by: User) -> None:
    """A curator read what was flagged and found nothing wrong: the evaluation may be ranked.

    Raises NotAllowed for all but curators and for one's own submission, InvalidInput without a reason,
    Conflict where no flag holds it.
    """
    require(by, "board.manage", team_of(submission.board))
    if submission.submitted_by_id == by.pk:
        raise NotAllowed("Another curator has to look at the flags of your own submission.")
    if not reason.strip():
        raise InvalidInput("Say what you looked at and why it is in order. The reason is kept.")
    newest = submission.evaluations.select_for_update().latest("generation")
    if newest.blocked_by != FLAGGED or newest.finished_at is None:
        raise Conflict("No flag holds the newest evaluation of this submission.")
    newest.blocked_by = MIXED if _is_mixed(newest) else ""
    newest.cleared_by, newest.cleared_at, newest.cleared_reason = by, timezone.now(), reason.strip()
    newest.save(update_fields=["blocked_by", "cleared_by", "cleared_at", "cleared_reason"])
    rankings.request(submission.board_id)
    log.warning("flags of evaluation %s cleared by user %s", newest.pk, by.pk)


def _is_mixed(evaluation: Evaluation) -> bool:
    """Whether the report has a judge with weighted and unweighted scores, which a flag came before."""
    judges = (evaluation.report or {}).get("judges", ())
    return any(0 < j["n_weighted"] < j["n_verdicts"] - j["n_unscored"] for j in judges)


def _newest(submission: Submission) -> Evaluation:
    return submission.evaluations.select_related("job", "rescoring").latest("generation")


def evaluate(attempt: Attempt) -> None:
    """Score what is not scored yet, then write the totals. May run again after a crash: what is scored
    is kept, and nothing is written by an attempt that was superseded."""
    evaluation = Evaluation.objects.select_related(
        "submission__board__release", "submission__board__profile"
    ).get(pk=attempt.payload["evaluation"])
    if evaluation.finished_at is not None:
        return
    by = scoring_judges if _is_judged(evaluation.submission) else scoring_words
    found = by.score(attempt, evaluation)
    attempt.progress(stage=stages.RANK)
    with attempt.writing():  # the totals and the end in one: from then on it stands on its board
        unfinished = Evaluation.objects.filter(pk=evaluation.pk, finished_at=None)
        unfinished.update(**found, finished_at=timezone.now())
        rankings.request(evaluation.submission.board_id)


def _is_judged(submission: Submission) -> bool:
    return submission.board.profile.metric == "judges"
