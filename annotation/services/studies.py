"""Studies from draft to closed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation.adjudication import complete_readings
from annotation.conclusions import conclusion_of
from annotation.models import Protocol, Study, StudyAnnotator, StudyItem
from annotation.protocols import Definition
from annotation.queries import decided, source_of
from annotation.services import log, mail
from annotation.services.dealing import deal
from annotation.services.log import What
from annotation.services.regions import with_regions
from medbench.accounts.permissions import Role
from medbench.errors import Conflict, InvalidInput
from medbench.formats.problems import Problem
from medbench.review.models import ReviewItem
from medbench.review.services import Decision, create_items, record_results

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

    from medbench.accounts.models import User


# How many items a new study draws where no number is given; of other kinds all that match.
DEFAULT_SAMPLES: dict[str, int] = {ReviewItem.Kind.CASE: 100}


class NotReady(InvalidInput):
    """A study that cannot start yet; `problems` name everything that is missing."""

    code = "not_ready"

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(f"The study cannot start yet. {problems[0].message}")
        self.problems = problems


def what_is_missing(
    *, n_items: int, n_annotators: int, annotators_per_item: int, due_at: dt.datetime | None
) -> list[Problem]:
    """What keeps a study of these sizes from starting, each with the field to look at."""
    problems = []
    if n_items == 0:
        problems.append(Problem("no_items", "Nothing matches. Choose another filter.", field="items"))
    if n_annotators == 0:
        problems.append(Problem("no_annotators", "Nobody is chosen to annotate.", field="annotators"))
    elif n_annotators < annotators_per_item:
        text = f"{annotators_per_item} per item are wanted, and {n_annotators} are chosen."
        problems.append(Problem("too_few_annotators", text, field="annotators"))
    if due_at is not None and due_at <= timezone.now():
        problems.append(Problem("due_is_past", "The due date is in the past.", field="due_at"))
    return problems


@transaction.atomic
def draft_study(
    study: Study, items: Iterable[ReviewItem], annotators: Sequence[User], *, by: User, chosen: str = ""
) -> Study:
    """Store an unsaved `study` with its (unsaved) review items and its annotators, as a draft; `chosen`
    says for the log by which filters.

    Annotators are stored in an order drawn with the study's seed: it gives them the letters under
    which others see them, so it must say nothing about their names.
    """
    _check_items_fit(study, items := list(items))
    study.state = Study.State.DRAFT
    study.created_by = by
    study.save()
    _append(study, items)
    drawn = sorted(annotators, key=lambda person: person.pk)
    random.Random(study.seed).shuffle(drawn)  # noqa: S311  # an order to repeat, no secret
    StudyAnnotator.objects.bulk_create(StudyAnnotator(study=study, user=person) for person in drawn)
    note = f"{study.protocol}, {len(items):,} items" + (f": {chosen}" if chosen else "")
    log.record(study, What.CREATED, note, by=by)
    return study


def _check_items_fit(study: Study, items: Iterable[ReviewItem]) -> None:
    if study.protocol.team_id not in (None, study.benchmark.team_id):
        raise InvalidInput("This protocol belongs to another team. Copy it into yours first.")
    for item in items:
        if item.kind != study.protocol.kind:
            raise InvalidInput("This protocol is about something else. Choose a protocol for these items.")
        if item.benchmark_id != study.benchmark_id:
            raise InvalidInput("All items of a study belong to its benchmark.")


@transaction.atomic
def start_study(study: Study, *, by: User | None = None) -> Study:
    """Give every annotator their order of the items and open the study.

    Raises NotReady where something is missing, Conflict unless the study is a draft.
    """
    study = _locked(study)
    if study.state != Study.State.DRAFT:
        raise Conflict("This study has started already.")
    # Whoever is just editing the protocol: wait, and from now on they get a new version.
    study.protocol = Protocol.objects.select_for_update(of=("self",)).get(pk=study.protocol_id)
    annotators = list(study.annotators.select_related("user"))
    items = list(study.items.order_by("position"))
    problems = what_is_missing(
        n_items=len(items),
        n_annotators=len(annotators),
        annotators_per_item=study.annotators_per_item,
        due_at=study.due_at,
    )
    problems += _without_role(study, [each.user for each in annotators])
    if problems:
        raise NotReady(problems)
    deal(study, items, [each.user for each in annotators])
    study.state = Study.State.RUNNING
    study.started_at = timezone.now()
    study.save()
    log.record(study, What.STARTED, by=by)
    mail.tell_annotators(study)
    return study


def _without_role(study: Study, annotators: Iterable[User]) -> list[Problem]:
    with_role = set(
        study.benchmark.team.memberships.filter(role=Role.ANNOTATOR, ended_at=None).values_list(
            "user_id", flat=True
        )
    )
    return [
        Problem(
            "not_an_annotator", f"{each} is no longer an annotator of this benchmark.", field="annotators"
        )
        for each in annotators
        if each.pk not in with_role
    ]


@transaction.atomic
def append_items(
    study: Study, items: Iterable[ReviewItem], *, by: User | None = None, chosen: str = ""
) -> int:
    """Add (unsaved) review items behind those that the study has; answers how many were new.

    In a started study they come last in every annotator's order.
    """
    study = _locked(study)
    _refuse_if_closed(study)
    _refuse_if_round(study)
    _check_items_fit(study, items := list(items))
    added = _append(study, items)
    if study.state != Study.State.DRAFT:
        deal(study, added, [each.user for each in study.annotators.select_related("user")])
    if added:
        note = f"{len(added):,} items" + (f": {chosen}" if chosen else "")
        log.record(study, What.ITEMS, note, by=by)
    return len(added)


def _append(study: Study, items: Iterable[ReviewItem]) -> list[StudyItem]:
    held = set(study.items.values_list("item_id", flat=True))
    new = [item for item in create_items(items) if item.pk not in held]
    end = study.items.aggregate(end=Max("position"))["end"] or 0
    return StudyItem.objects.bulk_create(
        (StudyItem(study=study, item=item, position=position) for position, item in enumerate(new, end + 1)),
        batch_size=500,
    )


@transaction.atomic
def add_annotators(study: Study, people: Iterable[User], *, by: User | None = None) -> int:
    """Let more people annotate a study that is not closed; answers how many were new.

    In a started study each gets all its items, in an order of their own.
    """
    study = _locked(study)
    _refuse_if_closed(study)
    new = list(people)
    if new:
        _refuse_if_round(study)
    there = set(study.annotators.values_list("user", flat=True))
    new = [person for person in new if person.pk not in there]
    if problems := _without_role(study, new):
        raise NotReady(problems)
    StudyAnnotator.objects.bulk_create(StudyAnnotator(study=study, user=person) for person in new)
    if study.state != Study.State.DRAFT:
        deal(study, list(study.items.order_by("position")), new)
        mail.tell_annotators(study)
    if new:
        log.record(study, What.ANNOTATORS, ", ".join(str(person) for person in new), by=by)
    return len(new)


@transaction.atomic
def change_set_up(
    study: Study, *, title: str, due_at: dt.datetime | None, guidelines: str, by: User | None = None
) -> Study:
    """Change what can be changed in a study that is not closed: its title, due date and guidelines."""
    study = _locked(study)
    _refuse_if_closed(study)
    new = {"title": title, "due_at": due_at, "guidelines": guidelines}
    changes = [
        f"{_words(name)}: {_shown(getattr(study, name))} → {_shown(value)}"
        for name, value in new.items()
        if getattr(study, name) != value
    ]
    for name, value in new.items():
        setattr(study, name, value)
    study.save()
    if changes:
        log.record(study, What.CHANGED, "\n".join(changes), by=by)
    return study


def _words(name: str) -> str:
    return {"due_at": "due"}.get(name, name)


def _shown(value: str | dt.datetime | None) -> str:
    if value is None or value == "":
        return "none"
    return value if isinstance(value, str) else f"{value:%Y-%m-%d %H:%M} UTC"


@transaction.atomic
def pause_study(study: Study, *, by: User | None = None) -> Study:
    """Nothing is given out or submitted until the study goes on; drafts are still kept."""
    study = _locked(study)
    if study.state != Study.State.RUNNING:
        raise Conflict("Only a running study can be paused.")
    study.state = Study.State.PAUSED
    study.paused_at = timezone.now()
    study.save()
    log.record(study, What.PAUSED, by=by)
    return study


@transaction.atomic
def resume_study(study: Study, *, by: User | None = None) -> Study:
    """Undo a pause."""
    study = _locked(study)
    if study.state != Study.State.PAUSED:
        raise Conflict("Only a paused study can be resumed.")
    study.state = Study.State.RUNNING
    study.paused_at = None
    study.save()
    log.record(study, What.RESUMED, by=by)
    mail.tell_annotators(study)
    return study


@transaction.atomic
def close_study(study: Study, *, by: User | None = None) -> Study:
    """End a study for good, and record what it says clearly.

    An item is decided here only where it has all the verdicts it needs and they clearly say the same
    (see `conclusions.conclusion_of`). Anything else (a “no” beside a “yes”, a “cannot judge”, a proposed
    correction, a verdict short) is left to adjudication.
    A further round measures how steady readers are; it decides nothing.
    """
    # Whoever is just submitting holds the lock of their item: wait for them, then let nobody in.
    list(StudyItem.objects.select_for_update().filter(study=study).order_by("pk").values_list("pk"))
    study = _locked(study)
    if study.state not in (Study.State.RUNNING, Study.State.PAUSED):
        raise Conflict("Only a study that has started can be closed.")
    study.state = Study.State.CLOSED
    study.closed_at = timezone.now()
    study.save()
    log.record(study, What.CLOSED, by=by)
    if study.repeats_id is None:
        record_results(source_of(study), with_regions(study, _clear_decisions(study)))
    return study


def _clear_decisions(study: Study) -> list[Decision]:
    definition, kind = Definition.read(study.protocol.definition), study.protocol.kind
    adjudicated = set(decided(study).values_list("item", flat=True))
    return [
        Decision(item, outcome, {"verdicts": len(readings), "protocol": str(study.protocol)})
        for item, readings in complete_readings(study)
        if item.pk not in adjudicated and (outcome := conclusion_of(definition, kind, readings))
    ]


def discard_draft(study: Study) -> None:
    """Delete a study that never started. Its review items stay: others may ask about them too."""
    if study.state != Study.State.DRAFT:
        raise Conflict("Only a draft can be discarded. Close the study instead.")
    study.delete()


def _locked(study: Study) -> Study:
    locked = Study.objects.select_for_update(of=("self",)).select_related("protocol", "benchmark__team")
    (now,) = locked.filter(pk=study.pk)
    return now


def _refuse_if_round(study: Study) -> None:
    if study.repeats_id is not None:
        raise Conflict("A further round has the items and the annotators of the first one. Nothing is added.")


def _refuse_if_closed(study: Study) -> None:
    if study.state == Study.State.CLOSED:
        raise Conflict("This study is closed. Start another one for further items.")
