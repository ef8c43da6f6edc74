"""What the frame of every page needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.functional import SimpleLazyObject

from medbench.web import navigation

if TYPE_CHECKING:
    from django.http import HttpRequest


def frame(request: HttpRequest) -> dict[str, Any]:
    """Links of the bar, theme, version."""
    return {
        # Counted only by a page that draws the bar: fragments and the workbench do not.
        "navigation": SimpleLazyObject(lambda: navigation.links(request)),
        "theme": getattr(request.user, "theme", "system") if hasattr(request, "user") else "system",
        "medbench_version": settings.VERSION,
    }
