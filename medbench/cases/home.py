"""What the cases contribute to the bar and the home page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medbench.cases import queries
from medbench.cases.models import Benchmark
from medbench.cases.permissions import may_import
from medbench.slides.models import Slide

if TYPE_CHECKING:
    from django.http import HttpRequest


def shows_cases(request: HttpRequest) -> bool | None:
    """The link for whoever may read cases somewhere, or may import the first ones."""
    if queries.benchmarks(request.user).exists() or may_import(request.user):
        return None
    return False


def first_steps(request: HttpRequest) -> dict[str, Any] | None:
    """For curators of a site on which something of the beginning is still to do."""
    if not may_import(request.user):
        return None
    steps = {
        "has_benchmark": Benchmark.objects.where(request.user, "benchmark.import").exists(),
        "has_slide": Slide.objects.filter(state=Slide.State.READY).exists(),
    }
    return None if all(steps.values()) else steps


def latest_release(request: HttpRequest) -> dict[str, Any] | None:
    """The newest release that the person may read."""
    release = queries.releases(request.user).first()
    return None if release is None else {"release": release}
