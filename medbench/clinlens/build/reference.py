"""Writes the private tree of a task: the reference, what it came to, and what wrong programs come to."""

from __future__ import annotations

import ast
import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medbench.clinlens import layout
from medbench.clinlens.canonical import canonical_json
from medbench.clinlens.evaluator.conditions import evaluate_task
from medbench.clinlens.evaluator.tables import parse_table
from medbench.clinlens.private import (
    Cohort,
    Mutant,
    PrivateTask,
    ReferenceAnswer,
    evaluation_document,
    key_set_hash,
    mutants_document,
)
from medbench.clinlens.templates import runner

if TYPE_CHECKING:
    import duckdb

    from medbench.clinlens.evaluator.conditions import Verdict
    from medbench.clinlens.manifest import Artifact, Manifest
    from medbench.clinlens.templates.core import Mutation, Parameters, Template

Outputs = tuple[dict[str, runner.Rows], str | None]


class Memory:
    """A submission of one task held in memory."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.sizes = {name: len(data) for name, data in files.items()}

    def read(self, name: str, most: int) -> bytes:
        assert len(self.files[name]) <= most
        return self.files[name]

    def sha256(self) -> str:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing to close."""


def workflow_text(spec: dict[str, Any], canary: str) -> str:
    """reference/workflow.py: the runner and this task's specification, a program of its own."""
    source = Path(runner.__file__).read_text(encoding="utf-8")
    text = json.dumps(spec, ensure_ascii=False)  # columns keep their order
    return f'# {canary}\n{source}\n\nSPEC = {text!r}\n\nif __name__ == "__main__":\n    main(SPEC)\n'


def stored_spec(private: Path) -> dict[str, Any]:
    """The specification in a task's reference/workflow.py; raises ValueError where it has none."""
    lines = (private / layout.WORKFLOW).read_text(encoding="utf-8").splitlines()
    text = next((line.removeprefix("SPEC = ") for line in lines if line.startswith("SPEC = ")), "None")
    found: dict[str, Any] = json.loads(ast.literal_eval(text) or "null")
    if not found:
        raise ValueError("the workflow has no specification")
    return found


def artifact_csv(artifact: Artifact, rows: runner.Rows) -> bytes:
    """The rows of an artifact as runner.write writes them."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in artifact.columns])
    writer.writerows([runner.cell(value) for value in row] for row in rows)
    return buffer.getvalue().encode()


def submission_of(template: Template, task_id: str, outputs: Outputs) -> Memory:
    """Outputs of a workflow as the submission that a participant would make of them."""
    rows, answer = outputs
    shown = answer if template.is_categorical or answer is None else float(answer)
    text = json.dumps({"task_id": task_id, "answer": shown})
    files = {layout.FINAL_ANSWER: text.encode()}
    for artifact in template.artifacts:
        files[f"{layout.ARTIFACTS}/{artifact.path}"] = artifact_csv(artifact, rows[artifact.name])
    return Memory(files)


def keys_of(artifact: Artifact, rows: runner.Rows) -> list[tuple[Any, ...]]:
    """The keys as the evaluator types them."""
    return parse_table(artifact_csv(artifact, rows), artifact).keys


def private_task(
    folder: Path, template: Template, parameters: Parameters, outputs: Outputs, salt: bytes
) -> PrivateTask:
    """What the evaluator needs, without mutants yet. The reference artifacts are written by then."""
    rows, answer = outputs
    assert answer is not None
    tolerance = template.tolerance(parameters)
    reference = ReferenceAnswer(answer)
    if tolerance:
        reference = ReferenceAnswer(answer, Decimal(tolerance.abs), Decimal(tolerance.rel), tolerance.why)
    cohorts = {
        artifact.name: Cohort(
            len(rows[artifact.name]), key_set_hash(salt, keys_of(artifact, rows[artifact.name]))
        )
        for artifact in template.artifacts
    }
    return PrivateTask(folder, salt, reference, cohorts, template.predicates(parameters), ())


def write_reference(folder: Path, template: Template, outputs: Outputs) -> None:
    for artifact in template.artifacts:
        path = folder / layout.REFERENCE_ARTIFACTS / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(artifact_csv(artifact, outputs[0][artifact.name]))


def run_mutant(
    db: duckdb.DuckDBPyConnection, template: Template, parameters: Parameters, mutation: Mutation
) -> Outputs | None:
    """The outputs of a wrong program, None where it comes to none."""
    try:
        return runner.compute(db, template.spec(parameters, mutation))
    except ValueError:  # no model without both outcomes
        return None


def judged_mutant(
    manifest: Manifest, private: PrivateTask, template: Template, name: str, outputs: Outputs | None
) -> tuple[Mutant, Verdict | None]:
    """A mutant as it is stored, and what the evaluator says of its output."""
    if outputs is None or outputs[1] is None:
        return Mutant(name, None, {}, "no_answer"), None
    verdict = evaluate_task(manifest, private, submission_of(template, manifest.task_id, outputs), "")
    key_sets = {
        artifact.name: key_set_hash(private.salt, keys_of(artifact, outputs[0][artifact.name]))
        for artifact in template.artifacts
    }
    code = None if verdict.first_failed == "C5" else verdict.code
    return Mutant(name, outputs[1], key_sets, code), verdict


def write_documents(private: PrivateTask, mutants: list[Mutant]) -> None:
    """Write answer.json, evaluation.json and mutants.json."""
    folder = private.folder
    documents = {
        layout.REFERENCE_ANSWER: private.answer.as_dict(),
        layout.EVALUATION: evaluation_document(private.cohorts, private.predicates),
        layout.MUTANTS: mutants_document(mutants),
    }
    for name, document in documents.items():
        (folder / name).write_bytes(canonical_json(document))
