"""What waits for a decision, and one item with all its answers side by side, as whoever decides sees it."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from annotation import conclusions, progress, queries, workbench
from annotation.conclusions import Reading
from annotation.corrections import corrections_of
from annotation.models import Assignment, Study
from annotation.protocols import Definition
from annotation.services.regions import in_order
from medbench.accounts.permissions import may
from medbench.cases.highlights import Span
from medbench.cases.models import Category
from medbench.errors import Conflict, MedBenchError, NotAllowed
from medbench.review.models import ItemResult, ReviewItem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from annotation.corrections import Correction
    from annotation.models import StudyItem, VerdictRevision
    from annotation.protocols import Option, Question
    from medbench.accounts.models import User

WORDS = {
    "verified": "Verified",
    "accepted": "Accepted",
    "corrected": "Corrected",
    "rejected": "Rejected",
    "decided": "Decided",
    **{f"level_{level}": f"Level {level}" for level in range(1, 5)},
}
STATUS = {"rejected": "bad", "corrected": "warn"}  # all others are "ok"


# --- The queue -----------------------------------------------------------------------


@dataclass(frozen=True)
class Waiting:
    """An item on which somebody has to decide."""

    position: int
    reasons: list[str]
    questions: list[str]  # titles of those to be decided


@dataclass
class _Read:
    """What was said of one item, and by whom."""

    readings: list[Reading] = field(default_factory=list)
    people: set[int] = field(default_factory=set)


def queue_of(study: Study, person: User) -> list[Waiting]:
    """The items of a study that wait for a decision, in its order, without those that `person` read.
    Three queries."""
    if study.repeats_id is not None:  # a further round decides nothing
        return []
    definition = Definition.read(study.protocol.definition)
    read = _read(study)
    decided = set(queries.decided(study).values_list("item", flat=True))
    found = []
    for study_item, position, item in study.items.values_list("pk", "position", "item"):
        here = read.get(study_item)
        if here is None or person.pk in here.people or item in decided:
            continue
        if not _is_ripe(study, len(here.readings)):
            continue
        if reasons := conclusions.reasons_to_decide(definition, study.protocol.kind, here.readings):
            titles = [each.title for each in conclusions.to_decide(definition, here.readings)]
            found.append(Waiting(position, reasons, titles))
    return found


def with_items(study: Study, waiting: Iterable[Waiting]) -> list[tuple[Waiting, ReviewItem]]:
    """Some of the queue, each with what is to be judged."""
    some = list(waiting)
    rows = study.items.filter(position__in=[each.position for each in some]).select_related("item")
    items = {row.position: row.item for row in rows}
    return [(each, items[each.position]) for each in some]


def n_adjudicated(study: Study) -> int:
    """How many items somebody decided, beside those on which all readers agreed."""
    return queries.decided(study).filter(detail__has_key="reason").count()


def next_in_queue(study: Study, person: User, after: int) -> int | None:
    """The position of the item to decide next: the first one behind `after`, else the first of all."""
    positions = [each.position for each in queue_of(study, person)]
    return next((each for each in positions if each > after), positions[0] if positions else None)


def _read(study: Study) -> dict[int, _Read]:
    """By study item."""
    found: dict[int, _Read] = defaultdict(_Read)
    rows = queries.counted(study).values_list(
        "verdict__assignment__study_item", "verdict__assignment__annotator", "answers", "corrections"
    )
    for study_item, annotator, answers, corrections in rows:
        found[study_item].readings.append(Reading(answers, bool(corrections)))
        found[study_item].people.add(annotator)
    return found


def complete_readings(study: Study) -> list[tuple[ReviewItem, list[Reading]]]:
    """The items that have all the verdicts they need, each with what was said. Two queries."""
    read = _read(study)
    return [
        (each.item, read[each.pk].readings)
        for each in study.items.select_related("item")
        if len(read[each.pk].readings) >= study.annotators_per_item
    ]


def _is_ripe(study: Study, n_readings: int) -> bool:
    return n_readings >= study.annotators_per_item or study.state == Study.State.CLOSED


def readings_of(study_item: StudyItem) -> list[Reading]:
    """The verdicts of one item that count."""
    rows = queries.counted_of(study_item).values_list("answers", "corrections")
    return [Reading(answers, bool(corrections)) for answers, corrections in rows]


def why_not_yet(study_item: StudyItem, person: User) -> MedBenchError | None:
    """What keeps `person` from deciding about the item now, or None."""
    study = study_item.study
    if study.repeats_id is not None:
        return Conflict("A further round decides nothing. Decide in the first one.")
    submitted = study_item.assignments.filter(state=Assignment.State.SUBMITTED)
    readers = list(submitted.values_list("annotator", flat=True))
    if person.pk in readers:
        return NotAllowed("You read this item yourself. Somebody else decides about it.")
    if not _is_ripe(study, len(readers)):
        return Conflict("This item is still being read. It can be decided when all its verdicts are in.")
    if queries.decided(study).filter(item=study_item.item_id).exists():
        return Conflict("This item is decided already.")
    definition, readings = Definition.read(study.protocol.definition), readings_of(study_item)
    affirmed = conclusions.conclusion_of(definition, study.protocol.kind, readings) not in ("", "rejected")
    if not readings or affirmed or not may_be_disputed(definition, study.protocol.kind, readings):
        return Conflict("Its annotators agree: there is nothing to decide.")
    return None


def may_be_disputed(definition: Definition, kind: str, readings: list[Reading]) -> bool:
    """Whether there is anything to decide: a question, or what becomes of the item."""
    return bool(conclusions.to_decide(definition, readings)) or kind in conclusions.OUTCOMES


# --- One item ------------------------------------------------------------------------


@dataclass(frozen=True)
class Reader:
    """What one reader said beside the answers. The letter is drawn for each item."""

    letter: str
    comment: str
    flagged: bool
    corrections: list[Correction]
    spans: list[tuple[int, str]]  # number of the mark in the report, and the words
    n_regions: int
    missing_tiles: int


@dataclass(frozen=True)
class Answer:
    """A reader's answer to a question (None = blank), and what was added in words."""

    letter: str
    option: Option | None
    note: str


