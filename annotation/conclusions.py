"""What the readers of an item say together: the outcome, or why somebody has to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from annotation.agreement.disagreements import RULES, of_item
from annotation.agreement.ratings import Said
from annotation.protocols import CANNOT_JUDGE
from medbench.review.cases import LEVEL
from medbench.review.models import ReviewItem
from medbench.review.outputs import CATEGORY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from annotation.agreement.disagreements import Disagreement
    from annotation.protocols import Definition, Question

Kind = ReviewItem.Kind

# The outcome of an item that all its readers affirm. Scores and categories decide nothing by themselves.
AFFIRMED: dict[str, str] = {Kind.TRIPLET: "verified", Kind.GOAL: "accepted", Kind.REPORT: "accepted"}
# What a decision can make of an item, by its kind. That of a difficulty item is the level that is
# decided; all other kinds are just decided.
OUTCOMES: dict[str, tuple[str, ...]] = {
    Kind.TRIPLET: ("verified", "corrected", "rejected"),
    Kind.GOAL: ("accepted", "corrected", "rejected"),
    Kind.REPORT: ("accepted", "rejected"),
}
DECIDED = "decided"
LEVEL_QUESTION = "level"
CATEGORY_QUESTION = "category"  # a wrong category is put right; it is no reason to reject


class Reading(NamedTuple):
    """A verdict that counts, as far as it matters here."""

    answers: Mapping[str, str]
    corrects: bool  # whether it proposes other words


def conclusion_of(definition: Definition, kind: str, readings: Sequence[Reading]) -> str:
    """The outcome that all readers of an item clearly agree on, "" where there is none.

    Each affirms every required and critical question: a triplet is verified, a goal or the material
    of a case accepted. All say no to the same one (but that of the category): a triplet is rejected.
    All give one level: that is the difficulty; all sort a novel insight alike: that is its category.
    Where somebody proposes other words nothing is clear.
    """
    if not readings or any(each.corrects for each in readings):
        return ""
    if kind == Kind.DIFFICULTY:
        return _agreed_level(readings)
    if kind == Kind.NOVELTY:
        return _agreed(CATEGORY, readings)
    critical = [each for each in definition.questions if each.required and each.critical]
    if kind in AFFIRMED and all(_all_say("ok", question, readings) for question in critical):
        return AFFIRMED[kind]
    if kind == Kind.TRIPLET and any(
        _all_say("bad", question, readings) for question in critical if question.key != CATEGORY_QUESTION
    ):
        return "rejected"
    return ""


def _all_say(status: str, question: Question, readings: Sequence[Reading]) -> bool:
    values = {option.value for option in question.options if option.status == status}
    return all(each.answers.get(question.key) in values for each in readings)


def _agreed_level(readings: Sequence[Reading]) -> str:
    level = _agreed(LEVEL_QUESTION, readings)
    return LEVEL + level if level.isdecimal() else ""


def _agreed(question: str, readings: Sequence[Reading]) -> str:
    answers = {each.answers.get(question, "") for each in readings}
    return answers.pop() if len(answers) == 1 else ""


def reasons_to_decide(definition: Definition, kind: str, readings: Sequence[Reading]) -> list[str]:
    """Why somebody has to decide about an item that its readers are done with; none where nobody has to."""
    if conclusion_of(definition, kind, readings):
        return []
    reasons = [RULES[each.question.scale] for each in _disputes(definition, readings) if each.needs_decision]
    if any(each.corrects for each in readings):
        reasons.append("a correction is proposed")
    if not reasons and kind in (*OUTCOMES, Kind.DIFFICULTY):
        reasons.append("no clear answer")
    return list(dict.fromkeys(reasons))


def to_decide(definition: Definition, readings: Sequence[Reading]) -> list[Question]:
    """The questions that a decision has to answer: those that need it by the rule of their scale, and
    those that somebody did not judge. Where there are none, all that differ at all."""
    disputes = _disputes(definition, readings)
    needed = {each.question.key for each in disputes if each.needs_decision}
    unjudged = {
        question.key
        for question in definition.questions
        if question.required and question.critical and _is_open(question, readings)
    }
    keys = needed | unjudged or {each.question.key for each in disputes}
    return [question for question in definition.questions if question.key in keys]


def _disputes(definition: Definition, readings: Sequence[Reading]) -> list[Disagreement]:
    said = [Said(0, str(number), dict(each.answers)) for number, each in enumerate(readings)]
    found = [of_item(0, question, said) for question in definition.questions]
    return [each for each in found if each is not None]


def _is_open(question: Question, readings: Sequence[Reading]) -> bool:
    cannot = {option.value for option in question.options if option.status == CANNOT_JUDGE}
    return any(each.answers.get(question.key) in (None, "", *cannot) for each in readings)
