"""The form in which a protocol is written: its parts with their fields, in the words of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from annotation.drafting import INSIDE, LETTERS, LISTS, MOST, NEEDED, TEXTS, Tree
from annotation.workbench import Asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from annotation.protocols import Definition
    from medbench.formats.problems import Problem


class Look(NamedTuple):
    """How a field is shown: its label, what stands under it, lines of text (0 = a choice, 1 = one line)."""

    label: str
    help: str = ""
    lines: int = 1
    choices: tuple[tuple[str, str], ...] = ()


SHAPES = (
    ("ok", "✓ Affirms"),
    ("bad", "✕ Stands against it"),
    ("warn", "! Doubtful"),
    ("unsure", "? Cannot judge"),
    ("idle", "○ Neutral"),
    ("run", "◐ Between"),
)
SCALE_WORDS = (("categories", "Kinds"), ("ordered", "An order, as listed"), ("score", "Numbers"))
NEEDS = (
    ("", "Nothing"),
    ("note", "Words"),
    ("region", "A region, or words"),
    ("proof", "A passage or a region, or words"),
)
LOOKS: dict[str, dict[str, Look]] = {
    "": {
        "title": Look("Title"),
        "introduction": Look("Introduction", "What annotators read before their first item.", 6),
    },
    "q": {
        "title": Look("Question, in a few words"),
        "help": Look("In full", lines=2),
        "group": Look("Heading", "Shared with its neighbours, where they have the same."),
        "scale": Look("Answers are", "Agreement is computed by it.", 0, SCALE_WORDS),
        "required": Look("Has to be answered"),
        "critical": Look("Critical: whatever does not affirm stands against the item"),
    },
    "o": {
        "label": Look("Answer"),
        "key": Look("Letter", "", 0, tuple((each, each.upper() or "None") for each in LETTERS)),
        "status": Look("Means", "", 0, SHAPES),
        "anchor": Look("When to choose it", lines=2),
        "requires": Look("Needs beside it", "", 0, NEEDS),
        "asks": Look("Asks for, in words"),
    },
    "s": {"heading": Look("Heading"), "text": Look("Text", "An empty line begins a paragraph.", 6)},
    "t": {"term": Look("Term"), "meaning": Look("Meaning", lines=2)},
}


@dataclass(frozen=True)
class Field:
    name: str
    look: Look
    value: str | bool
    problem: str
    needed: bool
    longest: int


@dataclass
class Part:
    """The protocol, a question, an answer, a section or a term, with what is inside."""

    place: str  # "q2-o0", "" = the protocol
    number: int
    fields: list[Field]
    hidden: list[tuple[str, str]]
    parts: dict[str, list[Part]] = field(default_factory=dict)
    can_add: dict[str, bool] = field(default_factory=dict)
    is_last: bool = False

    @property
    def title(self) -> str | bool:
        return self.fields[0].value

    @property
    def has_problem(self) -> bool:
        inside = (part for parts in self.parts.values() for part in parts)
        return any(each.problem for each in self.fields) or any(part.has_problem for part in inside)


def form_of(tree: Tree, problems: Sequence[Problem]) -> Part:
    """The whole form of a tree, every problem at its field."""
    said: dict[str, str] = {}
    for problem in problems:
        said.setdefault(problem.field, problem.message)
    return _part(tree, "", "", 1, said)


def _part(node: Tree, kind: str, place: str, number: int, said: dict[str, str]) -> Part:
    prefix = f"{place}-" if place else ""
    part = Part(
        place,
        number,
        fields=[
            Field(
                f"{prefix}{name}",
                look,
                node[name],
                said.get(f"{prefix}{name}", ""),
                needed=name in NEEDED,
                longest=TEXTS[kind].get(name, 0),
            )
            for name, look in LOOKS[kind].items()
        ],
        hidden=[(f"{prefix}{name}", node[name]) for name in TEXTS[kind] if name not in LOOKS[kind]],
    )
    for letter in INSIDE[kind]:
        rows = node[LISTS[letter]]
        part.can_add[LISTS[letter]] = len(rows) < MOST[letter]
        part.parts[LISTS[letter]] = inside = [
            _part(each, letter, f"{prefix}{letter}{at}", at + 1, said) for at, each in enumerate(rows)
        ]
        if inside:
            inside[-1].is_last = True
    return part


NOUNS = {"q": "question", "o": "answer", "s": "section", "t": "term"}


def where(name: str) -> str:
    """The place of a field in words: “Question 1, answer 2”; "" for the protocol itself."""
    parts = name.split("-")[:-1]
    return ", ".join(f"{NOUNS[part[0]]} {int(part[1:]) + 1}" for part in parts).capitalize()


def asked_in(definition: Definition) -> list[Asked]:
    """The questions as the page of an item shows them, nothing chosen."""
    return [
        Asked(number, question, [(option, False) for option in question.options], "", "")
        for number, question in enumerate(definition.questions, 1)
    ]
