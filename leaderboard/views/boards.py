"""The list of boards and one board."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard import bars, permissions, queries, standings
from leaderboard.forms import OpenBoardForm
from leaderboard.permissions import team_of
from leaderboard.services import boards as services
from leaderboard.views.heads import asked_order, heads
from medbench.accounts.permissions import may
from medbench.errors import InvalidInput, NotFound
from medbench.scoring.intervals import FEWEST_CASES, RESAMPLES

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from leaderboard.models import Board, Evaluation
    from leaderboard.permissions import Person
    from leaderboard.views.requests import PageRequest
    from medbench.accounts.requests import SignedInRequest

# Key of standings.SORTS, label, and whether the column holds numbers.
COLUMNS = (
    ("method", "Method", False),
    ("f1", "F1", True),
    ("recall", "Recall", True),
    ("precision", "Precision", True),
    ("mean_case_f1", "Mean case F1", True),
    ("insights", "Insights / case", True),
    ("answered", "Cases answered", True),
    ("submitted", "Submitted", False),
)


@require_safe
def boards(request: PageRequest) -> HttpResponse:
    """Every board one may read, with its first places."""
    shown = list(queries.boards(request.user))
    context = {
        "boards": with_leaders(request.user, shown),
        "may_open": request.user.is_authenticated and queries.manageable_releases(request.user).exists(),
    }
    return render(request, "leaderboard/boards.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def open_board(request: SignedInRequest) -> HttpResponse:
    """Open the board of one split of a release, by ROUGE-1 or by a profile that is active."""
    releases = queries.manageable_releases(request.user)
    if not releases.exists():
        raise NotFound("There is no release for which you could open a board.")
    form = OpenBoardForm(releases, request.POST or None, initial=request.GET.dict())
    if form.is_valid():
        release, split = form.cleaned_data["release"], form.cleaned_data["split"]
        profile = form.cleaned_data["profile"] or services.rouge_profile()
        try:
            opened = services.open_board(release, profile, split, request.user)
        except InvalidInput as error:
            form.add_error("split", error.message)
        else:
            return redirect("leaderboard:board", opened.pk)
    return render(request, "leaderboard/open_board.html", {"form": form})


def with_leaders(person: Person, shown: list[Board], places: int = 3) -> list[dict[str, object]]:
    """Each board with its first `places` and the number of ranked entries, in two queries."""
    of_board: dict[uuid.UUID, list[Evaluation]] = {each.pk: [] for each in shown}
    for evaluation in queries.entries(person, shown):
        of_board[evaluation.submission.board_id].append(evaluation)
    rows = []
    for each in shown:
        ranked = standings.arrange(of_board[each.pk]).ranked
        rows.append({"board": each, "n_ranked": len(ranked), "leaders": ranked[:places]})
    return rows


@require_safe
def board(request: PageRequest, pk: uuid.UUID) -> HttpResponse:
    """One board, sorted by `?sort=` (a column; with a minus before it, the other way round)."""
    shown = queries.board(request.user, pk)
    sort, down = asked_order(request.GET.get("sort", ""), standings.USUALLY_DOWN, "f1")
    entries = queries.entries(request.user, [shown])
    floors = list(shown.floors.all())
    context = {
        "board": shown,
        "standings": standings.arrange(entries, sort, down=down),
        "floors": floors,
        "axis": bars.axis_of([*entries, *floors]),
        "heads": heads(COLUMNS, standings.USUALLY_DOWN, sort, down=down),
        "is_by_rank": sort == "f1" and down,
        "n_cases": shown.release.cases.filter(split=shown.split).count(),
        "fewest_cases": FEWEST_CASES,
        "resamples": RESAMPLES,
        "now": timezone.now(),
        "may_submit": may(request.user, "submission.create", team_of(shown)),
        "has_conflict": permissions.has_conflict(request.user, shown),
        "others": queries.boards(request.user).filter(release=shown.release).exclude(pk=shown.pk),
    }
    only_table = request.htmx and request.htmx.target == "standings"
    return render(request, f"leaderboard/{'_standings' if only_table else 'board'}.html", context)
