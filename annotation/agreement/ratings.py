"""Verdicts as tables of ratings, one for each question: items down, annotators across."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from annotation import progress, queries
from annotation.protocols import Definition
from medbench.scoring.agreement.table import RatingsTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from annotation.models import Study
    from annotation.protocols import Question


class Said(NamedTuple):
    """A verdict that counts: the item by its position, the annotator by their letter."""

    position: int
    letter: str
    answers: dict[str, str]


@dataclass(frozen=True)
class Ratings:
    """The answers to one question; a rating is the value of an option.

    A verdict that could not judge or left the question blank is no rating: it is counted, and its
    cell is empty like that of an item which the annotator never had.
    """

    question: Question
    table: RatingsTable
    n_verdicts: int
    n_cannot_judge: int
    n_blank: int


def said_in(study: Study) -> list[Said]:
    """The verdicts of a study that count, in the order of items and letters. Two queries."""
    letters = progress.letters(study)
    rows = queries.counted(study).values_list(
        "verdict__assignment__study_item__position", "verdict__assignment__annotator", "answers"
    )
    said = [Said(position, letters[person], answers) for position, person, answers in rows]
    return sorted(said, key=lambda each: (each.position, by_letter(each.letter)))


def by_letter(letter: str) -> tuple[int, str]:
    """Sorts letters as A … Z, AA …"""
    return len(letter), letter


def of_study(study: Study) -> list[Ratings]:
    """The ratings of every question of the study's protocol, in its order."""
    said = said_in(study)
    return [of_question(each, said) for each in Definition.read(study.protocol.definition).questions]


def of_question(question: Question, said: Iterable[Said]) -> Ratings:
    """The answers of `said` to one question."""
    said = list(said)
    judging = {option.value for option in question.judging}
    given = [each.answers.get(question.key) for each in said]
    table = RatingsTable.from_rows(
        (str(each.position), each.letter, answer if answer in judging else None)
        for each, answer in zip(said, given, strict=True)
    )
    return Ratings(
        question,
        table.of(sorted(table.annotators, key=by_letter)),
        n_verdicts=len(said),
        n_cannot_judge=sum(answer is not None and answer not in judging for answer in given),
        n_blank=given.count(None),
    )
