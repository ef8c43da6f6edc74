"""Opening a further round of a closed study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation import queries
from annotation.forms import RoundForm
from annotation.permissions import study_for
from annotation.services import rounds

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from medbench.accounts.requests import SignedInRequest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """Say how long the wash-out is. The round begins as a draft, to be looked at and started."""
    found = study_for(request.user, study_id, "study.manage")
    first = queries.first_round(found)
    number = queries.rounds_of(found).count() + 1
    form = RoundForm(request.POST or None, initial={"title": f"{first.title}: round {number}"[:200]})
    if request.method == "POST" and form.is_valid():
        drafted = rounds.draft_round(found, **form.cleaned_data, by=request.user)
        messages.success(request, "The round is drafted. Look at it, then start it.")
        return redirect("annotation:study", drafted.pk)
    read = queries.last_read(first)
    context = {
        "study": found,
        "number": number,
        "form": form,
        "refusal": rounds.why_no_round(found),
        "n_items": len({item for item, _ in read}),
        "n_people": len({person for _, person in read}),
        "last": max(read.values(), default=None),
    }
    return render(request, "annotation/new_round.html", context, status=422 if form.errors else 200)
