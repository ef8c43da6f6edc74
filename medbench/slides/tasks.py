"""Background work on slides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medbench import jobs
from medbench.slides import services
from medbench.slides.models import Slide

if TYPE_CHECKING:
    from medbench.jobs.attempt import Attempt


@jobs.register("slides.register", given_up=services.registration_given_up)
def register(attempt: Attempt) -> None:
    """Register the slide `payload["slide"]`; a slide deleted meanwhile is no failure."""
    slide = Slide.objects.filter(pk=attempt.payload["slide"]).first()
    if slide is None:
        return
    attempt.progress(stage="reading the file")
    examination = services.examine(slide, tick=attempt.progress)
    with attempt.writing():
        services.record(slide, examination)
