"""Curators change the working copy: triplets, goal, facts of a case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from medbench.cases.forms import CaseForm, GoalForm, TripletForm, posted
from medbench.cases.permissions import case_to_edit
from medbench.cases.services import add_triplet as add
from medbench.cases.services import edit_case as change_case
from medbench.cases.services import edit_goal as change_goal
from medbench.cases.services import edit_triplet as change
from medbench.cases.services import retire_triplet as retire
from medbench.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    import uuid
    from collections.abc import Callable

    from django import forms

    from medbench.accounts.requests import SignedInRequest
    from medbench.cases.models import Case, Triplet, TripletVersion


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit_triplet(request: SignedInRequest, case_id: uuid.UUID, triplet_id: uuid.UUID) -> HttpResponse:
    """A triplet as a form: in its place on the case page by htmx, as a page without script."""
    case = case_to_edit(request.user, case_id)
    triplet = _triplet(case, triplet_id)
    assert triplet.current is not None
    form = TripletForm(**posted(request), initial=_initial(triplet.current), auto_id=f"{triplet.pk}-%s")
    version = _saved(
        form, lambda read: change(triplet, form.wording(), by=request.user, based_on=read["based_on"])
    )
    if version:
        _say(request, version)
        return _back(request, case, triplet)
    context = {"form": form, "triplet": triplet, "heading": f"Triplet {triplet.key}"}
    return _form(request, case, context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def add_triplet(request: SignedInRequest, case_id: uuid.UUID) -> HttpResponse:
    """A new triplet at the end of the list."""
    case = case_to_edit(request.user, case_id)
    form = TripletForm(**posted(request), initial={"based_on": 0})
    triplet = _saved(form, lambda _: add(case, form.wording(), by=request.user))
    if triplet:
        _say(request, triplet.current)
        return _back(request, case, triplet)
    return _form(request, case, {"form": form, "heading": "New triplet"})


@login_required
@require_POST
def retire_triplet(request: SignedInRequest, case_id: uuid.UUID, triplet_id: uuid.UUID) -> HttpResponse:
    """Take a triplet out of the working copy; releases keep it."""
    case = case_to_edit(request.user, case_id)
    triplet = _triplet(case, triplet_id)
    retire(triplet)
    messages.success(request, f"Triplet {triplet.key} was taken out of the working copy. Releases keep it.")
    return _back(request, case)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit_goal(request: SignedInRequest, case_id: uuid.UUID) -> HttpResponse:
    """The goal of a case as a form."""
    case = case_to_edit(request.user, case_id)
    form = GoalForm(**posted(request), initial={"text": case.goal.text if case.goal else ""})
    if _saved(form, lambda read: change_goal(case, read["text"], by=request.user)):
        return _back(request, case)
    return _form(request, case, {"form": form, "heading": "Goal"})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit_case(request: SignedInRequest, case_id: uuid.UUID) -> HttpResponse:
    """Site, project, difficulty and split as a form."""
    case = case_to_edit(request.user, case_id)
    initial = {name: getattr(case, name) for name in CaseForm.base_fields}
    form = CaseForm(**posted(request), initial=initial)
    if _saved(form, lambda read: change_case(case, **read)):
        return _back(request, case)
    return _form(request, case, {"form": form, "heading": "Case"})


def _saved(form: forms.Form, save: Callable[[dict[str, Any]], Any]) -> Any:
    """What `save` answers for a valid form; None where the form, or the rule behind it, refuses."""
    if not form.is_valid():
        return None
    try:
        return save(form.cleaned_data)
    except InvalidInput as error:
        form.add_error(None, error.message)
        return None


def _triplet(case: Case, triplet_id: uuid.UUID) -> Triplet:
    found = case.triplets.select_related("current").filter(pk=triplet_id, retired_at=None).first()
    if found is None or found.current is None:
        raise NotFound
    return found


def _initial(version: TripletVersion) -> dict[str, Any]:
    names = ("category", "question", "insight", "evidence")
    return {name: getattr(version, name) for name in names} | {"based_on": version.version}


def _say(request: SignedInRequest, version: TripletVersion) -> None:
    if version.evidence and not version.is_anchored:
        messages.warning(request, "Saved, but the evidence was not found word for word in the report.")


def _form(request: SignedInRequest, case: Case, context: dict[str, Any]) -> HttpResponse:
    form: forms.Form = context["form"]
    context |= {"case": case, "is_region": bool(request.htmx)}
    status = 422 if form.errors else 200
    name = "cases/_edit.html" if request.htmx else "cases/edit.html"
    return render(request, name, context, status=status)


def _back(request: SignedInRequest, case: Case, triplet: Triplet | None = None) -> HttpResponse:
    """The working copy's page of the case; a region asks the browser to load it whole, for the
    marks in the report changed too."""
    address = f"{reverse('cases:case', args=[case.pk])}?release=draft"
    if triplet is not None:
        live = case.triplets.filter(retired_at=None, position__lt=triplet.position)
        address += f"&triplet={live.count() + 1}"
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return redirect(address)
