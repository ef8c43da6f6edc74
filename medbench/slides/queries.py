"""Reads of slides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medbench.errors import NotFound
from medbench.slides.models import Slide
from medbench.slides.permissions import may_see

if TYPE_CHECKING:
    import uuid

    from django.contrib.auth.models import AnonymousUser

    from medbench.accounts.models import User


def visible_slide(person: User | AnonymousUser, slide_id: uuid.UUID) -> Slide:
    """The slide, for whoever may see it. Raises NotFound, alike for a missing and a hidden one."""
    slide = Slide.objects.filter(pk=slide_id).first()
    if slide is None or not may_see(person, slide):
        raise NotFound
    return slide
