"""Deciding where annotators differ. What they said is never touched; the decision stands beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction

from annotation import queries
from annotation.adjudication import why_not_yet
from annotation.agreement import disagreements
from annotation.models import StudyItem
from annotation.protocols import Definition
from annotation.services import agreement, log
from annotation.services.log import What
from annotation.services.regions import with_regions
from medbench.errors import Conflict, InvalidInput
from medbench.formats.text import is_storable
from medbench.review.models import ReviewItem
from medbench.review.services import Decision, record_results

if TYPE_CHECKING:
    from collections.abc import Mapping

    from annotation.agreement.disagreements import Disagreement
    from medbench.accounts.models import User

# What may become of the subject, by the kind of item; all other kinds are just decided.
OUTCOMES = {ReviewItem.Kind.TRIPLET: ("verified", "rejected")}
DECIDED = ("decided",)


class Ruling(NamedTuple):
    """A decision as it is given: an answer (or "cannot judge") for each question on which annotators
    differ, what becomes of the item, and why."""

    answers: Mapping[str, str]
    outcome: str
    reason: str


def outcomes_of(item: ReviewItem) -> tuple[str, ...]:
    """What a decision can make of an item."""
    return OUTCOMES.get(ReviewItem.Kind(item.kind), DECIDED)


@transaction.atomic
def decide(study_item: StudyItem, ruling: Ruling, *, by: User) -> None:
    """Record what is true of an item on which its annotators differ.

    Raises NotAllowed to those who read it themselves, Conflict where it is not ripe, not in dispute
    or decided already, InvalidInput where an answer, the outcome or the reason is missing.
    """
    list(StudyItem.objects.select_for_update().filter(pk=study_item.pk).values_list("pk"))
    if refusal := why_not_yet(study_item, by):
        raise refusal
    differing = disagreements.of_study_item(study_item)
    if not differing:
        raise Conflict("Its annotators agree on every question: there is nothing to decide.")
    _check(study_item, ruling, differing)
    detail = {
        "answers": {each.question.key: ruling.answers[each.question.key] for each in differing},
        "reason": ruling.reason.strip(),
        "by": by.pk,
        "verdicts": list(queries.counted_of(study_item).order_by("pk").values_list("pk", flat=True)),
    }
    source = queries.source_of(study_item.study)
    decision = Decision(study_item.item, ruling.outcome, detail)
    record_results(source, with_regions(study_item.study, [decision]))
    agreement.verdicts_changed(study_item.study)  # the novelty audit counts decided answers
    log.record(
        study_item.study,
        What.DECIDED,
        f"Item {study_item.position}: {ruling.outcome}. {detail['reason']}",
        by=by,
    )


def _check(study_item: StudyItem, ruling: Ruling, differing: list[Disagreement]) -> None:
    Definition.read(study_item.study.protocol.definition).check_answers(ruling.answers)
    for each in differing:
        if each.question.key not in ruling.answers:
            raise InvalidInput(f"“{each.question.title}” is not decided yet.", code="not_decided")
    if ruling.outcome not in outcomes_of(study_item.item):
        raise InvalidInput("Say what becomes of the item.", code="no_outcome")
    if not ruling.reason.strip():
        raise InvalidInput("A decision needs a reason.", code="no_reason")
    if not is_storable(ruling.reason):
        raise InvalidInput("The reason has a character that cannot be stored. Remove it.")
