"""A protocol while a curator writes it: fields of a form to and from a tree, and what is wrong with it.

The tree is the JSON of a definition and its title. Its fields are named by their place: `q2-o0-label`
is the label of the first option of the third question, `s0-t1-term` a term of the first section.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

from annotation.protocols import CANNOT_JUDGE, REQUIREMENTS, SCALES, STATUSES, Definition
from medbench.errors import InvalidInput
from medbench.formats.problems import Problem
from medbench.formats.text import is_storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Tree = dict[str, Any]

# Letter of a place -> the list it is in.
LISTS = {"q": "questions", "o": "options", "s": "sections", "t": "terms"}
# Of each kind of node: its fields of text, with the most characters of each.
TEXTS: dict[str, dict[str, int]] = {
    "": {"title": 120, "introduction": 10_000},
    "q": {"key": 40, "title": 80, "help": 500, "group": 60, "scale": 20},
    "o": {"value": 40, "label": 80, "key": 1, "status": 20, "anchor": 2_000, "asks": 200, "requires": 20},
    "s": {"heading": 120, "text": 10_000},
    "t": {"term": 120, "meaning": 2_000},
}
NEEDED = {"title", "label", "heading", "term", "meaning"}
CHOICES = {"scale": SCALES, "status": STATUSES, "requires": REQUIREMENTS}
TICKS = ("required", "critical")  # of a question
INSIDE = {"": "qs", "q": "o", "o": "", "s": "t", "t": ""}
MOST = {"q": 30, "o": 20, "s": 20, "t": 40}
LETTERS = ("", "y", "n", "u", "a", "b", "c")  # the others work the page of an item
YES_NO = (
    ("yes", "Yes", "y", "ok"),
    ("no", "No", "n", "bad"),
    ("cannot_judge", "Cannot judge", "u", CANNOT_JUDGE),
)


def tree_of(title: str, definition: Definition) -> Tree:
    """A stored protocol as a tree, every field given, without white space at the ends of texts."""
    tree = dataclasses.asdict(definition) | {"title": title}
    for section in tree["sections"]:
        section["terms"] = [{"term": term, "meaning": meaning} for term, meaning in section["terms"]]
    trimmed: Tree = _trimmed(tree)
    return trimmed


def _trimmed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _trimmed(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_trimmed(each) for each in value]
    return value.strip() if isinstance(value, str) else value


def definition_of(tree: Tree) -> Tree:
    """What is stored of a tree without problems: new questions and options get names of their own."""
    for question in tree["questions"]:
        _name(question, "key", question["title"], tree["questions"])
        for option in question["options"]:
            _name(option, "value", option["label"], question["options"])
    stored = {name: value for name, value in tree.items() if name != "title"}
    Definition.read(stored)
    return stored


def _name(node: Tree, field: str, words: str, siblings: list[Tree]) -> None:
    if node[field]:
        return
    stem = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:36] or "other"
    taken, name, number = {each[field] for each in siblings}, stem, 1
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    node[field] = name


def read(data: Mapping[str, str]) -> Tree:
    """The tree that a form holds."""
    return _read(data, "", "")


def _read(data: Mapping[str, str], kind: str, place: str) -> Tree:
    node: Tree = {name: data.get(f"{place}{name}", "").replace("\r\n", "\n").strip() for name in TEXTS[kind]}
    if kind == "q":
        node |= {name: f"{place}{name}" in data for name in TICKS}
    for letter in INSIDE[kind]:
        first = next(iter(TEXTS[letter]))
        places = [f"{place}{letter}{number}-" for number in range(MOST[letter])]
        node[LISTS[letter]] = [_read(data, letter, each) for each in places if f"{each}{first}" in data]
    return node


def rearrange(tree: Tree, do: str) -> str:
    """Add, remove or move a part: `add:q`, `remove:q2-o0`, `up:s1`, `down:s1`. Answers the place of the
    part that has the attention now, "" where it is gone."""
    verb, _, place = do.partition(":")
    node, parts = tree, place.split("-")
    try:
        for part in parts[:-1]:
            node = node[LISTS[part[0]]][int(part[1:])]
        letter, number = parts[-1][0], parts[-1][1:]
        rows = node[LISTS[letter]]
        at = len(rows) if verb == "add" else int(number)
        row = _new(letter) if verb == "add" else rows.pop(at)
    except (KeyError, IndexError, ValueError):
        raise InvalidInput("That part of the protocol is not there any more. Load the page again.") from None
    if verb == "remove":
        return ""
    at = max(at + {"up": -1, "down": 1}.get(verb, 0), 0)
    rows.insert(at, row)
    return "-".join([*parts[:-1], f"{letter}{min(at, len(rows) - 1)}"])


def _new(letter: str) -> Tree:
    """An empty part; a new question comes with the usual three answers."""
    node: Tree = dict.fromkeys(TEXTS[letter], "") | {LISTS[each]: [] for each in INSIDE[letter]}
    if letter == "q":
        rows = (
            (_new("o") | dict(zip(("value", "label", "key", "status"), row, strict=True))) for row in YES_NO
        )
        node |= {"scale": SCALES[0], "required": True, "critical": True, "options": list(rows)}
    return node | ({"status": "idle"} if letter == "o" else {})


def problems_of(tree: Tree) -> list[Problem]:
    """Everything that is wrong with a tree, each with the name of its field."""
    found = [problem for kind, place, node in _walk(tree, "", "") for problem in _of_texts(kind, place, node)]
    if not tree["questions"]:
        found.append(Problem("no_question", "The protocol asks nothing. Add a question.", field="title"))
    for number, question in enumerate(tree["questions"]):
        found += _of_options(f"q{number}-", question)
    return found


def _walk(node: Tree, kind: str, place: str) -> Iterator[tuple[str, str, Tree]]:
    yield kind, place, node
    for letter in INSIDE[kind]:
        for number, each in enumerate(node[LISTS[letter]]):
            yield from _walk(each, letter, f"{place}{letter}{number}-")


def _of_texts(kind: str, place: str, node: Tree) -> Iterator[Problem]:
    for name, longest in TEXTS[kind].items():
        field, text = place + name, node[name]
        if not text and name in NEEDED:
            yield Problem("missing", "Something has to stand here.", field=field)
        if len(text) > longest:
            yield Problem("too_long", f"{len(text):,} characters, at most {longest:,}.", field=field)
        if not is_storable(text):
            yield Problem("not_storable", "A character here cannot be stored. Remove it.", field=field)
        if name in CHOICES and text not in CHOICES[name]:
            yield Problem("no_choice", f"{text!r} is no choice here.", field=field)


def _of_options(place: str, question: Tree) -> Iterator[Problem]:
    options = question["options"]
    if len(options) < 2:
        yield Problem("too_few_options", "A question needs two answers or more.", field=f"{place}title")
    elif all(each["status"] == CANNOT_JUDGE for each in options):
        yield Problem("nothing_judges", "No answer of this question judges.", field=f"{place}title")
    for number, option in enumerate(options):
        here, before = f"{place}o{number}-", options[:number]
        if option["label"].casefold() in {each["label"].casefold() for each in before if each["label"]}:
            text = "Another answer of this question has the same words."
            yield Problem("label_twice", text, field=f"{here}label")
        yield from _of_letter(here, option, before)
        if option["requires"] and not option["asks"]:
            yield Problem("asks_nothing", "Say what is asked for, since it is required.", field=f"{here}asks")
        is_score = question["scale"] == "score" and option["status"] != CANNOT_JUDGE
        if is_score and not (option["value"] or option["label"]).isdecimal():
            yield Problem("no_number", "Each answer of a score is a whole number.", field=f"{here}label")


def _of_letter(here: str, option: Tree, before: list[Tree]) -> Iterator[Problem]:
    if option["key"] not in LETTERS:
        yield Problem("no_letter", "Choose one of the letters.", field=f"{here}key")
    elif option["key"] and option["key"] in {each["key"] for each in before}:
        yield Problem("letter_twice", "Another answer of this question has this letter.", field=f"{here}key")
