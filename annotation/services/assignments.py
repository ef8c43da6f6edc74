"""Who holds which item. Everything here changes seats, under the lock of the study item.

Every function that writes to an assignment or its verdict takes that lock first, so the people at
one item follow one another; those at different items never wait.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation import queries
from annotation.models import Assignment, Study, StudyAnnotator, StudyItem
from annotation.services import log
from annotation.services.log import What
from medbench.errors import Conflict

if TYPE_CHECKING:
    from medbench.accounts.models import User

State = Assignment.State
HOLD = dt.timedelta(hours=4)  # since the last sign of the annotator


def refuse_unless_running(study: Study) -> None:
    """Raise Conflict with the reason where nothing may be taken or submitted now."""
    if study.state == Study.State.PAUSED:
        raise Conflict("This study is paused. Your answers are kept.", code="study_paused")
    if study.state == Study.State.CLOSED:
        raise Conflict("This study is closed. It takes no more answers.", code="study_closed")


def locked(assignment: Assignment) -> Assignment:
    """The assignment as it is now, with its item locked until the transaction ends."""
    list(StudyItem.objects.select_for_update().filter(pk=assignment.study_item_id).values_list("pk"))
    (now,) = Assignment.objects.select_related("study_item__study__protocol").filter(pk=assignment.pk)
    return now


def claim_next(study: Study, user: User) -> Assignment | None:
    """The item that `user` should work on now: one they have in hand, else the next of their order
    that needs somebody. None where nothing is left for them at this time.

    However many ask at once, an item is never held and submitted by more people than it needs: see
    `take`, and the constraint `seat_once` behind it.
    """
    while True:
        # One transaction for each try, so that nobody waits for one item while keeping another.
        with transaction.atomic():
            # Two windows of one person ask one after the other, and get the same item.
            StudyAnnotator.objects.select_for_update().get(study=study, user=user)
            found = queries.in_hand(study, user).first() or queries.first_open(study, user)
            if found is None:
                return None
            if (taken := take(found)) is not None:
                return taken
        # Others have filled it since it was found. Look again.


def peek_next(assignment: Assignment) -> Assignment | None:
    """What `claim_next` would give once this item is out of hand, were nobody to take it before: to be
    shown without a wait. Nothing is held, and its number is that which it would get."""
    study, user = assignment.study_item.study, assignment.annotator
    if study.state != Study.State.RUNNING:
        return None
    in_hand = queries.with_items(queries.in_hand(study, user)).exclude(pk=assignment.pk)
    found = in_hand.first() or queries.first_open(study, user)
    if found is not None:
        found.number = found.number or _next_number(found)
    return found


@transaction.atomic
def take(assignment: Assignment) -> Assignment | None:
    """Hold the item for its annotator, anew or for longer; None where all its seats are taken.

    Raises Conflict where the study is paused or closed.
    """
    assignment = locked(assignment)
    refuse_unless_running(assignment.study_item.study)
    return assignment if seat(assignment) else None


def seat(assignment: Assignment) -> bool:
    """Let the annotator of a locked assignment sit, or go on sitting. False where all seats of the
    item are taken by others."""
    if assignment.state == State.SUBMITTED:
        return True
    if assignment.state != State.HELD:
        if assignment.not_before and assignment.not_before > timezone.now():
            when = f"{assignment.not_before:%Y-%m-%d %H:%M} UTC"
            raise Conflict(f"You can read this item again from {when} on.", code="too_early")
        free = _free_seat(assignment.study_item)
        if free is None:
            return False
        assignment.seat = free
        assignment.state = State.HELD
        assignment.number = assignment.number or _next_number(assignment)
    assignment.held_until = timezone.now() + HOLD
    assignment.save()
    return True


def _free_seat(item: StudyItem) -> int | None:
    """A seat of a locked item: a free one, else that of the hold that ran out first."""
    seated = list(item.assignments.filter(seat__isnull=False).order_by("held_until"))
    taken = {each.seat for each in seated}
    for number in range(1, item.study.annotators_per_item + 1):
        if number not in taken:
            return number
    now = timezone.now()
    over = next((each for each in seated if each.held_until is not None and each.held_until < now), None)
    if over is None:
        return None
    freed, over.seat = over.seat, None
    over.state = State.RELEASED
    over.held_until = now
    over.save()
    return freed


def _next_number(assignment: Assignment) -> int:
    had = queries.given(assignment.study_item.study, assignment.annotator)
    return (had.aggregate(last=Max("number"))["last"] or 0) + 1


@transaction.atomic
def skip(assignment: Assignment, reason: str = "") -> Assignment:
    """Give the item back. The draft is kept; the annotator may take the item up again while it
    still needs somebody. Skipping twice is the same as once."""
    assignment = locked(assignment)
    refuse_unless_running(assignment.study_item.study)
    if assignment.state == State.SUBMITTED:
        raise Conflict("This item is submitted. Change the answers instead of skipping it.")
    if assignment.state == State.HELD:
        assignment.state = State.SKIPPED
        assignment.seat = None
        assignment.held_until = None
        note = f"Item {assignment.study_item.position}"
        log.record(
            assignment.study_item.study,
            What.SKIPPED,
            f"{note}: {reason}" if reason else note,
            by=assignment.annotator,
        )
    assignment.skip_reason = reason or assignment.skip_reason
    assignment.save()
    return assignment
