"""Pages for curators: how slides were registered, what the image checks say, and who did what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from medbench.accounts.permissions import visible_teams
from medbench.errors import Conflict, NotFound
from medbench.jobs.services import cancel
from medbench.slides import services
from medbench.slides.findings import MPP_SOURCES
from medbench.slides.forms import CHECKS, OverruleForm
from medbench.slides.queries import STATES, curated_slide, curated_slides

if TYPE_CHECKING:
    import uuid

    from medbench.accounts.requests import SignedInRequest

PAGE_ROWS = 50


@login_required
@require_safe
def slide_list(request: SignedInRequest) -> HttpResponse:
    """The slides of the benchmarks that the person curates; 404 for whoever curates none."""
    if not visible_teams(request.user, "slide.manage").exists():
        raise NotFound
    slides = curated_slides(request.user)
    state = request.GET.get("state", "")
    shown = slides.filter(STATES[state]) if state in STATES else slides
    page = Paginator(shown, PAGE_ROWS).get_page(request.GET.get("page"))
    counts = {name: slides.filter(where).count() for name, where in STATES.items()}
    context = {"page": page, "state": state, "counts": counts, "total": slides.count()}
    return render(request, "slides/list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def detail(request: SignedInRequest, slide_id: uuid.UUID) -> HttpResponse:
    """What registration found out; POST overrules the image checks."""
    slide = curated_slide(request.user, slide_id)
    data = request.POST if request.method == "POST" else None
    form = OverruleForm(data, initial={"quality": slide.quality_overruled or CHECKS})
    if form.is_valid():
        given = form.cleaned_data
        services.overrule_quality(slide, given["quality"], given["reason"], by=request.user)
        messages.success(request, "Stored.")
        return redirect("slides:detail", slide.pk)
    context = {
        "slide": slide,
        "job": slide.job if slide.job and not slide.job.is_over else None,
        "form": form,
        "mpp_source": MPP_SOURCES.get(slide.mpp_source),
        "levels": [*enumerate(slide.levels), *((each["name"], each) for each in slide.virtual_levels)],
        "actions": slide.actions.select_related("person")[:PAGE_ROWS],
    }
    return render(request, "slides/detail.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def register(request: SignedInRequest, slide_id: uuid.UUID) -> HttpResponse:
    """Have the slide's file read anew."""
    slide = curated_slide(request.user, slide_id)
    services.queue_registration(slide, requested_by=request.user)
    return redirect("slides:detail", slide.pk)


@login_required
@require_POST
def cancel_registration(request: SignedInRequest, slide_id: uuid.UUID) -> HttpResponse:
    """Stop reading the slide's file; the slide says so, and it can be asked for again."""
    slide = curated_slide(request.user, slide_id)
    if slide.job is None:
        raise Conflict("The slide is not being registered: nothing to cancel.")
    cancel(slide.job)
    return redirect("slides:detail", slide.pk)


@login_required
@require_safe
def tissue_mask(request: SignedInRequest, slide_id: uuid.UUID) -> HttpResponse:
    """Where tissue was found, as PNG."""
    slide = curated_slide(request.user, slide_id)
    if not slide.is_ready:
        raise NotFound
    content = services.tissue_mask_png(slide)
    return HttpResponse(content, content_type="image/png", headers={"Cache-Control": "private, no-cache"})
