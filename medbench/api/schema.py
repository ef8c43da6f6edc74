"""What every operation of the schema has in common: the problem body of its refusals."""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string"}
PROBLEM = {
    "type": "object",
    "required": ["code", "message"],
    "properties": {
        "code": {**TEXT, "description": "A stable word for scripts."},
        "message": {**TEXT, "description": "What happened and what to do, for people."},
        "problems": {
            "type": "array",
            "description": "Where several things are wrong: each of them.",
            "items": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {"code": TEXT, "field": TEXT, "message": TEXT},
            },
        },
    },
}
REFUSAL = {
    "description": "Refused: nothing was changed.",
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


def add_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A postprocessing hook of drf-spectacular."""
    result["components"].setdefault("schemas", {})["Problem"] = PROBLEM
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"].setdefault("4XX", REFUSAL)
    return result
