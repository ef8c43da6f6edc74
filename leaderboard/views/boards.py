"""The list of boards and one board."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard import ablations, bars, costs, filters, permissions, published, queries, standings
from leaderboard.forms import OpenBoardForm
from leaderboard.models import Submission
from leaderboard.permissions import team_of
from leaderboard.services import boards as services
from leaderboard.services import rescorings
from leaderboard.views.heads import asked_order, heads
from medbench.accounts.permissions import may
from medbench.errors import InvalidInput, NotFound
from medbench.scoring.intervals import FEWEST_CASES, RESAMPLES

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from leaderboard.models import Board, Evaluation, Ranking
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
    ("original", "Original", True),
    ("innovation", "Innovation", True),
    ("coverage", "Coverage", True),
    ("p_first", "P(first)", True),
    ("insights", "Insights / case", True),
    ("answered", "Cases answered", True),
    ("submitted", "Submitted", False),
)
OF_JUDGES = ("original", "innovation", "coverage")
ALWAYS = ("method", "f1")
ROWS_A_PAGE = 50
VIEWS = (("", "Table"), ("cost", "Cost"), ("ablations", "Ablations"))


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
    """Each board with its first `places` and the number of ranked entries, in three queries."""
    of_board: dict[uuid.UUID, list[Evaluation]] = {each.pk: [] for each in shown}
    for evaluation in queries.entries(person, shown):
        of_board[evaluation.submission.board_id].append(evaluation)
    ranked = {pk: standings.arrange(entries).ranked for pk, entries in of_board.items()}
    leaders = queries.filled(each for rows in ranked.values() for each in rows[:places])
    return [
        {
            "board": each,
            "n_ranked": len(ranked[each.pk]),
            "leaders": [row for row in leaders if row.evaluation.submission.board_id == each.pk],
        }
        for each in shown
    ]


@require_safe
def board(request: PageRequest, pk: uuid.UUID) -> HttpResponse:
    """One board: filtered, sorted by `?sort=` (a column; with a minus before it, the other way round),
    as a table, or with `?view=` as one of VIEWS."""
    shown = queries.board(request.user, pk)
    sort, down = asked_order(request.GET.get("sort", ""), standings.USUALLY_DOWN, "f1")
    entries = queries.entries(request.user, [shown])
    ranking = queries.ranking(shown)
    columns = [each for each in COLUMNS if shown.profile.metric == "judges" or each[0] not in OF_JUDGES]
    wanted = filters.asked(request.GET, [key for key, _, _ in columns if key not in ALWAYS])
    arranged = standings.arrange(entries, sort, down=down, ranking=ranking)
    kept = standings.without(arranged, wanted.keep)
    view = request.GET.get("view", "")
    page = Paginator(kept.ranked, ROWS_A_PAGE).get_page(request.GET.get("page"))
    printed = (kept if view == "cost" else replace(kept, ranked=list(page))).map(queries.filled)
    context = {
        "board": shown,
        "standings": printed,
        "page": page,
        "n_entries": len(entries),
        "view": view if view in dict(VIEWS) else "",
        "views": VIEWS,
        "filters": wanted,
        "backbones": filters.backbones(entries),
        "kinds": Submission.Kind.choices,
        "sources": filters.SOURCES,
        "beside": filters.BESIDE,
        "columns": [each for each in columns if each[0] not in ALWAYS],
        "heads": heads(columns, standings.USUALLY_DOWN, sort, down=down),
        "n_columns": len(columns) + 2,
        "is_by_rank": sort == "f1" and down,
        "sort": request.GET.get("sort", ""),
        "ranking": ranking,
        "is_ranked": not arranged.ranked or arranged.ranked[0].place is not None,
        **_around(request, shown, printed, wanted),
        **_detail(view, printed if view == "cost" else kept, ranking),
    }
    only_table = request.htmx and request.htmx.target == "standings"
    return render(request, f"leaderboard/{'_standings' if only_table else 'board'}.html", context)


def _around(
    request: PageRequest, shown: Board, rows: standings.Standings, wanted: filters.Filters
) -> dict[str, object]:
    """What stands around and below the entries of a board."""
    floors = list(shown.floors.all()) if wanted.with_floors else []
    scored = [each.evaluation for each in (*rows.ranked, *rows.blocked, *rows.private)]
    printed = published.rows(shown.profile) if wanted.with_published else []
    printed = [row for row in printed if wanted.kind in ("", row["kind"])]
    printed, notes = published.with_footnotes(printed)
    rescoring = queries.open_rescoring(shown)
    return {
        "floors": floors,
        "published": printed,
        "notes": notes,
        "printed": published.everything(),
        "axis": bars.axis_of([*scored, *floors]),
        "n_cases": shown.release.cases.filter(split=shown.split).count(),
        "fewest_cases": FEWEST_CASES,
        "resamples": RESAMPLES,
        "rescoring": rescoring,
        "progress": rescorings.progress(rescoring) if rescoring else None,
        "may_submit": may(request.user, "submission.create", team_of(shown)),
        "may_manage": may(request.user, "board.manage", team_of(shown)),
        "has_conflict": permissions.has_conflict(request.user, shown),
        "others": queries.boards(request.user).filter(release=shown.release).exclude(pk=shown.pk),
    }


def _detail(view: str, arranged: standings.Standings, ranking: Ranking | None) -> dict[str, object]:
    """The rows of the views Cost and Ablations, with the printed ones."""
    if view == "cost":
        return {"costs": costs.of(arranged.ranked), "plot": costs.plot(arranged.ranked)}
    if view == "ablations":
        return {"ablations": ablations.of(arranged, ranking)}
    return {}
