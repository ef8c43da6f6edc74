"""What curators put up for people of a board's submissions, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard import audits, queries
from leaderboard.forms import ReviewItemsForm
from leaderboard.permissions import team_of
from leaderboard.services import boards
from leaderboard.services.review_items import make_review_items
from medbench.accounts.permissions import require
from medbench.errors import InvalidInput
from medbench.review.models import ReviewItem
from medbench.review.outputs import BOARD

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from medbench.accounts.requests import SignedInRequest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """Make review items; below, the novelty audit of each submission as far as it is."""
    board = queries.board(request.user, pk)
    require(request.user, "board.manage", team_of(board))
    form = ReviewItemsForm(request.POST or None)
    if form.is_valid():
        try:
            made = make_review_items(board, by=request.user, **form.cleaned_data)
        except InvalidInput as error:
            form.add_error("kind", error.message)
        else:
            messages.success(
                request, f"{len(made.items)} items, {made.n_new} of them new. A study can ask about them."
            )
            return redirect("leaderboard:review_items", board.pk)
    found = audits.of_boards([board])
    items = ReviewItem.objects.filter(
        benchmark=board.release.benchmark_id, **{f"payload__{BOARD}": str(board.pk)}
    )
    context = {
        "board": board,
        "form": form,
        "n_outputs": items.filter(kind=ReviewItem.Kind.OUTPUT).count(),
        "n_novelty": items.filter(kind=ReviewItem.Kind.NOVELTY).count(),
        "audits": [
            (each, found[str(each.pk)]) for each in board.submissions.filter(pk__in=found).order_by("number")
        ],
    }
    return render(request, "leaderboard/review_items.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def require_audit(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """Let novelty read “unverified” until it is audited, or no longer."""
    board = queries.board(request.user, pk)
    is_required = request.POST.get("required") == "yes"
    boards.require_novelty_audit(board, request.user, is_required=is_required)
    words = "Novelty reads “unverified” until it is audited." if is_required else "Novelty needs no audit."
    messages.success(request, words)
    return redirect("leaderboard:review_items", board.pk)
