"""Changing the working copy: every change of a text is a new version, nothing is overwritten."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from medbench.cases.models import Case, Category, Goal, Split, Triplet, TripletVersion
from medbench.errors import Conflict, InvalidInput
from medbench.formats.spans import find_span
from medbench.formats.text import is_storable

if TYPE_CHECKING:
    from medbench.accounts.models import User
    from medbench.cases.models import Report


@dataclass(frozen=True)
class Wording:
    """What a curator writes of a triplet; its span is found, never typed."""

    category: str
    question: str
    insight: str
    evidence: str = ""

    @classmethod
    def of(cls, version: TripletVersion) -> Wording:
        return cls(version.category, version.question, version.insight, version.evidence)


def edit_triplet(triplet: Triplet, wording: Wording, *, by: User | None, based_on: int) -> TripletVersion:
    """Give `triplet` a new current version, anchored in the case's current report and proposed anew.

    The same wording again changes nothing. Raises InvalidInput; Conflict where version `based_on`
    is no longer the current one or the triplet is no longer in the working copy.
    """
    _check(wording)
    with transaction.atomic():
        locked = Triplet.objects.select_for_update(of=("self",)).select_related("case__report", "current")
        row = locked.get(pk=triplet.pk)
        if row.retired_at or row.case.retired_at:
            raise Conflict("This triplet is no longer in the working copy.")
        assert row.current is not None
        if row.current.version != based_on:
            raise Conflict(
                f"Somebody changed this triplet meanwhile (version {row.current.version}). Read it again."
            )
        if Wording.of(row.current) == wording and row.current.report_id == row.case.report_id:
            return row.current
        return _add_version(row, wording, by)


def add_triplet(case: Case, wording: Wording, *, by: User | None) -> Triplet:
    """Append a triplet to the working copy of `case`. Raises InvalidInput, Conflict."""
    _check(wording)
    with transaction.atomic():
        row = _locked(case)
        last = row.triplets.aggregate(Max("position"))["position__max"]
        triplet = Triplet.objects.create(
            case=row, key=_new_key(row), position=0 if last is None else last + 1
        )
        _add_version(triplet, wording, by)
    return triplet


def retire_triplet(triplet: Triplet) -> None:
    """Take `triplet` out of the working copy. Releases that have it keep it."""
    Triplet.objects.filter(pk=triplet.pk, retired_at=None).update(retired_at=timezone.now())


def edit_goal(case: Case, text: str, *, by: User | None) -> Goal:
    """Give the case a new goal version; the same text again changes nothing. Raises InvalidInput."""
    if not text.strip():
        raise InvalidInput("A goal needs a sentence.")
    _check_storable(text)
    with transaction.atomic():
        row = _locked(case)
        if row.goal and row.goal.text == text:
            return row.goal
        last = row.goal_versions.aggregate(Max("version"))["version__max"] or 0
        row.goal = Goal.objects.create(case=row, version=last + 1, text=text, made_by=by)
        row.save(update_fields=["goal"])
        return row.goal


def edit_case(case: Case, *, project: str, site: str, difficulty: int, split: str) -> Case:
    """Change what the working copy says about a case. Releases keep what they copied."""
    if not 1 <= difficulty <= 4:
        raise InvalidInput("Difficulty is a number from 1 to 4.")
    if split not in Split.values:
        raise InvalidInput("The split is open or held-out.")
    _check_storable(project, site)
    with transaction.atomic():
        row = _locked(case)
        row.project, row.site, row.difficulty, row.split = project, site, difficulty, split
        row.save(update_fields=["project", "site", "difficulty", "split"])
    return row


def anchored(report: Report | None, wording: Wording) -> dict[str, Any]:
    """The fields of a TripletVersion that say where the evidence stands; empty ones if nowhere."""
    span = find_span(report.text, wording.evidence) if report and wording.evidence else None
    if report is None or span is None:
        return {"report": report, "span_start": None, "span_end": None, "quote": ""}
    return {"report": report, "span_start": span.start, "span_end": span.end, "quote": span.quote}


def _add_version(triplet: Triplet, wording: Wording, by: User | None) -> TripletVersion:
    last = triplet.versions.aggregate(Max("version"))["version__max"] or 0
    triplet.current = TripletVersion.objects.create(
        triplet=triplet,
        version=last + 1,
        confidence=triplet.current.confidence if triplet.current else None,
        made_by=by,
        **asdict(wording),
        **anchored(triplet.case.report, wording),
    )
    triplet.state = Triplet.State.PROPOSED
    triplet.save(update_fields=["current", "state"])
    return triplet.current


def _locked(case: Case) -> Case:
    row = Case.objects.select_for_update(of=("self",)).select_related("goal", "report").get(pk=case.pk)
    if row.retired_at:
        raise Conflict("This case is no longer in the working copy.")
    return row


def _new_key(case: Case) -> str:
    """The next whole number that no triplet of the case has ever had as its id."""
    taken = set(case.triplets.values_list("key", flat=True))
    return next(key for n in range(len(taken) + 1, 2 * len(taken) + 2) if (key := str(n)) not in taken)


def _check(wording: Wording) -> None:
    if wording.category not in Category.values:
        raise InvalidInput("Choose one of the six categories.")
    if not wording.question.strip() or not wording.insight.strip():
        raise InvalidInput("A triplet needs a question and an insight.")
    _check_storable(wording.question, wording.insight, wording.evidence)


def _check_storable(*texts: str) -> None:
    if not all(map(is_storable, texts)):
        raise InvalidInput("The text contains a character that cannot be stored.")