@dataclass(frozen=True)
class Asked:
    """A question with the answers of all readers, and whether it is to be decided."""

    question: Question
    answers: list[Answer]
    to_decide: bool
    decided: str  # the value that was decided or is in the form, "" for none

    @property
    def layout(self) -> str:
        """As in the workbench."""
        if len(self.question.options) > 4:
            return "score"
        return "rows" if any(len(option.label) > 12 for option in self.question.options) else ""


def context_of(study_item: StudyItem, person: User, given: dict[str, str] | None = None) -> dict[str, Any]:
    """The page of an item; `given` are the answers in a form that was refused."""
    study, item = study_item.study, study_item.item
    refusal = why_not_yet(study_item, person)
    result = ItemResult.objects.filter(item=item, source=queries.source_of(study)).first()
    read = shuffled(study_item)
    readers, spans = _readers(item, read)
    may_decide = refusal is None and may(person, "item.adjudicate", study.benchmark.team)
    queue = [each.position for each in queue_of(study, person)] if may_decide else []
    return {
        "study": study,
        "study_item": study_item,
        "readers": readers,
        "asked": _asked(study_item, read, (result.detail.get("answers", {}) if result else given) or {}),
        "letters": {number: reader.letter for reader in readers for number, _ in reader.spans},
        "regions": json.dumps(_regions(readers, read)),
        "queue_place": queue.index(study_item.position) + 1 if study_item.position in queue else 0,
        "n_queue": len(queue),
        **_beside(study_item, queue if study_item.position in queue else []),
        "result": result,
        "result_word": WORDS.get(result.outcome, result.outcome) if result else "",
        "result_status": STATUS.get(result.outcome, "ok") if result else "",
        "settled": corrections_of(item, result.detail.get("correction", {})) if result else [],
        "may_decide": may_decide,
        "refusal": refusal.message if refusal and not result else "",
        "may_open_case": item.case is not None and may(person, "case.edit", study.benchmark.team),
        "report": workbench.report_of(item, spans),
        "slide": item.slide,
        "has_slide": item.slide is not None and item.slide.is_ready,
        "stored_panes": json.dumps(person.panes.get("workbench", {})),
        "categories": Category.choices,
        **workbench.claim_of(item),
    }


def _beside(study_item: StudyItem, queue: list[int]) -> dict[str, int | None]:
    """The items before and after: of the queue where the item waits in it, else of the study."""
    here = study_item.position
    positions = queue or list(study_item.study.items.values_list("position", flat=True))
    return {
        "previous": next((each for each in reversed(positions) if each < here), None),
        "following": next((each for each in positions if each > here), None),
    }


def shuffled(study_item: StudyItem) -> list[VerdictRevision]:
    """The verdicts of an item in an order drawn for it: Reader A here is not annotator A of the study."""
    readings = list(queries.counted_of(study_item).order_by("pk"))
    random.Random(str(study_item.item_id)).shuffle(readings)  # noqa: S311  # an order to repeat
    return readings


def _readers(item: ReviewItem, read: list[VerdictRevision]) -> tuple[list[Reader], list[Span]]:
    """The readers, and their passages of the report under numbers of their own."""
    readers: list[Reader] = []
    spans: list[Span] = []
    for index, each in enumerate(read):
        first = workbench.EVIDENCE + 1 + len(spans)
        spans += [Span(first + at, span["start"], span["end"]) for at, span in enumerate(each.spans)]
        readers.append(
            Reader(
                progress.letter(index),
                each.comment,
                each.flagged,
                [change for change in corrections_of(item, each.corrections) if change.is_change],
                [(first + at, span["quote"]) for at, span in enumerate(each.spans)],
                len(each.regions),
                each.missing_tiles,
            )
        )
    return readers, spans


def _regions(readers: list[Reader], read: list[VerdictRevision]) -> list[dict[str, Any]]:
    """The regions of all readers for the slide, each with whose it is."""
    return [
        {**region, "reader": at, "label": f"{reader.letter}{number}"}
        for at, (reader, revision) in enumerate(zip(readers, read, strict=True))
        for number, region in enumerate(in_order(revision.regions), 1)
    ]


def _asked(study_item: StudyItem, read: list[VerdictRevision], decided: dict[str, str]) -> list[Asked]:
    definition = Definition.read(study_item.study.protocol.definition)
    open_ones = conclusions.to_decide(
        definition, [Reading(each.answers, bool(each.corrections)) for each in read]
    )
    return [
        Asked(
            question,
            [
                Answer(
                    progress.letter(index),
                    _option(question, each.answers.get(question.key)),
                    each.notes.get(question.key, ""),
                )
                for index, each in enumerate(read)
            ],
            question in open_ones,
            decided.get(question.key, ""),
        )
        for question in definition.questions
    ]


def _option(question: Question, value: str | None) -> Option | None:
    return next((option for option in question.options if option.value == value), None)
