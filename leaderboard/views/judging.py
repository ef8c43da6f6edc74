"""What submitters and curators do about a judged evaluation: ask for what is missing, clear its flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from leaderboard import queries
from leaderboard.services import evaluations

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from medbench.accounts.requests import SignedInRequest


@require_POST
@login_required
def retry_unscored(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """Ask the judges again for what is missing, and for nothing else."""
    evaluations.retry_unscored(queries.submission(request.user, pk), request.user)
    messages.success(request, "The judges are asked again for what is missing.")
    return redirect("leaderboard:submission", pk)


@require_POST
@login_required
def clear_flags(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """A curator looked at the flags; `reason` says why they are in order."""
    reason = request.POST.get("reason", "")
    evaluations.clear_flags(queries.submission(request.user, pk), reason, request.user)
    messages.success(request, "Flags cleared: this submission may be ranked.")
    return redirect("leaderboard:submission", pk)
