"""Protocols as data: reading a definition, checking answers against it, storing the built-in ones.

A definition is JSON: `introduction`, `questions` (the fields of Question, with options of those of
Option) and `sections` of the guidelines (heading, text, terms).
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
from medbench.formats.text import is_storable

if TYPE_CHECKING:
    from collections.abc import Mapping

BUILT_IN = Path(__file__).parent / "built_in"
STATUSES = ("ok", "bad", "warn", "unsure", "run", "idle")
CANNOT_JUDGE = "unsure"  # the status of options that say so: looked at, and no answer to be had
# What the options are to one another: kinds, kinds in an order (as listed), or numbers.
SCALES = ("categories", "ordered", "score")
# What an answer needs beside it: words; a region or words; a passage of the report or a region.
REQUIREMENTS = ("", "note", "region", "proof")
NOTE_LONGEST = 2_000  # characters
_KEY = re.compile(r"[a-z0-9][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class Option:
    """One answer. `key` is its letter on the keyboard, `status` the shape and colour it is shown in."""

    value: str
    label: str
    key: str = ""
    status: str = "idle"
    anchor: str = ""  # when to choose it
    asks: str = ""  # what is to be said in words when it is chosen
    requires: str = ""  # one of REQUIREMENTS


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
            for option in question.options:
                if option.requires not in REQUIREMENTS:
                    raise InvalidInput(f"No such requirement: {option.requires}.")
                if option.requires and not option.asks:
                    raise InvalidInput(f"{question.key}: {option.value} requires words and asks for none.")

    def check_answers(self, answers: Mapping[str, str]) -> None:
        """Raise InvalidInput unless every answer is an option of a question. Gaps are fine."""
        options = {question.key: {option.value for option in question.options} for question in self.questions}
        for key, value in answers.items():
            if key not in options:
                raise InvalidInput("An answer belongs to no question of this protocol. Load the page again.")
            if value not in options[key]:
                raise InvalidInput("An answer is not among the options. Load the page again.")

    def gaps(self, said: Said) -> list[Problem]:
        """What is missing before the answers can count, in the order of the questions: required
        questions without an answer, and answers without what they need beside them."""
        problems = []
        for question in self.questions:
            option = next(
                (each for each in question.options if each.value == said.answers.get(question.key)), None
            )
            if option is None and question.required:
                text = f"“{question.title}” has no answer yet."
                problems.append(Problem("not_answered", text, field=question.key))
            elif option and (gap := _gap(option, said, said.notes.get(question.key, "").strip())):
                problems.append(Problem(*gap, field=question.key))
        return problems

    def check_notes(self, notes: Mapping[str, str]) -> None:
        """Raise InvalidInput unless every note belongs to a question and can be stored."""
        for key, text in notes.items():
            if key not in {question.key for question in self.questions}:
                raise InvalidInput("A note belongs to no question of this protocol. Load the page again.")
            if len(text) > NOTE_LONGEST:
                raise InvalidInput(f"A note has at most {NOTE_LONGEST:,} characters.")
            if not is_storable(text):
                raise InvalidInput("A note has a character that cannot be stored. Remove it.")


@dataclass(frozen=True)
class Said:
    """What was said of an item, as far as it can be complete or not. `is_anchored`: the item brings
    a passage of the report of its own."""

    answers: Mapping[str, str]
    notes: Mapping[str, str]
    n_regions: int
    is_anchored: bool


def _gap(option: Option, said: Said, note: str) -> tuple[str, str] | None:
    """The code and words of what an answer lacks, or None."""
    if option.requires == "note" and not note:
        return "needs_note", option.asks
    if option.requires == "region" and not (said.n_regions or note):
        return "needs_region", f"Mark where you see it: drop a point (D) or a box (R). Or: {option.asks}"
    if option.requires == "proof" and not (said.is_anchored or said.n_regions or note):
        return "needs_proof", f"No passage is marked for it: mark the place (D, R). Or: {option.asks}"
    return None


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
