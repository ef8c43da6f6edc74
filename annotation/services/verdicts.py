"""Answers: saved as they are given, kept for ever, counted once submitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Study, Verdict, VerdictRevision
from annotation.protocols import Definition, Said
from annotation.services import agreement, corrections, log, regions, spans
from annotation.services.assignments import locked, refuse_unless_running, seat
from annotation.services.log import What
from medbench.errors import Conflict, InvalidInput
from medbench.formats.text import is_storable

if TYPE_CHECKING:
    from medbench.formats.problems import Problem
    from medbench.review.models import ReviewItem

LONGEST_VISIT_S = 12 * 3600


class Draft(NamedTuple):
    """What one window holds: answers (question key -> option), comment, and the version of the
    verdict that it started from (0 = none); regions as slides.regions writes them and notes (question
    key -> words), None = those that are stored; how many tiles of the slide it could not show; whether
    the curator is to look at it; the visit of the page with its seconds of active work so far; spans
    as services.spans takes them and corrections (field of the item -> text), None = those that are
    stored."""

    answers: dict[str, str]
    comment: str
    version: int
    regions: list[Any] | None = None
    missing_tiles: int = 0
    notes: dict[str, str] | None = None
    flagged: bool = False
    visit: str = ""
    active_s: int = 0
    spans: list[Any] | None = None
    corrections: dict[str, str] | None = None


class Stale(Conflict):
    """Another window saved something else meanwhile; `verdict` is what is stored. Nothing was
    written, and nothing needs to be lost: show both."""

    code = "stale"

    def __init__(self, verdict: Verdict) -> None:
        super().__init__("These answers were changed in another window. Compare, then save again.")
        self.verdict = verdict


class Incomplete(InvalidInput):
    """Required answers are missing; `gaps` names them in order. The draft was saved."""

    code = "incomplete"

    def __init__(self, gaps: list[Problem]) -> None:
        super().__init__(gaps[0].message)
        self.gaps = gaps


@transaction.atomic
def save_verdict(assignment: Assignment, draft: Draft) -> Verdict:
    """Keep a draft, and the hold with it.

    The same content as stored is no change, whatever its version: a save that was repeated because
    its answer got lost is fine. Other content under an old version raises Stale. A draft is kept
    even where the item has gone to somebody else or the study is paused; it counts nowhere until it
    is submitted. Raises Conflict in a closed study, InvalidInput for what the protocol does not know.
    """
    return _save(locked(assignment), draft)


def submit_verdict(assignment: Assignment, draft: Draft) -> Verdict:
    """Save the draft and make it the verdict that counts. Twice is the same as once.

    Raises Incomplete where required answers are missing, Conflict where the study is not running or
    the item has gone to another annotator; the draft is kept all the same.
    """
    with transaction.atomic():
        assignment = locked(assignment)
        verdict = _save(assignment, draft)
        refusal = _refusal(assignment, verdict)
        if refusal is None and verdict.submitted_version != verdict.version:
            _submit(assignment, verdict, draft.missing_tiles)
    if refusal is not None:  # raised here, so that the draft is not rolled back
        raise refusal
    return verdict


def _save(assignment: Assignment, draft: Draft) -> Verdict:
    study = assignment.study_item.study
    if study.state == Study.State.CLOSED:
        refuse_unless_running(study)
    definition = Definition.read(study.protocol.definition)
    definition.check_answers(draft.answers)
    definition.check_notes(draft.notes or {})
    if not is_storable(draft.comment):
        raise InvalidInput("The comment has a character that cannot be stored. Remove it.")
    verdict, _ = Verdict.objects.get_or_create(assignment=assignment)
    verdict.assignment = assignment  # with its item, as the caller has it
    if study.state == Study.State.RUNNING:
        seat(assignment)
    _count_time(verdict, draft)
    item = assignment.study_item.item
    new = {
        "answers": draft.answers,
        "notes": verdict.notes if draft.notes is None else draft.notes,
        "comment": draft.comment,
        "flagged": draft.flagged,
        "regions": _regions(assignment, verdict, draft),
        "spans": verdict.spans if draft.spans is None else spans.checked(item, draft.spans),
        "corrections": _corrections(item, verdict, draft),
    }
    if all(getattr(verdict, name) == value for name, value in new.items()):
        return verdict
    if verdict.version != draft.version:
        raise Stale(verdict)
    for name, value in new.items():
        setattr(verdict, name, value)
    _write(verdict)
    return verdict


def _count_time(verdict: Verdict, draft: Draft) -> None:
    """Take the active time of the draft's visit, if it is news. It is no version of the verdict."""
    seconds = min(draft.active_s, LONGEST_VISIT_S)
    if draft.visit and seconds > verdict.active_s.get(draft.visit, 0):
        verdict.active_s[draft.visit] = seconds
        verdict.save(update_fields=["active_s"])


def _regions(assignment: Assignment, verdict: Verdict, draft: Draft) -> list[Any]:
    """The regions of the draft, checked unless they are stored already: the slide may be gone by now."""
    if draft.regions is None or draft.regions == verdict.regions:
        return list(verdict.regions)
    return regions.checked(assignment.study_item.item, draft.regions)


def _corrections(item: ReviewItem, verdict: Verdict, draft: Draft) -> dict[str, str]:
    return verdict.corrections if draft.corrections is None else corrections.checked(item, draft.corrections)


def _refusal(assignment: Assignment, verdict: Verdict) -> Incomplete | Conflict | None:
    """Why a saved draft cannot be submitted now, or None."""
    study = assignment.study_item.study
    try:
        refuse_unless_running(study)
    except Conflict as standing:
        return standing
    is_anchored = bool(assignment.study_item.item.payload.get("span") or verdict.spans)
    said = Said(verdict.answers, verdict.notes, len(verdict.regions), is_anchored)
    if gaps := Definition.read(study.protocol.definition).gaps(said):
        return Incomplete(gaps)
    return None if assignment.seat else _gone(assignment)


def _submit(assignment: Assignment, verdict: Verdict, missing_tiles: int) -> None:
    again = ", changed" if verdict.submitted_at else ""
    verdict.submitted_at = timezone.now()
    verdict.submitted_version = verdict.version + 1
    _write(verdict, submitted=True, missing_tiles=missing_tiles)
    Assignment.objects.filter(pk=assignment.pk).update(
        state=Assignment.State.SUBMITTED, held_until=None, skip_reason=""
    )
    study_item = assignment.study_item
    note = f"Item {study_item.position}{again}, version {verdict.version}"
    log.record(study_item.study, What.ANSWERED, note, by=assignment.annotator)
    agreement.verdicts_changed(study_item.study)


def _write(verdict: Verdict, *, submitted: bool = False, missing_tiles: int = 0) -> None:
    """Save the verdict under its next version, and that version in the history."""
    verdict.version += 1
    verdict.save()
    VerdictRevision.objects.create(
        verdict=verdict,
        version=verdict.version,
        answers=verdict.answers,
        notes=verdict.notes,
        comment=verdict.comment,
        flagged=verdict.flagged,
        regions=verdict.regions,
        spans=verdict.spans,
        corrections=verdict.corrections,
        missing_tiles=missing_tiles,
        submitted=submitted,
    )


def _gone(assignment: Assignment) -> Conflict:
    when = f" at {assignment.held_until:%H:%M} UTC" if assignment.held_until else ""
    return Conflict(
        f"This item went to another annotator{when}. Your answers are kept in your history and not counted.",
        code="hold_lost",
    )
