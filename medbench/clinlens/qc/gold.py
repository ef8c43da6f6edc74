"""The reference's own outputs as a submission: what must pass whole if the evaluator is right."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from medbench.clinlens import layout
from medbench.clinlens.canonical import canonical_json
from medbench.clinlens.evaluator.results import SUBMISSION_SCHEMA
from medbench.clinlens.private import read_private
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from medbench.clinlens.suite import Suite


def write_gold(suite: Suite, private: Path, out: Path) -> None:
    """Write a submission folder for a suite from its private tree; raises InvalidInput where one is."""
    if out.exists():
        raise InvalidInput(f"{out} is there already. Name a new folder.", code="not_empty")
    write_head(suite, out, "reference")
    for task in suite.tasks:
        folder = out / layout.TASKS / task.task_id
        shutil.copytree(private / task.task_id / layout.REFERENCE_ARTIFACTS, folder / layout.ARTIFACTS)
        answer = read_private(private / task.task_id).answer
        shown: Any = float(answer.answer) if answer.abs_tol else answer.answer
        (folder / layout.FINAL_ANSWER).write_bytes(canonical_json({"task_id": task.task_id, "answer": shown}))


def write_head(suite: Suite, out: Path, system: str) -> None:
    """Write submission.json of a new submission folder."""
    out.mkdir(parents=True)
    head = {"schema_version": SUBMISSION_SCHEMA, "suite": suite.name, "suite_digest": suite.digest}
    (out / layout.SUBMISSION).write_bytes(canonical_json(head | {"system": {"name": system}}))
