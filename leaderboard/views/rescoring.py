"""Generations of a board: what was scored anew, why and with what change; and how to cite a board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from leaderboard import queries
from leaderboard.citation import bibtex
from leaderboard.permissions import team_of
from leaderboard.services import rescorings
from medbench.accounts.permissions import may
from medbench.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    import uuid
    from typing import Any

    from leaderboard.models import Rescoring, Submission
    from leaderboard.views.requests import PageRequest
    from medbench.accounts.requests import SignedInRequest


@require_safe
def generations(request: PageRequest, pk: uuid.UUID) -> HttpResponse:
    """Every new generation of a board, the newest first, with the change of ranks and scores."""
    board = queries.board(request.user, pk)
    open_one = queries.open_rescoring(board)
    found = list(board.rescorings.all())
    wanted = {row["submission"] for each in found for row in each.changes or ()}
    seen = {str(each.pk): each for each in queries.submissions(request.user).filter(pk__in=wanted)}
    context = {
        "board": board,
        "rescorings": [(each, _changes(each, seen)) for each in found],
        "open_one": open_one,
        "progress": rescorings.progress(open_one) if open_one else None,
        "may_manage": may(request.user, "board.manage", team_of(board)),
    }
    return render(request, "leaderboard/generations.html", context)


def _changes(rescoring: Rescoring, seen: dict[str, Submission]) -> list[dict[str, Any]]:
    """The rows of submissions that the reader still may see, the best of today first."""
    rows = [
        row
        | {
            "submission": seen[row["submission"]],
            "difference": None
            if row["f1_before"] is None or row["f1_after"] is None
            else row["f1_after"] - row["f1_before"],
        }
        for row in rescoring.changes or ()
        if row["submission"] in seen
    ]
    return sorted(rows, key=lambda row: (row["rank_after"] is None, row["rank_after"]))


@login_required
@require_POST
def rescore(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """Ask for a new generation, with a reason."""
    board = queries.board(request.user, pk)
    try:
        rescorings.rescore(board, request.POST.get("reason", ""), request.user)
    except (Conflict, InvalidInput) as error:
        messages.error(request, error.message)
    return redirect("leaderboard:generations", board.pk)


@login_required
@require_POST
def cancel(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """Give up the generation that is being built."""
    board = queries.board(request.user, pk)
    rescoring = queries.open_rescoring(board)
    if rescoring is None:
        rescorings.require_curator(board, request.user)
        messages.error(request, "No new generation is being built.")
    else:
        rescorings.cancel(rescoring, request.user)
    return redirect("leaderboard:generations", board.pk)


@require_safe
def citation(request: PageRequest, pk: uuid.UUID) -> HttpResponse:
    """A BibTeX entry of the board as it stands now."""
    board = queries.board(request.user, pk)
    text = bibtex(board, queries.ranking(board), request.build_absolute_uri(f"/boards/{board.pk}/"))
    response = HttpResponse(text, content_type="application/x-bibtex; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="board.bib"'
    return response
