"""One case, and the sizes of its panes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from medbench.accounts.permissions import may
from medbench.cases import queries
from medbench.cases.editions import Edition
from medbench.cases.models import Category, Release, Triplet
from medbench.cases.page import case_page
from medbench.cases.permissions import case_for
from medbench.cases.services import remember_panes
from medbench.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    import uuid

    from medbench.accounts.requests import SignedInRequest
    from medbench.cases.models import Case
    from medbench.cases.queries import ShownCase


PANES_MAX_BYTES = 1_000


@login_required
@require_safe
def case(request: SignedInRequest, case_id: uuid.UUID) -> HttpResponse:
    """Slide, report and triplets of a case in one edition; for htmx only the list of triplets."""
    found, edition = case_for(request.user, case_id, request.GET.get("release", ""))
    shown = queries.shown_case(found, edition)
    if shown is None:
        raise NotFound
    context = _texts(request, shown)
    if request.htmx and not request.htmx.history_restore_request:
        return render(request, "cases/_triplets.html", context)
    return render(request, "cases/case.html", context | _frame(request, shown))


def _texts(request: SignedInRequest, shown: ShownCase) -> dict[str, Any]:
    number = request.GET.get("triplet", "")
    current = int(number) if number.isascii() and number.isdecimal() and len(number) < 6 else None
    category, state = request.GET.get("category", ""), request.GET.get("state", "")
    return {
        "case": shown.case,
        "edition": shown.edition,
        "shown": shown,
        "page": case_page(shown, current=current, category=category, state=state),
        "category": category,
        "state": state,
        "may_edit": may(request.user, "case.edit", shown.case.benchmark.team),
    }


def _frame(request: SignedInRequest, shown: ShownCase) -> dict[str, Any]:
    team = shown.case.benchmark.team
    held_out = may(request.user, "case.read_held_out", team)
    before, after = queries.neighbours(shown.row, shown.edition, held_out=held_out)
    slide = shown.row.slide
    return {
        "before": before and queries.case_key(before),
        "after": after and queries.case_key(after),
        "editions": _editions(shown.case, held_out=held_out, draft=may(request.user, "case.edit", team)),
        "slide": slide,
        "has_slide": slide is not None and slide.is_ready,
        "categories": Category.choices,
        "states": Triplet.State.choices,
        "stored_panes": json.dumps(request.user.panes.get("case", {})),
    }


def _editions(case: Case, *, held_out: bool, draft: bool) -> list[Edition]:
    """The editions in which the person can see the case, newest first."""
    releases = Release.objects.holding(case, held_out=held_out).order_by("-number")
    found = [Edition(case.benchmark, release) for release in releases]
    return [Edition(case.benchmark, None), *found] if draft and not case.retired_at else found


@login_required
@require_POST
def panes(request: SignedInRequest, page: str) -> HttpResponse:
    """Store the sizes and layout of a page's panes for this person."""
    try:
        sizes = json.loads(request.body[:PANES_MAX_BYTES])
    except (ValueError, RecursionError) as error:
        raise InvalidInput("Sizes of panes are a small JSON object.") from error
    remember_panes(request.user, page, sizes)
    return HttpResponse(status=204)
