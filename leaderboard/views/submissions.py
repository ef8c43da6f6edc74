"""One's submissions, and one submission: how far it is, its scores, its cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard import audits, queries, stages
from leaderboard.forms import VisibilityForm
from leaderboard.log import log, seconds_left
from leaderboard.permissions import (
    is_anonymous,
    is_hidden_from,
    may_manage,
    may_see_cases,
    require_manage,
    team_of,
)
from leaderboard.services import evaluations
from leaderboard.services import submissions as services
from leaderboard.views.heads import asked_order, heads
from medbench.accounts.permissions import may
from medbench.cases.models import Split
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    import uuid
    from typing import Any

    from django.http import HttpResponse

    from leaderboard.models import Evaluation
    from leaderboard.views.requests import PageRequest
    from medbench.accounts.requests import SignedInRequest

ROWS_A_PAGE = 50
CASE_COLUMNS = (
    ("case", "Case", False),
    ("site", "Site", False),
    ("difficulty", "Difficulty", True),
    ("references", "References", True),
    ("outputs", "Outputs", True),
    ("recall", "Recall", True),
    ("precision", "Precision", True),
    ("f1", "F1", True),
)


@login_required
@require_safe
def submissions(request: SignedInRequest) -> HttpResponse:
    """What one submitted, newest first."""
    mine = queries.own_submissions(request.user)
    page = Paginator(mine, ROWS_A_PAGE).get_page(request.GET.get("page"))
    standing = queries.current_of(page.object_list)
    rows = [{"submission": each, "evaluation": standing[each.pk]} for each in page.object_list]
    return render(request, "leaderboard/submissions.html", {"rows": rows, "page": page})


@require_safe
def submission(request: PageRequest, pk: uuid.UUID) -> HttpResponse:
    """One submission. While it is evaluated, its region asks for itself every two seconds."""
    shown = queries.submission(request.user, pk)
    generations = list(queries.generations(shown))
    newest = generations[0]
    standing = next((each for each in generations if each.finished_at), newest)
    audits.withhold([standing], [shown.board])
    context = {
        "submission": shown,
        "evaluation": standing,
        "newest": newest,
        "generations": generations,
        "stages": stages.of(newest),
        "may_manage": may_manage(request.user, shown),
        "may_clear": may(request.user, "board.manage", team_of(shown.board)),
        "seconds_left": seconds_left(newest.job),
        "log": log(shown, generations) if may_manage(request.user, shown) else [],
        "is_held_out": shown.board.split == Split.HELD_OUT,
        "may_read_cases": may(request.user, "case.read", team_of(shown.board)),
        "is_own": shown.submitted_by_id == request.user.pk,
        "is_anonymous": is_anonymous(shown),
        "is_hidden": is_hidden_from(request.user, shown),
        "visibility_form": VisibilityForm(
            initial={
                "visibility": shown.visibility,
                "public_from": shown.public_from and shown.public_from.date(),
            }
        ),
        **queries.relatives(request.user, shown),
        "rank": queries.rank_of(standing) if standing.finished_at else None,
    }
    if standing.finished_at and may_see_cases(request.user, shown.board):
        context |= _case_table(request, standing)
    return render(request, _template(request), context)


def _template(request: PageRequest) -> str:
    target = request.htmx.target if request.htmx else ""
    regions = {"evaluation": "leaderboard/_evaluation.html", "case-scores": "leaderboard/_case_scores.html"}
    return regions.get(target or "", "leaderboard/submission.html")


def _case_table(request: PageRequest, evaluation: Evaluation) -> dict[str, Any]:
    """The scored cases, narrowed and sorted as the address says."""
    everything = queries.case_scores(evaluation)
    sites, difficulties = queries.values_of(everything, "site"), queries.values_of(everything, "difficulty")
    site, difficulty = _asked(request, "site", sites), _asked(request, "difficulty", difficulties)
    key, down = asked_order(request.GET.get("sort", ""), queries.CASES_USUALLY_DOWN, "")
    found = queries.sorted_cases(queries.narrowed_cases(everything, site, difficulty), key, down=down)
    return {
        "page": Paginator(found, ROWS_A_PAGE).get_page(request.GET.get("page")),
        "site": site,
        "difficulty": difficulty,
        "sort": request.GET.get("sort", ""),
        "heads": heads(CASE_COLUMNS, queries.CASES_USUALLY_DOWN, key, down=down),
        "sites": sites,
        "difficulties": difficulties,
        "near_duplicates": {
            each["case_id"]
            for each in evaluation.submission.warnings
            if each["code"] == "near_duplicate_insight"
        },
    }


def _asked(request: PageRequest, name: str, choices: list[str]) -> str:
    """What a filter is set to; "" where the address asks for something that is not there."""
    asked = request.GET.get(name, "")
    return asked if asked in choices else ""


@require_POST
@login_required
def cancel(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """Stop the evaluation that waits or runs."""
    evaluations.cancel(queries.submission(request.user, pk), request.user)
    messages.success(request, "Evaluation cancelled. The upload is kept; run it again when you want to.")
    return redirect("leaderboard:submission", pk)


@require_POST
@login_required
def run_again(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """Go on with a failed or cancelled evaluation, or score anew beside a finished one."""
    evaluations.run_again(queries.submission(request.user, pk), request.user)
    return redirect("leaderboard:submission", pk)


@require_POST
@login_required
def visibility(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """Show it on the board, or only to oneself and the curators."""
    shown = queries.submission(request.user, pk)
    require_manage(request.user, shown)
    form = VisibilityForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("Choose who sees it. An anonymous one needs a date, such as 2027-06-30.")
    services.set_visibility(
        shown, form.cleaned_data["visibility"], request.user, form.cleaned_data["public_from"]
    )
    messages.success(request, "Visibility changed.")
    return redirect("leaderboard:submission", pk)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """Ask, then take the submission off its board for good."""
    shown = queries.submission(request.user, pk)
    require_manage(request.user, shown)
    if request.method != "POST":
        return render(request, "leaderboard/withdraw.html", {"submission": shown})
    services.withdraw(shown, request.user)
    messages.success(request, f"Submission {shown.number} withdrawn.")
    return redirect("leaderboard:submission", pk)
