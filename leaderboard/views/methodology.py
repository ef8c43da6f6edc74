"""How the numbers are made: one page for each evaluator profile, generated from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import methodology, queries
from leaderboard.services import profiles
from leaderboard.services.boards import rouge_profile
from medbench.errors import NotFound

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from leaderboard.models import EvaluatorProfile


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """`?profile=` is the id or the digest of a profile that may score; without it ROUGE-1."""
    shown = _profile(request.GET.get("profile", ""))
    boards = queries.boards(request.user).filter(profile=shown)
    context = methodology.about(shown) | {
        "boards": boards,
        "others": profiles.active_profiles().exclude(pk=shown.pk),
    }
    return render(request, "leaderboard/methodology.html", context)


def _profile(named: str) -> EvaluatorProfile:
    for profile in profiles.active_profiles() if named else ():
        if named in (str(profile.pk), profile.sha256):
            return profile
    if named:
        raise NotFound("There is no such profile.")
    return profiles.active_profiles().filter(metric="rouge1").first() or rouge_profile()
