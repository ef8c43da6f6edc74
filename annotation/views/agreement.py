"""How far the annotators of a study agree: the page, its files, and having it computed anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.agreement import charts, disagreements, files, machine_page, methods, page
from annotation.permissions import answers_for, machine_for
from annotation.protocols import Definition
from annotation.services import agreement as services
from medbench.errors import NotFound

if TYPE_CHECKING:
    import uuid

    from annotation.models import Agreement, Study
    from medbench.accounts.requests import SignedInRequest


@login_required
@require_safe
def agreement(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """All questions, one of them in detail. For the region that polls, only how far the job is."""
    study = answers_for(request.user, study_id)
    context = page.context_of(study, request.user, request.GET.get("question", ""))
    if request.htmx and request.htmx.target == "agreement-status":
        return render(request, "annotation/agreement/_status.html", context)
    return render(request, "annotation/agreement/agreement.html", context)


@login_required
@require_POST
def recompute(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """Compute agreement now."""
    study = answers_for(request.user, study_id, "study.manage")
    services.recompute(study, by=request.user)
    return redirect("annotation:agreement", study.pk)


@login_required
@require_safe
def table_csv(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """All coefficients as CSV."""
    found = _computed(answers_for(request.user, study_id))
    return _file(files.coefficients_csv(found), "csv", f"agreement-{found.study_id}.csv")


@login_required
@require_safe
def chart_svg(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """The coefficients that fit, with their intervals, as a drawing."""
    found = _computed(answers_for(request.user, study_id))
    return _file(charts.svg_of(found), "svg", f"agreement-{found.study_id}.svg")


@login_required
@require_safe
def methods_text(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """What a paper says of how agreement was measured, with the numbers."""
    found = _computed(answers_for(request.user, study_id))
    return _file(methods.paragraph(found), "txt", f"methods-{found.study_id}.txt")


@login_required
@require_safe
def ratings_csv(request: SignedInRequest, study_id: uuid.UUID, question: str) -> HttpResponse:
    """The ratings behind one question, as the command `agreement` reads them."""
    study = answers_for(request.user, study_id)
    known = {each.key: each for each in Definition.read(study.protocol.definition).questions}
    if question not in known:
        raise NotFound
    return _file(files.ratings_csv(study, known[question]), "csv", f"ratings-{question}-{study.pk}.csv")


@login_required
@require_safe
def disagreement_list(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """The items on which annotators differ, narrowed to a question, two annotators or two answers."""
    study = answers_for(request.user, study_id)
    context = disagreements.context_of(study, request.user, request.GET)
    return render(request, "annotation/agreement/disagreements.html", context)


@login_required
@require_safe
def human_machine(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """People beside machines: correlation, novelty, data quality, redundancy."""
    study = machine_for(request.user, study_id)
    context = machine_page.context_of(study, request.user)
    return render(request, "annotation/agreement/machine.html", context)


def _computed(study: Study) -> Agreement:
    found = study.agreements.exclude(computed_at=None).select_related("study__protocol").first()
    if found is None:
        raise NotFound
    return found


KINDS = {"csv": "text/csv", "svg": "image/svg+xml", "txt": "text/plain"}


def _file(text: str, kind: str, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=f"{KINDS[kind]}; charset=utf-8", headers=headers)
