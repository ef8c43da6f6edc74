"""Who may see which study, and whose an assignment is."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from annotation.models import Assignment, Study
from medbench.accounts.permissions import may, require
from medbench.errors import NotFound

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from medbench.accounts.models import User

    Person = User | AnonymousUser


def study_for(person: Person, study_id: str | uuid.UUID, action: str = "study.read") -> Study:
    """The study in whose benchmark `person` may do `action`. Raises NotFound, or NotAllowed for
    whoever may read it but not that. Annotators cannot know of it here, only of their own work."""
    found = Study.objects.select_related("benchmark__team", "protocol").filter(pk=_uuid(study_id)).first()
    if found is None:
        raise NotFound
    require(person, action, found.benchmark.team, seen_by="study.read")
    return found


def work_for(person: Person, study_id: str | uuid.UUID) -> Study:
    """The started study in which `person` is an annotator. Raises NotFound to anybody else."""
    found = (
        Study.objects.select_related("benchmark__team", "protocol")
        .exclude(state=Study.State.DRAFT)
        .filter(pk=_uuid(study_id), annotators__user=person.pk)
        .first()
    )
    if found is None or not may(person, "item.verify", found.benchmark.team):
        raise NotFound
    return found


def assignment_for(person: Person, assignment_id: str | uuid.UUID) -> Assignment:
    """One's own assignment, once it has been given out. Raises NotFound for anybody else's: who
    annotates what is known to curators from the study page, never from here."""
    found = (
        Assignment.objects.select_related(
            "study_item__study__protocol",
            "study_item__study__benchmark__team",
            "study_item__item__case",
            "study_item__item__slide",
            "study_item__item__report",
        )
        .filter(pk=_uuid(assignment_id), annotator=person.pk)
        .exclude(state=Assignment.State.WAITING)
        .first()
    )
    if found is None or not may(person, "item.verify", found.study_item.study.benchmark.team):
        raise NotFound
    return found


def _uuid(text: str | uuid.UUID) -> uuid.UUID:
    try:
        return uuid.UUID(str(text))
    except ValueError:
        raise NotFound from None
