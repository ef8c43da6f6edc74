"""JSON from strangers: read strictly, with the line of whatever is wrong."""

from __future__ import annotations

import json
import re
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from medbench.formats.problems import Findings, Place

BLANK = " \t\r\n"  # white space in JSON
MOST_VALUES = 2_000_000  # looked at to find lines: a few seconds
BOM = "\ufeff"  # a byte order mark, which a JSON file may begin with
# Possessive (*+), so that a hostile string of a million escapes costs no memory for going back.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_PIECE = re.compile(rf'(?P<key>{_STRING})\s*+:|{_STRING}|[{{}}\[\],]|[^\s{{}}\[\]:,"]+', re.DOTALL)


class Unreadable(Exception):
    """No text or no JSON; the findings say why."""


class _Constant(ValueError):
    """NaN or an infinity, which JSON does not have."""


class _Twice(ValueError):
    """A key twice in one object."""


def decode(data: bytes, findings: Findings) -> str:
    """The bytes as UTF-8 text, all of it; raises Unreadable."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"Byte {data[error.start]:#04x} is not UTF-8 text. Save the file as UTF-8."
        _problem_on(line, findings, "not_utf8", message)
        raise Unreadable from error


def load(text: str, findings: Findings) -> Any:
    """The value of a JSON text; raises Unreadable.

    Refuses what the standard does not have or leaves open: NaN, infinities, a key twice. Lines
    are counted from `findings.line` where that is set (a line of JSONL), else from 1.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except RecursionError as error:
        findings.problem("bad_json", "Lists and objects are nested too deep.")
        raise Unreadable from error
    except ValueError as error:
        code, message, position, place = _explain(error, text)
        line = (findings.line or 1) + text.count("\n", 0, position)
        _problem_on(line, findings, code, message, place)
        raise Unreadable from error


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a JSONL text that are not blank, counted from 1. Only a line feed ends a line."""
    for number, line in enumerate(StringIO(text, newline="\n"), 1):
        if stripped := line.strip(BLANK):
            yield number, stripped


def _explain(error: ValueError, text: str) -> tuple[str, str, int, Place]:
    """Code, message, position and place of what stopped the JSON reader."""
    if not text.strip(BLANK):
        return "bad_json", "There is nothing in it.", 0, ()
    if isinstance(error, json.JSONDecodeError):
        what = error.msg.removesuffix(" at").replace("Expecting", "expected")
        return "bad_json", f"This is not JSON: {what} at column {error.colno}.", error.pos, ()
    if isinstance(error, _Twice):
        place, position = next((at, position) for at, position, is_second in _values(text) if is_second)
        return "duplicate_key", f"“{place[-1]}” stands twice in one object. Keep one.", position, place
    if isinstance(error, _Constant):
        position = next(m.start() for m in _PIECE.finditer(text) if m.group().startswith(str(error)))
        return "bad_json", f"{error} is not a number in JSON. Write null.", position, ()
    return "bad_json", "A number has too many digits.", 0, ()


def lines_of(text: str, places: Collection[Place]) -> dict[Place, int]:
    """The line on which each place of a valid JSON text begins, as far as `MOST_VALUES` go."""
    found: dict[Place, int] = {}
    line, seen = 1, 0
    for place, position, _ in islice(_values(text), MOST_VALUES):
        if place in places and place not in found:
            line, seen = line + text.count("\n", seen, position), position
            found[place] = line
            if len(found) == len(places):
                break
    return found


def set_lines(findings: Findings, text: str) -> None:
    """Give the findings in a JSON text, which know their places, their lines."""
    found = (findings.problems, findings.warnings)
    places = set().union(*(problems.places(findings.file) for problems in found))
    if places:
        lines = lines_of(text, places)
        for problems in found:
            problems.set_lines(findings.file, lines)


def _problem_on(line: int, findings: Findings, code: str, message: str, place: Place = ()) -> None:
    before, findings.line = findings.line, line
    findings.problem(code, message, place)
    findings.line = before


def _refuse_constant(name: str) -> NoReturn:
    raise _Constant(name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Twice
    return found


def _values(text: str) -> Iterator[tuple[Place, int, bool]]:
    """Every value of a JSON text in its order: place, position, whether its key was there before."""
    path: list[str | int] = []  # the step into each open object and list
    keys: list[set[str]] = []  # the keys so far of each, none for a list
    is_second = False
    for match in _PIECE.finditer(text):
        piece = match.group()
        if match["key"]:
            key = json.loads(match["key"])
            is_second = key in keys[-1]
            keys[-1].add(key)
            path[-1] = key
        elif piece == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else path[-1]
        elif piece in "}]":
            path.pop()
            keys.pop()
        else:
            yield tuple(path), match.start(), is_second
            is_second = False
            if piece in "{[":
                path.append("" if piece == "{" else 0)
                keys.append(set())
