"""One item with all its answers, and the decision about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation import adjudication
from annotation.forms import ANSWER
from annotation.permissions import study_item_for
from annotation.services.adjudication import Ruling, decide, outcomes_of
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from medbench.accounts.requests import SignedInRequest

REASON_MAX = 2_000


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def study_item(request: SignedInRequest, study_id: uuid.UUID, position: int) -> HttpResponse:
    """What everybody said of an item; POST decides where they differ."""
    action = "item.adjudicate" if request.method == "POST" else "study.read"
    found = study_item_for(request.user, study_id, position, action)
    form = {name: value for name, value in request.POST.items() if isinstance(value, str)}
    answers = {
        name.removeprefix(ANSWER): form[name] for name in form if name.startswith(ANSWER) and form[name]
    }
    problem = ""
    if request.method == "POST":
        ruling = Ruling(answers, form.get("outcome", ""), form.get("reason", "")[:REASON_MAX])
        try:
            decide(found, ruling, by=request.user)
        except InvalidInput as missing:
            problem = missing.message
        else:
            messages.success(request, f"Item {position} is decided: {ruling.outcome}.")
            return redirect("annotation:disagreements", found.study_id)
    context = adjudication.context_of(found, request.user, answers) | {
        "problem": problem,
        "outcomes": outcomes_of(found.item),
        "given": form,
        "reason_max": REASON_MAX,
    }
    return render(request, "annotation/agreement/item.html", context, status=422 if problem else 200)
