"""A benchmark with its releases, and freezing the next one."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from medbench.accounts.permissions import may
from medbench.cases import queries
from medbench.cases.bundles import bundle_of
from medbench.cases.editions import Edition
from medbench.cases.forms import FreezeForm, posted
from medbench.cases.permissions import benchmark_for, release_for
from medbench.cases.services import freeze_release
from medbench.errors import Conflict, InvalidInput
from medbench.formats.bundle import text_files

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from medbench.accounts.requests import SignedInRequest


@login_required
@require_safe
def benchmark(request: SignedInRequest, benchmark_id: uuid.UUID) -> HttpResponse:
    """What the benchmark is, and its releases."""
    found = benchmark_for(request.user, benchmark_id)
    context = {
        "benchmark": found,
        "releases": queries.with_numbers(found.releases.select_related("frozen_by")).order_by("-number"),
        "held_out": may(request.user, "case.read_held_out", found.team),
        "may_freeze": may(request.user, "release.freeze", found.team),
        "may_manage_people": may(request.user, "people.manage", found.team),
        "may_edit": may(request.user, "case.edit", found.team),
        "may_export": may(request.user, "benchmark.export", found.team),
        "may_download": may(request.user, "kit.download", found.team),
    }
    return render(request, "cases/benchmark.html", context)


@login_required
@require_safe
def export(request: SignedInRequest, release_id: uuid.UUID) -> FileResponse:
    """A release as a bundle of its texts: importing it again gives the same rows, slides apart."""
    release = release_for(request.user, release_id, "benchmark.export")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in text_files(bundle_of(Edition(release.benchmark, release))).items():
            bundle.writestr(name, content)
    packed.seek(0)
    name = f"{release.benchmark.name}-{release.number}.zip"
    return FileResponse(packed, as_attachment=True, filename=name, content_type="application/zip")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def freeze(request: SignedInRequest, benchmark_id: uuid.UUID) -> HttpResponse:
    """Ask once more, with the numbers, then freeze the working copy."""
    found = benchmark_for(request.user, benchmark_id, "release.freeze")
    form = FreezeForm(**posted(request))
    if form.is_valid():
        try:
            release = freeze_release(found, by=request.user, version=form.cleaned_data["version"] or None)
        except (Conflict, InvalidInput) as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"Release {release.number} is frozen.")
            return redirect("cases:benchmark", found.pk)
    context = {"benchmark": found, "form": form, "draft": queries.draft_numbers(found)}
    return render(request, "cases/freeze.html", context, status=422 if form.errors else 200)
