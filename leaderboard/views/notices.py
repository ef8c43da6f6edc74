"""What came of one's submissions, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from leaderboard import queries
from leaderboard.services import notices as services

if TYPE_CHECKING:
    from django.http import HttpResponse

    from medbench.accounts.requests import SignedInRequest

ROWS_A_PAGE = 50


@login_required
@require_safe
def notices(request: SignedInRequest) -> HttpResponse:
    """All that one was told; reading changes nothing until one says so."""
    page = Paginator(queries.notices(request.user), ROWS_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "n_unread": queries.unread(request.user).count(),
        "sends_mail": settings.SENDS_MAIL,
    }
    return render(request, "leaderboard/notices.html", context)


@require_POST
@login_required
def read_all(request: SignedInRequest) -> HttpResponse:
    """Mark all as read."""
    services.read_all(request.user)
    return redirect("leaderboard:notices")
