"""The items on which annotators differ, question by question."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from django.core.paginator import Paginator

from annotation.agreement.ratings import Said, said_in
from annotation.models import StudyItem
from annotation.protocols import Definition
from annotation.queries import counted_of, source_of
from medbench.accounts.permissions import may

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.http import QueryDict

    from annotation.models import Study
    from annotation.protocols import Option, Question
    from medbench.accounts.models import User

PAGE = 50
WIDE_GAP = 3  # from which on two scores go to adjudication
RULES = {"categories": "answers differ", "ordered": "answers differ", "score": f"gap of {WIDE_GAP} or more"}


@dataclass(frozen=True)
class Disagreement:
    """One question of one item that is answered differently."""

    position: int
    question: Question
    answers: dict[str, Option]  # of those who judged, by letter
    gap: int  # in steps of the scale; 0 where it has no order
    needs_decision: bool  # by the rule of its scale

    def shuffled(self) -> list[Option]:
        """The answers in an order that is drawn for each item, so that it tells nobody's."""
        answers = list(self.answers.values())
        random.Random(f"{self.position}:{self.question.key}").shuffle(answers)  # noqa: S311  # no secret
        return answers


def in_study(study: Study) -> list[Disagreement]:
    """All of a study, in the order of items and questions. Two queries."""
    questions = Definition.read(study.protocol.definition).questions
    by_item: dict[int, list[Said]] = defaultdict(list)
    for each in said_in(study):
        by_item[each.position].append(each)
    return [
        found
        for position, said in by_item.items()
        for question in questions
        if (found := of_item(position, question, said)) is not None
    ]


def of_study_item(study_item: StudyItem) -> list[Disagreement]:
    """Those of one item."""
    said = [
        Said(study_item.position, str(number), answers)
        for number, answers in enumerate(counted_of(study_item).values_list("answers", flat=True))
    ]
    questions = Definition.read(study_item.study.protocol.definition).questions
    found = [of_item(study_item.position, question, said) for question in questions]
    return [each for each in found if each is not None]


def of_item(position: int, question: Question, said: Iterable[Said]) -> Disagreement | None:
    """How the answers of one item to one question differ; None where they do not."""
    options = {option.value: option for option in question.judging}
    answers = {
        each.letter: options[each.answers[question.key]]
        for each in said
        if each.answers.get(question.key) in options
    }
    if len({option.value for option in answers.values()}) < 2:
        return None
    gap = _gap(question, answers.values())
    needs_decision = question.scale != "score" or gap >= WIDE_GAP
    return Disagreement(position, question, answers, gap, needs_decision)


def _gap(question: Question, answers: Iterable[Option]) -> int:
    if question.scale == "categories":
        return 0
    order = [option.value for option in question.judging]
    places = [
        int(option.value) if question.scale == "score" else order.index(option.value) for option in answers
    ]
    return max(places) - min(places)


def narrowed(found: Iterable[Disagreement], asked: QueryDict, outcomes: dict[int, str]) -> list[Disagreement]:
    """Those that the address asks for: of a `question`, between two annotators (`annotator`, a letter),
    between two values (`answer`), or those that need a decision and have none (`rule`).

    `outcomes` are those of decided items, by position.
    """
    question, annotators, answers = asked.get("question"), asked.getlist("annotator"), asked.getlist("answer")
    return [
        each
        for each in found
        if question in (None, "", each.question.key)
        and (not asked.get("rule") or (each.needs_decision and each.position not in outcomes))
        and (len(annotators) != 2 or _differ(each, annotators))
        and (len(answers) != 2 or _has_pair(each, answers))
    ]


def _differ(each: Disagreement, letters: list[str]) -> bool:
    one, other = (each.answers.get(letter) for letter in letters)
    return one is not None and other is not None and one.value != other.value


def _has_pair(each: Disagreement, values: list[str]) -> bool:
    pairs = combinations((option.value for option in each.answers.values()), 2)
    return any(sorted(pair) == sorted(values) for pair in pairs)


def context_of(study: Study, person: User, asked: QueryDict) -> dict[str, Any]:
    """The page of the list, for the filters of an address."""
    found = in_study(study)
    outcomes = dict(
        study.items.filter(item__results__source=source_of(study)).values_list(
            "position", "item__results__outcome"
        )
    )
    chosen = narrowed(found, asked, outcomes)
    shown = Paginator(chosen, PAGE).get_page(asked.get("page"))
    items = {
        item.position: item
        for item in StudyItem.objects.filter(
            study=study, position__in=[each.position for each in shown]
        ).select_related("item__case")
    }
    questions = Definition.read(study.protocol.definition).questions
    return {
        "study": study,
        "tab": "disagreements",
        "may_manage": may(person, "study.manage", study.benchmark.team),
        "questions": [(each, sum(one.question == each for one in found)) for each in questions],
        "chosen_question": asked.get("question", ""),
        "only_rule": bool(asked.get("rule")),
        "annotators": asked.getlist("annotator"),
        "answers": [_label(questions, value) for value in asked.getlist("answer")],
        "rules": sorted({RULES[question.scale] for question in questions}),
        "n_found": len(found),
        "n_chosen": len(chosen),
        "page": shown,
        "rows": [(items[each.position], each, outcomes.get(each.position)) for each in shown],
    }


def _label(questions: Iterable[Question], value: str) -> str:
    return next((option.label for each in questions for option in each.options if option.value == value), "")
