"""Reads of slides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from medbench.errors import NotAllowed, NotFound
from medbench.slides.models import Slide
from medbench.slides.permissions import curated, may_see

if TYPE_CHECKING:
    import uuid

    from django.contrib.auth.models import AnonymousUser
    from django.db.models import QuerySet

    from medbench.accounts.models import User


def visible_slide(person: User | AnonymousUser, slide_id: uuid.UUID) -> Slide:
    """The slide, for whoever may see it. Raises NotFound, alike for a missing and a hidden one."""
    slide = Slide.objects.filter(pk=slide_id).first()
    if slide is None or not may_see(person, slide):
        raise NotFound
    return slide


def curated_slides(person: User | AnonymousUser) -> QuerySet[Slide]:
    """The slides that `person` manages, by name."""
    return Slide.objects.filter(curated(person)).order_by("file_name", "pk")


def curated_slide(person: User | AnonymousUser, slide_id: uuid.UUID) -> Slide:
    """One of them. Raises NotAllowed for whoever may see the slide and not manage it, else NotFound."""
    slide = curated_slides(person).select_related("job").filter(pk=slide_id).first()
    if slide is None:
        visible_slide(person, slide_id)
        raise NotAllowed("Only a curator of its benchmark sees how a slide was registered.")
    return slide


STATES = {
    "attention": Q(state=Slide.State.FAILED)
    | (Q(state=Slide.State.PENDING) & ~Q(refusal_code__in=("", "file_missing")))
    | Q(state=Slide.State.READY, quality_overruled=Slide.Quality.SUSPECT)
    | Q(state=Slide.State.READY, quality_overruled="", quality=Slide.Quality.SUSPECT),
    "missing": Q(state=Slide.State.PENDING, refusal_code__in=("", "file_missing")),
    "registering": Q(state=Slide.State.REGISTERING),
    "ready": Q(state=Slide.State.READY),
}
