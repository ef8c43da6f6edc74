"""Deciding where annotators differ. What they said is never touched; the decision stands beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction

from annotation import adjudication, conclusions, queries
from annotation.corrections import lines, texts_of
from annotation.models import StudyItem
from annotation.protocols import Definition
from annotation.services import agreement, corrections, log
from annotation.services.log import What
from annotation.services.regions import with_regions
from medbench.cases.models import Category
from medbench.errors import InvalidInput
from medbench.formats.text import is_storable
from medbench.review.cases import LEVEL
from medbench.review.models import ReviewItem
from medbench.review.services import Decision, record_results

if TYPE_CHECKING:
    from collections.abc import Mapping

    from annotation.protocols import Question
    from medbench.accounts.models import User

GOAL, CATEGORY = "goal", "category"  # what can be corrected beside the texts of a triplet


class Ruling(NamedTuple):
    """A decision as it is given: an answer (or "cannot judge") for each question on which annotators
    differ, what becomes of the item, why, and for a corrected item its texts as they should be."""

    answers: Mapping[str, str]
    outcome: str
    reason: str
    correction: Mapping[str, str] = {}


def outcomes_of(item: ReviewItem) -> tuple[str, ...]:
    """What a decision can make of an item; none where it follows from the answers."""
    return conclusions.OUTCOMES.get(item.kind, ())


@transaction.atomic
def decide(study_item: StudyItem, ruling: Ruling, *, by: User) -> str:
    """Record what is true of an item on which its annotators differ; answers the outcome.

    Raises NotAllowed to those who read it themselves; Conflict where it is not ripe, not in dispute or
    decided already, or its text was changed meanwhile; InvalidInput where an answer, the outcome, the
    reason or the corrected text is missing.
    """
    list(StudyItem.objects.select_for_update().filter(pk=study_item.pk).values_list("pk"))
    if refusal := adjudication.why_not_yet(study_item, by):
        raise refusal
    definition = Definition.read(study_item.study.protocol.definition)
    questions = conclusions.to_decide(definition, adjudication.readings_of(study_item))
    outcome = _checked(study_item, definition, ruling, questions)
    detail = {
        "answers": {each.key: ruling.answers[each.key] for each in questions},
        "reason": ruling.reason.strip(),
        "by": by.pk,
        "verdicts": list(queries.counted_of(study_item).order_by("pk").values_list("pk", flat=True)),
    }
    if outcome == "corrected":
        detail["correction"] = _correction(study_item.item, ruling)
    decision = Decision(study_item.item, outcome, detail)
    record_results(queries.source_of(study_item.study), with_regions(study_item.study, [decision]))
    agreement.verdicts_changed(study_item.study)  # the novelty audit counts decided answers
    words = f"Item {study_item.position}: {adjudication.WORDS[outcome].lower()}. {detail['reason']}"
    log.record(study_item.study, What.DECIDED, words, by=by)
    return outcome


def _checked(study_item: StudyItem, definition: Definition, ruling: Ruling, questions: list[Question]) -> str:
    """The outcome of a ruling that says enough and does not contradict itself."""
    definition.check_answers(ruling.answers)
    for each in questions:
        if each.key not in ruling.answers:
            raise InvalidInput(f"“{each.title}” is not decided yet.", code="not_decided")
    outcome = _outcome(study_item.item, ruling)
    if outcome in conclusions.AFFIRMED.values():
        _refuse_contradiction(outcome, ruling, questions)
    if not ruling.reason.strip():
        raise InvalidInput("A decision needs a reason.", code="no_reason")
    if not is_storable(ruling.reason):
        raise InvalidInput("The reason has a character that cannot be stored. Remove it.")
    return outcome


def _outcome(item: ReviewItem, ruling: Ruling) -> str:
    if item.kind == ReviewItem.Kind.DIFFICULTY:
        level = ruling.answers.get(conclusions.LEVEL_QUESTION, "")
        return LEVEL + level if level.isdecimal() else conclusions.DECIDED
    possible = outcomes_of(item) or (conclusions.DECIDED,)
    outcome = ruling.outcome if outcomes_of(item) else conclusions.DECIDED
    if outcome not in possible:
        raise InvalidInput("Say what becomes of the item.", code="no_outcome")
    return outcome


def _refuse_contradiction(outcome: str, ruling: Ruling, questions: list[Question]) -> None:
    for each in questions:
        label = each.label_of(ruling.answers[each.key])
        status = next(option.status for option in each.options if option.value == ruling.answers[each.key])
        if each.critical and status == "bad":
            words = f"“{each.title}” is decided “{label}”, so the item cannot become {outcome}."
            raise InvalidInput(words, code="contradiction")


def _correction(item: ReviewItem, ruling: Ruling) -> dict[str, Any]:
    """The texts of a corrected item as they should be: all of them, whether changed or not."""
    if item.kind == ReviewItem.Kind.GOAL:
        text = lines(ruling.correction.get(GOAL, "")).strip()
        _refuse_unchanged(item, {GOAL: text}, {GOAL: item.payload[GOAL]})
        return {GOAL: text}
    standing = {**texts_of(item), CATEGORY: item.payload[CATEGORY]}
    texts = {name: text for name, text in ruling.correction.items() if name != CATEGORY}
    settled = {**standing, **corrections.checked(item, texts)}
    settled[CATEGORY] = ruling.correction.get(CATEGORY) or standing[CATEGORY]
    if settled[CATEGORY] not in Category.values:
        raise InvalidInput("Choose one of the six categories.")
    _refuse_unchanged(item, settled, standing)
    return settled


def _refuse_unchanged(item: ReviewItem, settled: Mapping[str, str], standing: Mapping[str, str]) -> None:
    if not all(map(is_storable, settled.values())):
        raise InvalidInput("The corrected text has a character that cannot be stored. Remove it.")
    if not settled.get(GOAL, "-") or all(settled[name] == standing[name] for name in standing):
        what = "goal" if item.kind == ReviewItem.Kind.GOAL else "question, insight, evidence or category"
        raise InvalidInput(f"Nothing is corrected yet: change the {what}.", code="no_correction")
