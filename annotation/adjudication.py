"""One item of a study with all its answers side by side, as whoever decides about it sees them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation import progress, queries, workbench
from annotation.agreement import disagreements
from annotation.models import Study
from annotation.protocols import Definition
from medbench.accounts.permissions import may
from medbench.errors import Conflict, MedBenchError, NotAllowed
from medbench.review.models import ItemResult

if TYPE_CHECKING:
    from annotation.models import StudyItem, VerdictRevision
    from annotation.protocols import Option, Question
    from medbench.accounts.models import User


@dataclass(frozen=True)
class Asked:
    """A question with the answers of all readers (None = blank), and whether it is to be decided."""

    question: Question
    answers: list[Option | None]
    differs: bool
    decided: str  # the value that was decided or is in the form, "" for none


def why_not_yet(study_item: StudyItem, person: User) -> MedBenchError | None:
    """What keeps `person` from deciding about the item now, or None."""
    study = study_item.study
    readers = list(study_item.assignments.filter(state="submitted").values_list("annotator", flat=True))
    if person.pk in readers:
        return NotAllowed("You read this item yourself. Somebody else decides about it.")
    if len(readers) < study.annotators_per_item and study.state != Study.State.CLOSED:
        return Conflict("This item is still being read. It can be decided when all its verdicts are in.")
    if queries.decided(study).filter(item=study_item.item_id).exists():
        return Conflict("This item is decided already.")
    return None


def context_of(study_item: StudyItem, person: User, given: dict[str, str] | None = None) -> dict[str, Any]:
    """The page of an item; `given` are the answers in a form that was refused."""
    study, item = study_item.study, study_item.item
    refusal = why_not_yet(study_item, person)
    result = ItemResult.objects.filter(item=item, source=queries.source_of(study)).first()
    readings = shuffled(study_item)
    differing = {each.question.key for each in disagreements.of_study_item(study_item)}
    decided = (result.detail.get("answers", {}) if result else given) or {}
    asked = [
        Asked(
            question,
            [_option(question, each.answers.get(question.key)) for each in readings],
            question.key in differing,
            decided.get(question.key, ""),
        )
        for question in Definition.read(study.protocol.definition).questions
    ]
    return {
        "study": study,
        "study_item": study_item,
        "tab": "disagreements",
        "readers": [(progress.letter(index), each.comment) for index, each in enumerate(readings)],
        "asked": asked,
        "previous": _beside(study_item, position__lt=study_item.position),
        "following": _beside(study_item, position__gt=study_item.position),
        "may_manage": may(person, "study.manage", study.benchmark.team),
        "result": result,
        "may_decide": refusal is None and bool(differing),
        "refusal": refusal.message if refusal and not result else "",
        "may_open_case": item.case is not None and may(person, "case.edit", study.benchmark.team),
        "report": workbench.report_of(item),
        **workbench.claim_of(item),
    }


def _beside(study_item: StudyItem, **where: int) -> int | None:
    """The position of the item before or after."""
    order = "position" if "position__gt" in where else "-position"
    return study_item.study.items.filter(**where).order_by(order).values_list("position", flat=True).first()


def shuffled(study_item: StudyItem) -> list[VerdictRevision]:
    """The verdicts of an item in an order drawn for it: Reader A here is not annotator A of the study."""
    readings = list(queries.counted_of(study_item).order_by("pk"))
    random.Random(str(study_item.item_id)).shuffle(readings)  # noqa: S311  # an order to repeat
    return readings


def _option(question: Question, value: str | None) -> Option | None:
    return next((option for option in question.options if option.value == value), None)
