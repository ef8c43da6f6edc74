"""Taking in what was made elsewhere: a whole study, or ratings beside those of a study."""

from __future__ import annotations

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.models import OutsideRater
from annotation.permissions import study_for
from annotation.protocols import Definition
from annotation.services.bundles import import_study
from annotation.services.outside import import_ratings
from medbench.cases.models import Benchmark
from medbench.errors import Conflict, NotFound
from medbench.formats.csv_text import FILE_BYTES
from medbench.formats.problems import Refused

if TYPE_CHECKING:
    import uuid

    from django.core.files.uploadedfile import UploadedFile
    from django.http import HttpResponse

    from annotation.models import Study
    from medbench.accounts.models import User
    from medbench.accounts.requests import SignedInRequest
    from medbench.formats.problems import Problems


class RatingsForm(forms.Form):
    """A file of ratings and what it is about."""

    file = forms.FileField(label="CSV file")
    kind = forms.ChoiceField(
        label="Who rated", choices=OutsideRater.Kind.choices, initial=OutsideRater.Kind.PERSON
    )
    question = forms.ChoiceField(required=False, help_text="A file of verdicts brings its own questions.")

    def __init__(self, study: Study, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]  # data and files
        questions = Definition.read(study.protocol.definition).questions
        self.fields["question"].choices = [("", "As the file says")] + [  # type: ignore[attr-defined]  # typed as Field
            (each.key, each.title) for each in questions
        ]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def ratings(request: SignedInRequest, study_id: uuid.UUID) -> HttpResponse:
    """The raters from outside that a study has; POST adds the ratings of a file, all or none."""
    study = study_for(request.user, study_id, "study.manage")
    form = RatingsForm(study, request.POST or None, request.FILES or None)
    problems: Problems | None = None
    if request.method == "POST" and form.is_valid():
        file: UploadedFile[bytes] = form.cleaned_data["file"]
        try:
            done = import_ratings(
                study,
                file.read(FILE_BYTES + 1),
                kind=form.cleaned_data["kind"],
                question=form.cleaned_data["question"],
                file=file.name or "",
                by=request.user,
            )
        except Refused as refused:
            problems = refused.problems
        else:
            known = f" {done.known:,} were here already." if done.known else ""
            messages.success(request, f"{done.ratings:,} ratings of {done.raters} outside raters.{known}")
            return redirect("annotation:import_ratings", study.pk)
    context = {
        "study": study,
        "tab": "progress",
        "may_manage": True,
        "form": form,
        "problems": problems,
        "raters": study.outside_raters.annotate(n_ratings=Count("ratings")),
        "definition": Definition.read(study.protocol.definition),
    }
    status = 422 if problems or form.errors else 200
    return render(request, "annotation/import_ratings.html", context, status=status)


class StudyFileForm(forms.Form):
    """The bundle of a study."""

    file = forms.FileField(label="Study bundle (.zip)")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def study(request: SignedInRequest) -> HttpResponse:
    """Take in a study from its bundle, as it was."""
    if not Benchmark.objects.where(request.user, "study.manage").exists():
        raise NotFound
    form = StudyFileForm(request.POST or None, request.FILES or None)
    problems: Problems | None = None
    if request.method == "POST" and form.is_valid():
        try:
            taken = _from_upload(form.cleaned_data["file"], request.user)
        except Refused as refused:
            problems = refused.problems
        except Conflict as here:
            form.add_error("file", here.message)
        else:
            messages.success(request, f"“{taken.title}” is here, with everything that was said in it.")
            return redirect("annotation:study", taken.pk)
    context = {"form": form, "problems": problems}
    status = 422 if problems or form.errors else 200
    return render(request, "annotation/import_study.html", context, status=status)


def _from_upload(file: UploadedFile[bytes], person: User) -> Study:
    with NamedTemporaryFile(suffix=".zip") as kept:
        for chunk in file.chunks():
            kept.write(chunk)
        kept.flush()
        return import_study(Path(kept.name), by=person)
