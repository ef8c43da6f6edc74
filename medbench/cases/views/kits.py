"""The participants' download of a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.http import FileResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from medbench.accounts.permissions import may
from medbench.cases import queries
from medbench.cases.permissions import release_for
from medbench.cases.services import request_kit
from medbench.errors import NotFound

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponseBase

    from medbench.accounts.requests import SignedInRequest


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def kit(request: SignedInRequest, release_id: uuid.UUID) -> HttpResponseBase:
    """What the kit holds and where it is; POST prepares it."""
    release = release_for(request.user, release_id, "kit.download")
    if request.method == "POST":
        request_kit(release, by=request.user)
        return redirect("cases:kit", release.pk)
    made = queries.kit_of(release)
    context = {
        "release": release,
        "benchmark": release.benchmark,
        "kit": made,
        "job": made.job if made else None,
        "numbers": queries.with_numbers(release.benchmark.releases.filter(pk=release.pk)).get(),
        "may_edit": may(request.user, "case.edit", release.benchmark.team),
    }
    return render(request, "cases/_kit.html" if request.htmx else "cases/kit.html", context)


@login_required
@require_safe
def download(request: SignedInRequest, release_id: uuid.UUID) -> HttpResponseBase:
    """The kit as .zip, streamed from the disk."""
    release = release_for(request.user, release_id, "kit.download")
    made = queries.kit_of(release)
    if made is None or not made.file:
        raise NotFound
    name = f"{release.benchmark.name}-release-{release.number}-kit.zip"
    return FileResponse(
        made.file.open("rb"), as_attachment=True, filename=name, content_type="application/zip"
    )
