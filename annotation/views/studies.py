"""Studies as curators plan and watch them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import progress, queries
from annotation.forms import ItemsForm, LogForm, SetUpForm, StudyForm
from annotation.permissions import is_blind, study_for
from annotation.protocols import Definition
from annotation.services import studies
from medbench.accounts.permissions import may
from medbench.cases.models import Benchmark
from medbench.cases.permissions import benchmark_for
from medbench.errors import NotFound
from medbench.review import triplets
from medbench.review.models import ReviewItem

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from annotation.models import Study
    from medbench.accounts.requests import SignedInRequest
    from medbench.formats.problems import Problem

STEPS = {
    "start": (studies.start_study, "The study is running."),
    "pause": (studies.pause_study, "The study is paused. Drafts are kept, nothing is given out."),
    "resume": (studies.resume_study, "The study is running again."),
}


@login_required
@require_safe
def study_list(request: SignedInRequest) -> HttpResponse:
    """The studies that one may read."""
    if not Benchmark.objects.where(request.user, "study.read").exists():
        raise NotFound
    context = {
        "studies": queries.listed(request.user),
        "may_start": Benchmark.objects.where(request.user, "study.manage").exists(),
    }
    return render(request, "annotation/studies.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: SignedInRequest) -> HttpResponse:
    """Set up a study. For htmx only its summary, from what the form holds at this moment."""
    key = request.GET.get("benchmark", "")
    mine = Benchmark.objects.where(request.user, "study.manage")
    if not key:
        choices = list(mine)
        if not choices:
            raise NotFound
        if len(choices) > 1:
            return render(request, "annotation/choose_benchmark.html", {"benchmarks": choices})
    benchmark = benchmark_for(request.user, key, "study.manage") if key else choices[0]
    if request.htmx:
        form = StudyForm(benchmark, request.GET)
        return render(request, "annotation/_summary.html", {"summary": _summary(form)})
    form = StudyForm(benchmark, request.POST or None)
    if request.method == "POST" and form.is_valid() and (study := _make(request, form)):
        return redirect("annotation:study", study.pk)
    context = {"benchmark": benchmark, "form": form, "summary": _summary(form)}
    return render(request, "annotation/new_study.html", context, status=422 if form.errors else 200)


def _make(request: SignedInRequest, form: StudyForm) -> Any:
    """The study that was asked for, as a draft or running; None with what is missing in the form."""
    starts = request.POST.get("do") == "start"
    kind = form.cleaned_data["protocol"].kind
    try:
        with transaction.atomic():
            study = studies.draft_study(
                form.study(),
                form.items(kind),
                list(form.cleaned_data["annotators"]),
                by=request.user,
                chosen=form.in_words(kind),
            )
            return studies.start_study(study, by=request.user) if starts else study
    except studies.NotReady as missing:
        for problem in missing.problems:
            form.add_error(problem.field if problem.field in form.fields else None, problem.message)
    return None


def _summary(form: StudyForm) -> dict[str, Any]:
    """What a study of the form's values would be; of a form that was not sent, of its first values."""
    values = form.values()
    kind = values["protocol"].kind if values.get("protocol") else ReviewItem.Kind.TRIPLET
    chosen = form.chosen(kind)
    n_items, annotators = chosen.count(), len(values.get("annotators") or ())
    per_item = values.get("annotators_per_item") or 0
    missing: list[Problem] = studies.what_is_missing(
        n_items=n_items, n_annotators=annotators, annotators_per_item=per_item, due_at=values.get("due_at")
    )
    return {
        "n_items": n_items,
        "n_unanchored": triplets.unanchored(chosen).count() if kind == ReviewItem.Kind.TRIPLET else 0,
        "per_item": per_item,
        "n_verdicts": n_items * per_item,
        "n_annotators": annotators,
        "share": -(-n_items * per_item // annotators) if annotators else None,
        "missing": missing,
    }


@login_required
@require_safe
def study(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """How far a study is. Names are for curators; adjudicators see letters."""
    found = study_for(request.user, study_id)
    may_manage = may(request.user, "study.manage", found.benchmark.team)
    blind = is_blind(request.user, found)
    context = {
        "study": found,
        "progress": progress.of_study(found, blind=blind),
        "may_manage": may_manage,
        "blind": blind,
        "flags": queries.flagged(found) if may_manage and not blind else None,
        "items_form": ItemsForm(found.benchmark, prefix="items") if may_manage else None,
    }
    return render(request, "annotation/study.html", context)


@login_required
@require_POST
def take_step(request: SignedInRequest, study_id: uuid.UUID, step: str) -> HttpResponse:
    """Start, pause, resume or discard."""
    found = study_for(request.user, study_id, "study.manage")
    if step == "discard":
        studies.discard_draft(found)
        messages.success(request, f"The draft “{found.title}” is discarded.")
        return redirect("annotation:studies")
    if step not in STEPS:
        raise NotFound
    do, words = STEPS[step]
    try:
        do(found, by=request.user)
    except studies.NotReady as missing:
        for problem in missing.problems:
            messages.error(request, problem.message)
    else:
        messages.success(request, words)
    return redirect("annotation:study", found.pk)


@login_required
@require_POST
def add_items(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """Append what a filter matches and the study does not have yet."""
    found = study_for(request.user, study_id, "study.manage")
    form = ItemsForm(found.benchmark, request.POST, prefix="items")
    if form.is_valid():
        kind = found.protocol.kind
        added = studies.append_items(found, form.items(kind), by=request.user, chosen=form.in_words(kind))
        messages.success(request, f"{added} item{'' if added == 1 else 's'} added, behind all others.")
    else:
        messages.error(request, "One of the filters is not a choice any more. Choose again.")
    return redirect("annotation:study", found.pk)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def set_up(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """What can still be changed, who annotates, and who else could."""
    found = study_for(request.user, study_id, "study.manage")
    there = list(found.annotators.select_related("user__annotator_profile").order_by("pk"))
    initial = {name: getattr(found, name) for name in ("title", "due_at", "guidelines")}
    form = SetUpForm(found.benchmark, request.POST or None, initial=initial)
    form.leave_out([each.user_id for each in there])
    if request.method == "POST" and form.is_valid() and _change(request, found, form):
        return redirect("annotation:set_up", found.pk)
    context = {"study": found, "tab": "set-up", "may_manage": True, "form": form, "annotators": there}
    return render(request, "annotation/set_up.html", context, status=422 if form.errors else 200)


def _change(request: SignedInRequest, study: Study, form: SetUpForm) -> bool:
    """Save a valid form; False with what is in the way in the form."""
    values = form.cleaned_data
    try:
        with transaction.atomic():
            added = studies.add_annotators(study, values.pop("annotators"), by=request.user)
            studies.change_set_up(study, **values, by=request.user)
    except studies.NotReady as missing:
        for problem in missing.problems:
            form.add_error("annotators", problem.message)
        return False
    messages.success(request, f"Saved. {added} annotator{'s' * (added != 1)} added." if added else "Saved.")
    return True


@login_required
@require_safe
def log(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """Every step, setting and verdict of a study, newest first, by kind and person. What shows who has
    read which item is left out for those who annotate in it themselves."""
    found = study_for(request.user, study_id, "study.manage")
    blind = is_blind(request.user, found)
    lines = queries.log_of(found, blind=blind)
    form = LogForm(lines, request.GET)
    actions = Paginator(form.chosen().select_related("person"), 100).get_page(request.GET.get("page"))
    context = {
        "study": found,
        "tab": "log",
        "may_manage": True,
        "actions": actions,
        "form": form,
        "blind": blind,
    }
    return render(request, "annotation/log.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def close(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """Ask once more, with the numbers, then close the study for good."""
    found = study_for(request.user, study_id, "study.manage")
    if request.method == "POST":
        studies.close_study(found, by=request.user)
        decided = queries.decided(found).count()
        results = "" if found.repeats_id else f" Items with a result: {decided}."
        messages.success(request, f"The study is closed.{results}")
        return redirect("annotation:study", found.pk)
    context = {
        "study": found,
        "counts": progress.item_counts(found),
        "definition": Definition.read(found.protocol.definition),
    }
    return render(request, "annotation/close.html", context)
