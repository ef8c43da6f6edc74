"""Protocols as data: reading a definition, checking answers against it, storing the built-in ones.

A definition is JSON: `introduction`, `questions` (key, title, help, required, scale, group, critical,
options of value, label, key, status, anchor) and `sections` of the guidelines (heading, text, terms).
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from annotation.models import Protocol
from medbench.errors import InvalidInput
from medbench.formats.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

BUILT_IN = Path(__file__).parent / "built_in"
STATUSES = ("ok", "bad", "warn", "unsure", "run", "idle")
CANNOT_JUDGE = "unsure"  # the status of options that say so: looked at, and no answer to be had
# What the options are to one another: kinds, kinds in an order (as listed), or numbers.
SCALES = ("categories", "ordered", "score")
_KEY = re.compile(r"[a-z0-9][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class Option:
    """One answer. `key` is its letter on the keyboard, `status` the shape and colour it is shown in."""

    value: str
    label: str
    key: str = ""
    status: str = "idle"
    anchor: str = ""  # when to choose it


@dataclass(frozen=True)
class Question:
    """One question with its options, in order."""

    key: str
    title: str
    options: tuple[Option, ...]
    help: str = ""
    required: bool = True
    scale: str = "categories"
    group: str = ""  # a heading that it shares with its neighbours
    critical: bool = True  # whether an answer that does not affirm stands against the item

    @property
    def judging(self) -> tuple[Option, ...]:
        """The options that judge: all but "cannot judge", which is a missing rating and no kind."""
        return tuple(option for option in self.options if option.status != CANNOT_JUDGE)

    def label_of(self, value: str | None) -> str:
        """The words of an answer; "Blank" where there is none."""
        return next((option.label for option in self.options if option.value == value), "Blank")


@dataclass(frozen=True)
class Section:
    """A part of the guidelines: text in paragraphs, then (term, meaning) pairs."""

    heading: str
    text: str = ""
    terms: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Definition:
    """What annotators are asked and told."""

    introduction: str
    questions: tuple[Question, ...]
    sections: tuple[Section, ...] = ()

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Raise InvalidInput, which names the place, unless `data` is a whole definition."""
        try:
            definition = cls(
                introduction=data.get("introduction", ""),
                questions=tuple(_question(each) for each in data["questions"]),
                sections=tuple(_section(each) for each in data.get("sections", ())),
            )
        except (KeyError, TypeError) as wrong:
            raise InvalidInput(
                f"The protocol has a part that is missing or of the wrong kind: {wrong}."
            ) from wrong
        definition._check()
        return definition

    def _check(self) -> None:
        _once("question", [question.key for question in self.questions])
        for question in self.questions:
            _check_scale(question)
            _once(f"option of {question.key}", [option.value for option in question.options])
            letters = [option.key for option in question.options if option.key]
            if len(set(letters)) < len(letters) or any(len(letter) != 1 for letter in letters):
                raise InvalidInput(f"Each option of {question.key} needs a letter of its own, or none.")
            if len(question.options) < 2:
                raise InvalidInput(f"The question {question.key} needs two options or more.")
            if unknown := {option.status for option in question.options} - set(STATUSES):
                raise InvalidInput(f"No such status: {', '.join(sorted(unknown))}.")

    def check_answers(self, answers: Mapping[str, str]) -> None:
        """Raise InvalidInput unless every answer is an option of a question. Gaps are fine."""
        options = {question.key: {option.value for option in question.options} for question in self.questions}
        for key, value in answers.items():
            if key not in options:
                raise InvalidInput("An answer belongs to no question of this protocol. Load the page again.")
            if value not in options[key]:
                raise InvalidInput("An answer is not among the options. Load the page again.")

    def gaps(self, answers: Mapping[str, str]) -> list[Problem]:
        """One problem for each required question without an answer, in order."""
        return [
            Problem("not_answered", f"“{question.title}” has no answer yet.", field=question.key)
            for question in self.questions
            if question.required and question.key not in answers
        ]


def _once(what: str, keys: list[str]) -> None:
    if not keys:
        raise InvalidInput(f"The protocol has no {what}.")
    for key in keys:
        if not _KEY.fullmatch(key):
            raise InvalidInput(f"The name of a {what} is small letters, digits and _: {key!r} is not.")
        if keys.count(key) > 1:
            raise InvalidInput(f"The {what} {key!r} stands twice in the protocol.")


def _check_scale(question: Question) -> None:
    if question.scale not in SCALES:
        raise InvalidInput(f"{question.key} has no scale {question.scale!r}. Choose {', '.join(SCALES)}.")
    if question.scale == "score" and not all(option.value.isdecimal() for option in question.judging):
        raise InvalidInput(f"{question.key} is a score: each option but “cannot judge” needs a whole number.")


def _question(data: Mapping[str, Any]) -> Question:
    options = tuple(Option(**each) for each in data["options"])
    return Question(**{**data, "options": options})


def _section(data: Mapping[str, Any]) -> Section:
    terms = tuple((each["term"], each["meaning"]) for each in data.get("terms", ()))
    return Section(**{**data, "terms": terms})


def store_built_in(**_signal: Any) -> None:
    """Make the rows of the built-in protocols that are not there yet (after each migrate).

    A stored version stays as it is: what was answered is what was asked.
    """
    for path in sorted(BUILT_IN.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        names = {name: data.pop(name) for name in ("key", "version", "title", "kind")}
        Definition.read(data)
        Protocol.objects.get_or_create(
            key=names["key"],
            version=names["version"],
            defaults={"title": names["title"], "kind": names["kind"], "definition": data},
        )
