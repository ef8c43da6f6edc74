"""Upload a bundle: it is checked first, then imported, both by a job with progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from medbench.cases.forms import UploadForm, posted
from medbench.cases.models import Benchmark
from medbench.cases.permissions import may_import
from medbench.cases.services import import_upload, take_upload, upload_for
from medbench.errors import NotFound
from medbench.jobs.services import cancel, retry

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from medbench.accounts.requests import SignedInRequest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: SignedInRequest) -> HttpResponse:
    """Choose a bundle."""
    if not may_import(request.user):
        raise NotFound
    form = UploadForm(**posted(request))
    if form.is_valid():
        made = take_upload(form.cleaned_data["file"], by=request.user)
        return redirect("cases:import_outcome", made.pk)
    return render(request, "cases/import.html", {"form": form}, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def outcome(request: SignedInRequest, upload_id: uuid.UUID) -> HttpResponse:
    """How far the check or the import is, and what came of it; POST imports what was checked."""
    made = upload_for(request.user, upload_id)
    if request.method == "POST":
        import_upload(made)
        return redirect("cases:import_outcome", made.pk)
    name = made.outcome["benchmark"] if made.outcome else ""
    context = {"upload": made, "job": made.job, "outcome": made.outcome}
    context["benchmark"] = Benchmark.objects.filter(name=name).first() if not made.dry_run else None
    return render(request, "cases/_outcome.html" if request.htmx else "cases/outcome.html", context)


@login_required
@require_POST
def cancel_import(request: SignedInRequest, upload_id: uuid.UUID) -> HttpResponse:
    """Stop the check or the import; what is imported already stays."""
    made = upload_for(request.user, upload_id)
    cancel(made.job)
    return redirect("cases:import_outcome", made.pk)


@login_required
@require_POST
def retry_import(request: SignedInRequest, upload_id: uuid.UUID) -> HttpResponse:
    """Run a check or an import again that failed or was cancelled."""
    made = upload_for(request.user, upload_id)
    retry(made.job)
    return redirect("cases:import_outcome", made.pk)
