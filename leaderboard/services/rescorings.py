"""A new generation of a whole board: built beside the one that is shown, switched to at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from leaderboard import queries
from leaderboard.models import Board, Evaluation, Ranking, Rescoring, Submission
from leaderboard.permissions import team_of
from leaderboard.services import evaluations, notices, rankings
from leaderboard.standings import arrange
from medbench import jobs
from medbench.accounts.permissions import require
from medbench.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    import uuid

    from medbench.accounts.models import User
    from medbench.jobs.attempt import Attempt


def require_curator(board: Board, person: User) -> None:
    """Raise NotAllowed for all but the curators of the board."""
    require(person, "board.manage", team_of(board))


@transaction.atomic
def rescore(board: Board, reason: str, by: User) -> Rescoring:
    """Queue a new evaluation of every scored submission that is not withdrawn. What comes in meanwhile
    is scored once, by today's software, and shown at once.

    Raises NotAllowed for all but curators, InvalidInput without a reason, Conflict while one is built
    or where nothing is scored.
    """
    require_curator(board, by)
    if not reason.strip():
        raise InvalidInput("Say why the board is scored anew. Everybody who reads it sees the reason.")
    Board.objects.select_for_update(of=("self",)).get(pk=board.pk)
    if queries.open_rescoring(board):
        raise Conflict("A new generation of this board is being built already.")
    scored = Submission.objects.filter(
        board=board, withdrawn_at=None, evaluations__finished_at__isnull=False
    ).distinct()
    if not scored:
        raise Conflict("No submission of this board is scored, so there is nothing to score anew.")
    number = (board.rescorings.values_list("number", flat=True).first() or 1) + 1
    made = Rescoring.objects.create(board=board, number=number, reason=reason.strip(), requested_by=by)
    for submission in scored.select_related("board__release", "board__profile"):
        new = evaluations.queue(submission, by)
        Evaluation.objects.filter(pk=new.pk).update(rescoring=made)
    return made


@transaction.atomic
def cancel(rescoring: Rescoring, by: User) -> None:
    """Give up the new generation; the board stays as it is. Raises NotAllowed, Conflict."""
    require_curator(rescoring.board, by)
    ended = Rescoring.objects.filter(pk=rescoring.pk, switched_at=None, cancelled_at=None)
    if not ended.update(cancelled_at=timezone.now()):
        raise Conflict("This new generation is finished or cancelled already.")
    for each in rescoring.evaluations.select_related("job").filter(finished_at=None):
        if not each.job.is_over:
            jobs.services.cancel(each.job)


def progress(rescoring: Rescoring) -> dict[str, int]:
    """How many evaluations of submissions that still count are done, and how many failed."""
    rows = rescoring.evaluations.filter(submission__withdrawn_at=None)
    return {
        "done": rows.filter(finished_at__isnull=False).count(),
        "failed": rows.filter(finished_at=None, job__state__in=("failed", "cancelled")).count(),
        "total": rows.count(),
    }


def refresh(attempt: Attempt) -> None:
    """Switch the board to a new generation that is whole, and rank what then stands on it."""
    board = Board.objects.select_related("release", "profile").get(pk=attempt.payload["board"])
    whole = _whole(board)
    before = _places(queries.rankable(board), queries.ranking(board))
    found = rankings.compute(board, queries.rankable(board, whole))
    with attempt.writing():
        if whole:
            _switch(whole, before, found)
        rankings.store(found)


def _whole(board: Board) -> Rescoring | None:
    rescoring = queries.open_rescoring(board)
    if rescoring is None:
        return None
    count = progress(rescoring)
    return rescoring if count["done"] == count["total"] else None


def _switch(rescoring: Rescoring, before: dict[uuid.UUID, Any], found: Ranking) -> None:
    """Show the new generation, with a report of what it changed; nothing where it was cancelled."""
    after = _places(queries.rankable(rescoring.board, rescoring), found)
    changes = [
        {
            "submission": str(pk),
            "rank_before": before.get(pk, (None, None))[0],
            "rank_after": after.get(pk, (None, None))[0],
            "f1_before": before.get(pk, (None, None))[1],
            "f1_after": after.get(pk, (None, None))[1],
        }
        for pk in {**before, **after}
    ]
    waiting = Rescoring.objects.filter(pk=rescoring.pk, switched_at=None, cancelled_at=None)
    if not waiting.update(switched_at=timezone.now(), changes=changes):
        rankings.request(rescoring.board_id)  # cancelled meanwhile: rank the old generation
        return
    new = rescoring.evaluations.filter(submission__withdrawn_at=None, finished_at__isnull=False)
    notices.rescored(list(new.select_related("submission__submitted_by").defer("report", "novelty")))


def _places(standing: list[Evaluation], ranking: Ranking | None) -> dict[uuid.UUID, Any]:
    """Submission id -> rank as the board shows it, and F1."""
    ranked = arrange(standing, ranking=ranking).ranked
    return {each.evaluation.submission_id: (each.shown_rank, each.evaluation.f1) for each in ranked}
