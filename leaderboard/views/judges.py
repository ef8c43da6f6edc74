"""Judges of the site and the profiles made from them, for curators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.judge_forms import JudgeForm, ProfileForm
from leaderboard.models import EvaluatorProfile, Judge
from leaderboard.services import judges as services
from leaderboard.services import profiles
from medbench.errors import MedBenchError
from medbench.evals.profiles import READY

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from medbench.accounts.requests import SignedInRequest


@login_required
@require_safe
def judges(request: SignedInRequest) -> HttpResponse:
    """All judges, and all profiles that have judges."""
    services.require_judges(request.user)
    rows = list(EvaluatorProfile.objects.filter(metric="judges").order_by("title", "created_at"))
    named = [services.identities(row) for row in rows]
    context = {
        "judges": [
            {"judge": judge, "used_by": sum(services.identity_of(judge) in names for names in named)}
            for judge in Judge.objects.all()
        ],
        "profiles": rows,
        "ready": {name: made.title for name, made in READY.items()},
    }
    return render(request, "leaderboard/judges.html", context)


@sensitive_post_parameters("key")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def add_judge(request: SignedInRequest) -> HttpResponse:
    services.require_judges(request.user)
    return _edited(request, Judge(), is_used=False)


@sensitive_post_parameters("key")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def judge(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """Change a judge, try it by one call."""
    shown = services.find_judge(request.user, pk)
    return _edited(request, shown, is_used=bool(services.profiles_with(shown)))


def _edited(request: SignedInRequest, shown: Judge, *, is_used: bool) -> HttpResponse:
    form = JudgeForm(request.POST or None, instance=shown, is_used=is_used)
    if form.is_valid():
        try:
            saved = services.save_judge(form.instance, form.cleaned_data["key"], request.user)
        except MedBenchError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"“{saved.name}” is saved.")
            return redirect("leaderboard:judge", saved.pk)
    stored = Judge.objects.filter(pk=shown.pk).first()  # `shown` holds what was typed
    context = {
        "form": form,
        "judge": stored,
        "is_used": is_used,
        "job": services.newest_test(stored) if stored else None,
    }
    return render(request, "leaderboard/judge.html", context)


@login_required
@require_POST
def test_judge(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    services.request_test(services.find_judge(request.user, pk), request.user)
    return redirect("leaderboard:judge", pk)


@login_required
@require_POST
def delete_judge(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    shown = services.find_judge(request.user, pk)
    services.delete_judge(shown, request.user)
    messages.success(request, f"“{shown.name}” is deleted, and its key with it.")
    return redirect("leaderboard:judges")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def add_profile(request: SignedInRequest) -> HttpResponse:
    """Make a draft, to be checked."""
    services.require_judges(request.user)
    form = ProfileForm(Judge.objects.all(), request.POST or None)
    if form.is_valid():
        given = form.cleaned_data
        try:
            made = profiles.compose(
                given["title"],
                list(given["judges"]),
                list(given["voters"]),
                mode=given["mode"],
                tau=float(given["tau"]),
                by=request.user,
            )
        except MedBenchError as error:
            form.add_error(None, error.message)
        else:
            return redirect("leaderboard:profile", made.pk)
    return render(request, "leaderboard/add_profile.html", {"form": form})


@login_required
@require_POST
def add_ready_profile(request: SignedInRequest, name: str) -> HttpResponse:
    return redirect("leaderboard:profile", profiles.make_ready(name, request.user).pk)


@login_required
@require_safe
def profile(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    """What a profile is, and the checklist that it passes before it is active."""
    shown = profiles.find_profile(request.user, pk)
    models = [*shown.config["judges"], *shown.config["voters"]]
    context = {
        "profile": shown,
        "is_pinned": all(model["revision"] for model in models),
        "job": profiles.newest_check(shown),
    }
    return render(request, "leaderboard/profile.html", context)


@login_required
@require_POST
def check_profile(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    profiles.request_check(profiles.find_profile(request.user, pk), request.user)
    return redirect("leaderboard:profile", pk)


@login_required
@require_POST
def cancel_check(request: SignedInRequest, pk: uuid.UUID) -> HttpResponse:
    profiles.cancel_check(profiles.find_profile(request.user, pk), request.user)
    return redirect("leaderboard:profile", pk)
