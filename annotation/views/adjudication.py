"""What waits for a decision, and one item with all its answers and the decision about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation import adjudication
from annotation.corrections import texts_of
from annotation.forms import ANSWER, CORRECTION
from annotation.permissions import answers_for, study_item_for
from annotation.services.adjudication import CATEGORY, GOAL, Ruling, decide, outcomes_of
from medbench.accounts.permissions import may
from medbench.errors import InvalidInput
from medbench.review.models import ReviewItem

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from annotation.models import StudyItem
    from medbench.accounts.requests import SignedInRequest

REASON_MAX = 2_000
PAGE = 50
SUBJECTS = {
    ReviewItem.Kind.TRIPLET: (
        "The triplet",
        "A corrected one gets a new version; a rejected one is left out of the next release.",
    ),
    ReviewItem.Kind.GOAL: ("The goal", "A corrected one becomes the goal of the next release."),
    ReviewItem.Kind.REPORT: ("The case", "A rejected one leaves the working copy; releases keep it."),
}


@login_required
@require_safe
def queue(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """The items that wait for a decision and that one did not read."""
    study = answers_for(request.user, study_id, "item.adjudicate")
    waiting = adjudication.queue_of(study, request.user)
    page = Paginator(waiting, PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "tab": "adjudication",
        "may_manage": may(request.user, "study.manage", study.benchmark.team),
        "waiting": waiting,
        "page": page,
        "rows": adjudication.with_items(study, page),
        "n_decided": adjudication.n_adjudicated(study),
    }
    return render(request, "annotation/adjudication/queue.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def study_item(request: SignedInRequest, study_id: uuid.UUID, position: int) -> HttpResponse:
    """What everybody said of an item; POST decides where they differ."""
    action = "item.adjudicate" if request.method == "POST" else "study.read"
    found = study_item_for(request.user, study_id, position, action)
    form = {name: value for name, value in request.POST.items() if isinstance(value, str)}
    answers = {name: value for name, value in _part(form, ANSWER).items() if value}
    problem = ""
    if request.method == "POST":
        correction = _part(form, CORRECTION)
        ruling = Ruling(answers, form.get("outcome", ""), form.get("reason", "")[:REASON_MAX], correction)
        try:
            outcome = decide(found, ruling, by=request.user)
        except InvalidInput as missing:
            problem = missing.message
        else:
            messages.success(request, f"Item {position} is decided: {adjudication.WORDS[outcome].lower()}.")
            return _next(request, found)
    context = adjudication.context_of(found, request.user, answers) | _form(found, form)
    context["problem"] = problem
    return render(request, "annotation/adjudication/item.html", context, status=422 if problem else 200)


def _part(form: dict[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): form[name] for name in form if name.startswith(prefix)}


def _next(request: SignedInRequest, done: StudyItem) -> HttpResponse:
    position = adjudication.next_in_queue(done.study, request.user, done.position)
    if position is None:
        return redirect("annotation:adjudication", done.study_id)
    return redirect("annotation:study_item", done.study_id, position)


def _form(study_item: StudyItem, given: dict[str, str]) -> dict[str, Any]:
    """The form of a decision: what can become of the item, and its texts as they are or were typed."""
    item = study_item.item
    outcomes = outcomes_of(item)
    standing = {GOAL: item.payload[GOAL]} if item.kind == ReviewItem.Kind.GOAL else texts_of(item)
    typed = _part(given, CORRECTION)
    subject, words = SUBJECTS.get(ReviewItem.Kind(item.kind), ("The item", ""))
    return {
        "outcomes": [
            (each, adjudication.WORDS[each], adjudication.STATUS.get(each, "ok")) for each in outcomes
        ],
        "subject": subject,
        "outcome_help": words,
        "corrected": {CATEGORY: typed.get(CATEGORY) or item.payload.get(CATEGORY, "")}
        if "corrected" in outcomes
        else None,
        "corrected_texts": [(name, typed.get(name, text)) for name, text in standing.items()],
        "given": given,
        "reason_max": REASON_MAX,
    }
