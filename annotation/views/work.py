"""An annotator's own work: the list, the next item, and the item itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotation import queries
from annotation.forms import VerdictForm
from annotation.models import Assignment, Study, Verdict
from annotation.permissions import assignment_for, work_for
from annotation.protocols import Definition
from annotation.services import regions
from annotation.services.assignments import claim_next, peek_next, skip
from annotation.services.verdicts import Incomplete, Stale, save_verdict, submit_verdict
from annotation.workbench import context_of, stored_of
from medbench.errors import InvalidInput, MedBenchError, NotFound
from medbench.formats.problems import Refused

if TYPE_CHECKING:
    import uuid

    from annotation.services.verdicts import Draft
    from medbench.accounts.requests import SignedInRequest
    from medbench.review.models import ReviewItem

SKIP_REASONS = {
    "none": "Without a reason",
    "too_hard": "Too hard",
    "unreadable": "Slide unreadable",
    "not_my_field": "Not my field",
    "other": "Other reason",
}


@login_required
@require_safe
def my_work(request: SignedInRequest) -> HttpResponse:
    """The studies in which one annotates, and the items that are open with one."""
    studies = queries.with_progress(queries.studies_of(request.user))
    context = {
        "works": queries.work_of(request.user, studies),
        "open_items": queries.open_with(request.user),
    }
    return render(request, "annotation/my_work.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def next_item(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """POST gives out the next item. GET says what is left, and before the first item what is asked."""
    study = work_for(request.user, study_id)
    if request.method == "POST":
        return redirect(_next_address(study, request))
    (work,) = queries.work_of(request.user, Study.objects.filter(pk=study.pk))
    given = queries.given(study, request.user)
    context = {
        "study": study,
        "work": work,
        "definition": Definition.read(study.protocol.definition),
        "first_skipped": given.filter(state=Assignment.State.SKIPPED).first(),
        "is_new": not given.exists(),
        "free_from": queries.next_lapse(study),
        "ready_from": queries.wash_out_ends(study, request.user),
    }
    return render(request, "annotation/next.html", context)


def _next_address(study: Study, request: SignedInRequest) -> str:
    """Where to go on: the next item, or the page that says that there is none."""
    held = None if study.state != Study.State.RUNNING else claim_next(study, request.user)
    if held is None:
        return reverse("annotation:next", args=[study.pk])
    return reverse("annotation:item", args=[held.pk])


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def item(request: SignedInRequest, assignment_id: uuid.UUID) -> HttpResponse:
    """The workbench with one item. POST saves, submits or skips it: as a plain form, or with JSON
    answers for the script of the page."""
    assignment = assignment_for(request.user, assignment_id)
    if request.method != "POST":
        return render(request, "annotation/item.html", context_of(assignment) | {"reasons": SKIP_REASONS})
    form = VerdictForm(request.POST)
    draft = None
    try:
        draft = form.draft(Definition.read(assignment.study_item.study.protocol.definition))
        verdict, address = _act(request, assignment, draft)
    except NotFound:
        raise
    except MedBenchError as error:
        return _refused(request, assignment, draft, error)
    if _wants_json(request):
        return JsonResponse({**stored_of(verdict), "next": address})
    return redirect(address)


@login_required
@require_safe
def ahead(request: SignedInRequest, assignment_id: uuid.UUID) -> HttpResponse:
    """The page of the item that would come after this one, for the script to keep until then; it is not
    given out, and nobody has seen it. 204 where there is none."""
    assignment = assignment_for(request.user, assignment_id)
    following = peek_next(assignment)
    if following is None:
        return HttpResponse(status=204)
    context = context_of(following) | {"reasons": SKIP_REASONS}
    if assignment.state != Assignment.State.SUBMITTED:  # by then it will be
        context["work"] = replace(context["work"], done=context["work"].done + 1)
    return render(request, "annotation/item.html", context)


def _act(request: SignedInRequest, assignment: Assignment, draft: Draft) -> tuple[Verdict, str]:
    """Do what was pressed; answers the verdict and where to go."""
    study = assignment.study_item.study
    if reason := request.POST.get("skip"):
        if reason not in SKIP_REASONS:
            raise InvalidInput("There is no such reason. Choose one of the list.")
        verdict = save_verdict(assignment, draft)
        skip(assignment, "" if reason == "none" else SKIP_REASONS[reason])
        return verdict, _next_address(study, request)
    if request.POST.get("do") == "submit":
        verdict = submit_verdict(assignment, draft)
        return verdict, _next_address(study, request)
    return save_verdict(assignment, draft), reverse("annotation:item", args=[assignment.pk])


def _refused(
    request: SignedInRequest, assignment: Assignment, draft: Draft | None, error: MedBenchError
) -> HttpResponse:
    """What could not be done and why, with everything that was typed still there."""
    gaps = error.gaps if isinstance(error, Incomplete) else []
    status = 422 if gaps else error.status
    if _wants_json(request):
        answer: dict[str, Any] = {
            "code": error.code,
            "message": error.message,
            "problems": [gap.as_dict() for gap in gaps],
        }
        if isinstance(error, Stale):
            answer["stored"] = stored_of(error.verdict)
        return JsonResponse(answer, status=status)
    assignment.refresh_from_db()
    if draft is not None and isinstance(error, Stale):
        draft = draft._replace(version=error.verdict.version)  # saving once more keeps one's own
    elif draft is not None and gaps:
        draft = draft._replace(version=assignment.verdict.version)
    context = context_of(assignment, draft=draft, problem=error.message, gaps=gaps)
    context |= {"reasons": SKIP_REASONS, "conflict": isinstance(error, Stale)}
    return render(request, "annotation/item.html", context, status=status)


def _wants_json(request: SignedInRequest) -> bool:
    return request.headers.get("Accept") == "application/json"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def region_file(request: SignedInRequest, assignment_id: uuid.UUID) -> HttpResponse:
    """One's own regions of an item as GeoJSON. POST reads a file and answers its regions: the page adds
    them to the draft, where they are saved like any other."""
    assignment = assignment_for(request.user, assignment_id)
    item = assignment.study_item.item
    if request.method == "POST":
        return _regions_of_file(request, item)
    verdict = Verdict.objects.filter(assignment=assignment).first() or Verdict(assignment=assignment)
    return HttpResponse(
        regions.to_file(item, verdict.regions),
        content_type="application/geo+json",
        headers={"Content-Disposition": 'attachment; filename="regions.geojson"'},
    )


def _regions_of_file(request: SignedInRequest, item: ReviewItem) -> HttpResponse:
    file = request.FILES.get("file")
    if file is None:
        raise InvalidInput("Choose a GeoJSON file.")
    try:
        return JsonResponse({"regions": regions.from_file(item, file)})
    except Refused as refused:
        answer = {"code": refused.code, "message": refused.message, "problems": refused.problems.as_dicts()}
        return JsonResponse(answer, status=422)


@login_required
@require_safe
def guidelines(request: SignedInRequest, assignment_id: uuid.UUID) -> HttpResponse:
    """The protocol's text and one's own history of the item: a page, and the drawer's content."""
    assignment = assignment_for(request.user, assignment_id)
    definition = Definition.read(assignment.study_item.study.protocol.definition)
    context = {
        "assignment": assignment,
        "study": assignment.study_item.study,
        "definition": definition,
        "history": queries.history(assignment, definition),
    }
    return render(request, "annotation/guidelines.html", context)
