"""Who may see which study, and whose an assignment is."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from annotation.models import Assignment, Protocol, Study, StudyItem
from annotation.queries import is_read_again, rounds_of
from medbench.accounts.permissions import may, require, visible_teams
from medbench.errors import NotAllowed, NotFound

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


def answers_for(person: Person, study_id: str | uuid.UUID, action: str = "study.read") -> Study:
    """As `study_for`, for what shows the answers of others: whoever annotates in a study does not see
    them before it is closed, curator or not."""
    found = study_for(person, study_id, action)
    if is_blind(person, found):
        raise NotAllowed(
            "You annotate in this study, so the answers of others stay hidden from you until it and all "
            "its rounds are closed."
        )
    return found


def machine_for(person: Person, study_id: str | uuid.UUID) -> Study:
    """As `answers_for`, for what names methods and their automated scores: curators, and once the
    study is closed whoever may read it, adjudicators among them."""
    found = answers_for(person, study_id)
    if found.state != Study.State.CLOSED:
        require(person, "study.manage", found.benchmark.team, seen_by="study.read")
    return found


def protocol_for(person: Person, protocol_id: int, action: str = "study.read") -> Protocol:
    """A built-in protocol, for whoever may do `action` somewhere, or one of a team where they may."""
    found = Protocol.objects.select_related("team__benchmark", "source").filter(pk=protocol_id).first()
    if found is None:
        raise NotFound
    if found.team is not None:
        require(person, action, found.team, seen_by="study.read")
    elif not visible_teams(person, action).exists():
        if visible_teams(person, "study.read").exists():
            raise NotAllowed("Your role does not allow this. Ask a curator of your benchmark.")
        raise NotFound
    return found


def is_blind(person: Person, study: Study) -> bool:
    """Whether the answers are hidden from `person`: they annotate in a round of it that is not closed."""
    open_rounds = rounds_of(study).exclude(state=Study.State.CLOSED)
    return open_rounds.filter(annotators__user=person.pk).exists()


def study_item_for(person: Person, study_id: str | uuid.UUID, position: int, action: str) -> StudyItem:
    """One item of a study with the answers of all, for those who may do `action` (see `answers_for`)."""
    study = answers_for(person, study_id, action)
    found = study.items.select_related("item__case", "item__report", "item__slide").filter(position=position)
    if (item := found.first()) is None:
        raise NotFound
    item.study = study
    return item


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
    if found.study_item.study.state == Study.State.CLOSED and is_read_again(found):
        raise NotAllowed(
            "You read this item again in another round. What you said here stays hidden until you have "
            "submitted it there."
        )
    return found


def _uuid(text: str | uuid.UUID) -> uuid.UUID:
    try:
        return uuid.UUID(str(text))
    except ValueError:
        raise NotFound from None
