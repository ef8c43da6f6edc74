"""JSON Schemas (draft 2020-12) of the files of a suite, and reading a file by its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from medbench.clinlens.layout import CAPABILITIES, SCOPES, SOURCE_KINDS
from medbench.errors import InvalidInput
from medbench.formats.json_text import BOM, Unreadable, decode, load
from medbench.formats.problems import Findings, field_name
from medbench.formats.text import printable

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST_SCHEMA = "clinlens.task/1"
SUITE_SCHEMA = "clinlens.suite/1"
EVALUATION_SCHEMA = "clinlens.evaluation/1"
ANSWER_SCHEMA = "clinlens.answer/1"
MUTANTS_SCHEMA = "clinlens.mutants/1"

LARGEST_FILE = 20_000_000  # bytes of a JSON file of a suite
MESSAGE = 300
DTYPES = ("int64", "float64", "string", "timestamp", "date", "bool")
MODALITIES = ("ehr", "note", "ecg", "cxr", "echo")


def load_document(path: Path, schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON object of a file that keeps to `schema`; raises InvalidInput with file, line or field."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", code="file_missing") from error
    if len(data) > LARGEST_FILE:
        raise InvalidInput(f"{path} has more than {LARGEST_FILE:,} bytes.", code="too_large")
    findings = Findings(str(path))
    try:
        document = load(decode(data, findings).removeprefix(BOM), findings)
    except Unreadable as error:
        raise InvalidInput(str(findings.problems.shown[0]), code="bad_json") from error
    check_document(document, schema, str(path))
    assert isinstance(document, dict)
    return document


def check_document(document: Any, schema: dict[str, Any], name: str) -> None:
    """Raise InvalidInput where a document does not keep to its schema: the first deviation."""
    error = next(iter(Draft202012Validator(schema).iter_errors(document)), None)
    if error is not None:
        place = field_name(tuple(error.absolute_path)) or "the file"
        raise InvalidInput(f"{name}: {place}: {printable(error.message, MESSAGE)}", code="schema")


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": required | (optional or {}),
    }


def _list(items: dict[str, Any], fewest: int = 0, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": fewest, **more}


def _any_of(*values: str) -> dict[str, Any]:
    return {"enum": list(values)}


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
COUNT = {"type": "integer", "minimum": 0}
DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
DECIMAL = {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$"}
SUITE_NAME = {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,39}$"}
TASK_ID = {
    "type": "string",
    "pattern": f"^({'|'.join(SCOPES)})-({'|'.join(CAPABILITIES)})-0(0[1-9]|10)$",
}
NAME = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,39}$"}
COLUMN = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"}
COLUMNS = _list(COLUMN, 1, uniqueItems=True)
SOURCE = _object({"kind": _any_of(*SOURCE_KINDS), "release": TEXT})

_NUMERIC = _object(
    {
        "type": {"const": "numeric"},
        "unit": TEXT,
        "decimals": {"type": "integer", "minimum": 0, "maximum": 6},
    },
    {"integer": {"type": "boolean"}},
)
_CATEGORICAL = _object({"type": {"const": "categorical"}, "labels": _list(TEXT, 4, uniqueItems=True)})
_COLUMN = _object(
    {"name": COLUMN, "dtype": _any_of(*DTYPES), "nullable": {"type": "boolean"}},
    {"enum": _list({"type": ["string", "integer"]}, 1), "unit": TEXT, "description": TEXT},
)
_ARTIFACT = _object(
    {
        "name": NAME,
        "path": {"type": "string", "pattern": r"^[a-z][a-z0-9_]{0,39}\.csv$"},
        "row_unit": TEXT,  # the row contract in words, never a number
        "key": COLUMNS,
        "columns": _list(_COLUMN, 1, maxItems=64),
    },
    {"extra_columns": _any_of("ignore", "forbid")},
)
_FILE = _object(
    {"path": TEXT, "bytes": COUNT, "sha256": DIGEST, "rows": {"type": ["integer", "null"], "minimum": 0}}
)

MANIFEST = _object(
    {
        "schema_version": {"const": MANIFEST_SCHEMA},
        "task_id": TASK_ID,
        "suite": SUITE_NAME,
        "scope": _any_of(*SCOPES.values()),
        "capability": _any_of(*CAPABILITIES.values()),
        "template": _object({"id": TEXT, "version": TEXT}),
        "source": SOURCE,
        "modalities": _list(_any_of(*MODALITIES), 1, uniqueItems=True),
        "question_file": TEXT,
        "conventions": _list(TEXT),
        "answer": {"oneOf": [_NUMERIC, _CATEGORICAL]},
        "artifacts": _list(_ARTIFACT, 1, maxItems=6),
        "limits": _object({"code_seconds": {"const": 3600}, "rounds": {"const": 3}}),
        "files": _list(_FILE),
        "package_digest": DIGEST,
        "private_commitment": DIGEST,
    }
)

SUITE = _object(
    {
        "schema_version": {"const": SUITE_SCHEMA},
        "suite": SUITE_NAME,
        "source": SOURCE,
        "tasks": _list(
            _object(
                {
                    "task_id": TASK_ID,
                    "manifest_sha256": DIGEST,
                    "package_digest": DIGEST,
                    "private_commitment": DIGEST,
                }
            ),
            1,
        ),
    }
)

ANSWER = _object(
    {
        "schema_version": {"const": ANSWER_SCHEMA},
        "answer": TEXT,  # a decimal or a label
        "abs_tol": DECIMAL,
        "rel_tol": DECIMAL,
        "rationale": TEXT,  # why the tolerance is what it is
    }
)

MUTANTS = _object(
    {
        "schema_version": {"const": MUTANTS_SCHEMA},
        "mutants": _list(
            _object(
                {
                    "name": {"type": "string", "pattern": "^[A-Z][A-Z0-9_]{0,39}$"},
                    "answer": {"type": ["string", "null"]},  # null: it came to none
                    "key_sets": {"type": "object", "additionalProperties": DIGEST},  # by artifact name
                    "first_check": {"type": ["string", "null"]},  # the code it fails with, null: by answer
                }
            )
        ),
    }
)

_AT = {"oneOf": [{"type": "null"}, _object({"anchor": COLUMN, "hours": NUMBER})]}
_ROLES = {"type": "object", "additionalProperties": COLUMN}
_WHERE = {"type": "object", "additionalProperties": {"type": ["string", "integer", "boolean"]}}
_PARAMETERS = {"type": "object", "additionalProperties": NUMBER}
# What each kind of predicate needs and may have beside id, kind and artifact.
PREDICATES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "key_set": ({}, {}),
    "anchor_equals": ({"columns": COLUMNS}, {}),
    "ownership": ({"columns": COLUMNS}, {}),
    "label_match": ({"columns": COLUMNS}, {}),
    "values_match": ({"column": COLUMN, "abs": NUMBER}, {"rel": NUMBER, "min_fraction": NUMBER}),
    "time_window": (
        {"column": COLUMN, "start": _AT, "end": _AT, "closed": _any_of("left", "right", "both", "neither")},
        {},
    ),
    "feature_time_before": ({"column": COLUMN, "anchor": COLUMN}, {"or_equal": {"type": "boolean"}}),
    "split_rule": (
        {"subject": COLUMN, "split": COLUMN},
        {"test_digits": _list({"type": "integer", "minimum": 0, "maximum": 9}, 1)},
    ),
    "sums_to": ({"column": COLUMN, "total": {"type": "integer"}}, {}),
    "row_formula": ({"formula": NAME, "columns": _ROLES, "abs": NUMBER}, {"parameters": _PARAMETERS}),
    "domain": ({"column": COLUMN}, {"min": NUMBER, "max": NUMBER}),
    "recompute": (
        {"statistic": NAME, "columns": _ROLES, "abs": NUMBER},
        {"where": _WHERE, "parameters": _PARAMETERS},
    ),
    "score_recompute": (
        {"measure": _any_of("auroc", "brier"), "label": COLUMN, "score": COLUMN, "abs": NUMBER},
        {"where": _WHERE},
    ),
}


def _predicate(kind: str) -> dict[str, Any]:
    required, optional = PREDICATES[kind]
    common = {
        "id": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]{0,39}$"},
        "kind": {"const": kind},
        "artifact": NAME,
    }
    return _object(common | required, optional)


EVALUATION = _object(
    {
        "schema_version": {"const": EVALUATION_SCHEMA},
        "artifacts": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": _object({"rows": COUNT, "key_set": DIGEST}),
        },
        "predicates": _list(
            {
                "required": ["id", "kind", "artifact"],
                "properties": {"kind": _any_of(*PREDICATES)},
                "allOf": [
                    {"if": {"properties": {"kind": {"const": kind}}}, "then": _predicate(kind)}
                    for kind in PREDICATES
                ],
            },
            1,
        ),
    }
)
