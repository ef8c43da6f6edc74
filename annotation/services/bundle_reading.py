"""The files of a study's bundle, read with every fault told by file and line. Hostile archives end here."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation import bundles
from medbench.formats import json_text
from medbench.formats.sources import Unfit, open_source

if TYPE_CHECKING:
    from pathlib import Path

    from medbench.formats.problems import Findings
    from medbench.formats.sources import Source

MOST_BYTES = 100_000_000  # of a file in the bundle
FILES = (
    *(bundles.ITEMS, bundles.ASSIGNMENTS, bundles.HISTORY),
    *(bundles.DECISIONS, bundles.LOG, bundles.OUTSIDE),
)
Kinds = dict[str, tuple[type, ...]]
TEXT, NUMBER, MAYBE_TEXT = (str,), (int,), (str, type(None))
_HEAD: Kinds = {
    "benchmark": TEXT,
    "protocol": (dict,),
    "study": (dict,),
    "annotators": (list,),
    "created_by": MAYBE_TEXT,
}
# What importing looks at before the database does.
_ROW: dict[str, Kinds] = {
    bundles.ITEMS: {
        "position": NUMBER,
        "kind": TEXT,
        "subject_id": TEXT,
        "payload": (dict,),
        "hides": (list,),
        "case_id": MAYBE_TEXT,
    },
    bundles.ASSIGNMENTS: {"item": NUMBER, "annotator": TEXT, "verdict": (dict, type(None))},
    bundles.HISTORY: {"item": NUMBER, "annotator": TEXT},
    bundles.DECISIONS: {"item": NUMBER, "detail": (dict,)},
    bundles.LOG: {"person": MAYBE_TEXT},
    bundles.OUTSIDE: {"item": NUMBER, "rater": TEXT, "question": TEXT, "value": TEXT},
}


@dataclass(frozen=True)
class Row:
    """One line of a file."""

    line: int
    values: dict[str, Any]


@dataclass(frozen=True)
class BundleFile:
    """A bundle as it was read: `rows` by file."""

    head: dict[str, Any]
    rows: dict[str, list[Row]]


def read_bundle(path: Path, findings: Findings) -> BundleFile | None:
    """The content of a bundle (a zip archive or a folder); None where nothing could be read."""
    try:
        with open_source(path) as source:
            head = _head(source, findings)
            rows = {file: _rows(source, file, findings) for file in FILES}
    except Unfit as unfit:
        findings.problem(unfit.code, unfit.message)
        return None
    except json_text.Unreadable:
        return None
    return BundleFile(head, rows)


def _head(source: Source, findings: Findings) -> dict[str, Any]:
    findings.file = bundles.STUDY_FILE
    text = json_text.decode(source.read(bundles.STUDY_FILE, MOST_BYTES), findings)
    head = json_text.load(text, findings)
    if not isinstance(head, dict) or head.get("schema") != bundles.SCHEMA:
        findings.problem("wrong_schema", f"This is no study of the form {bundles.SCHEMA}.")
        raise json_text.Unreadable
    _check(head, _HEAD, findings)
    for name in ("id", "repeats"):
        if name == "id" or head.get(name) is not None:
            _check_uuid(head, name, findings)
    if not all(isinstance(each, str) for each in head.get("annotators", ())):
        findings.problem("wrong_type", "Annotators are named by username.", ("annotators",))
    head.setdefault("repeats", None)
    if findings.problems:
        raise json_text.Unreadable
    return head


def _check_uuid(head: dict[str, Any], name: str, findings: Findings) -> None:
    try:
        head[name] = uuid.UUID(str(head.get(name)))
    except ValueError:
        findings.problem("wrong_type", "This is no id of a study.", (name,))


def _rows(source: Source, file: str, findings: Findings) -> list[Row]:
    findings.file = file
    text = json_text.decode(source.read(file, MOST_BYTES), findings)
    rows = []
    for line, written in json_text.numbered_lines(text):
        findings.line = line
        values = json_text.load(written, findings)
        if not isinstance(values, dict):
            findings.problem("wrong_type", "Each line is an object.")
            raise json_text.Unreadable
        _check(values, _ROW.get(file, {}), findings)
        rows.append(Row(line, values))
    findings.line = None
    return rows


def _check(values: dict[str, Any], kinds: Kinds, findings: Findings) -> None:
    for name, allowed in kinds.items():
        if type(values.get(name)) not in allowed:
            findings.problem("wrong_type", f"“{name}” is missing or of the wrong kind.", (name,))
