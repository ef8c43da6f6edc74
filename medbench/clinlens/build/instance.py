"""One task from a template and its parameters: drawn, packed, solved, and put to the test."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from medbench.clinlens import layout
from medbench.clinlens.build import packaging, reference
from medbench.clinlens.build.selecting import Pool, Rejected
from medbench.clinlens.canonical import canonical_json
from medbench.clinlens.qc.task import check_task
from medbench.clinlens.templates import runner

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from medbench.clinlens.build.secret import Secret
    from medbench.clinlens.manifest import Manifest
    from medbench.clinlens.private import Mutant, PrivateTask
    from medbench.clinlens.sources import Source
    from medbench.clinlens.templates.core import Parameters, Template


@dataclass(frozen=True, slots=True)
class Place:
    """Where a suite is built, from what, and with which secret."""

    source: Source
    suite: str
    public: Path  # of the suite
    private: Path
    secret: Secret

    def half(self, task_id: str) -> tuple[Path, Path]:
        """Where a task is while it is made: no task is ever half there."""
        return self.public / ".half" / task_id, self.private / ".half" / task_id


def build_instance(
    place: Place, template: Template, parameters: Parameters, task_id: str, *, label: str | None, draw: int
) -> str:
    """Build one task whole; its answer. Raises Rejected, and leaves nothing, where it is no good one."""
    task, private = place.half(task_id)
    for folder in (task, private):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    try:
        answer = _build(place, template, parameters, task_id, label, draw)
        _move(place, task_id)
    finally:
        for folder in (task, private):
            shutil.rmtree(folder, ignore_errors=True)
    return answer


def _build(
    place: Place, template: Template, parameters: Parameters, task_id: str, label: str | None, draw: int
) -> str:
    task, private = place.half(task_id)
    with_files = (
        set(packaging.files_by_patient(place.source, template.assets).values()) if template.assets else set()
    )
    name = f"{task_id}|{draw}|{sorted(parameters.items(), key=str)}"
    pool = Pool(place.source, template, parameters, place.secret, name)
    with pool.db:
        chosen = pool.choose(with_files, label)
    rows = packaging.write_data(place.source, template, chosen, task)
    too_large = packaging.too_large(template, rows, task)
    if too_large:
        raise Rejected(too_large)
    packaging.write_texts(template, chosen.parameters, task)
    manifest = packaging.draft_manifest(
        template, chosen.parameters, place.source, rows, task=task, suite=place.suite
    )
    spec = template.spec(chosen.parameters)
    with runner.load(spec, task) as db:
        outputs = _solve(db, spec)
        _write_private(place, template, chosen.parameters, task_id, draw, outputs)
        known = _known(place, template, chosen.parameters, task_id, outputs)
        mutants = _mutants(db, template, chosen.parameters, manifest, known)
    reference.write_documents(known, mutants)
    packaging.write_manifest(manifest, task, private)
    _check(task, private)
    assert outputs[1] is not None
    return outputs[1]


def _solve(db: duckdb.DuckDBPyConnection, spec: dict[str, Any]) -> reference.Outputs:
    try:
        outputs = runner.compute(db, spec)
    except ValueError as error:
        raise Rejected(f"the reference has no answer: {error}") from error
    if outputs[1] is None:
        raise Rejected("the reference has no answer: it is undefined on this package")
    return outputs


def _write_private(
    place: Place,
    template: Template,
    parameters: Parameters,
    task_id: str,
    draw: int,
    outputs: reference.Outputs,
) -> None:
    _, private = place.half(task_id)
    canary = place.secret.hex("canary", task_id)[:32]
    reference.write_reference(private, template, outputs)
    spec = {
        "template": template.id,
        "version": template.version,
        "parameters": parameters,
        "draw": draw,
        "source": {"kind": place.source.kind, "fingerprint": place.source.fingerprint},
        "canary": canary,
    }
    (private / layout.SPEC).write_bytes(canonical_json(spec))
    (private / layout.CANARY).write_text(f"{canary}\n")
    (private / layout.SALT).write_text(f"{place.secret.hex('salt', task_id)}\n")
    workflow = private / layout.WORKFLOW
    workflow.write_text(reference.workflow_text(template.spec(parameters), canary), newline="\n")


def _known(
    place: Place, template: Template, parameters: Parameters, task_id: str, outputs: reference.Outputs
) -> PrivateTask:
    _, private = place.half(task_id)
    salt = bytes.fromhex(place.secret.hex("salt", task_id))
    return reference.private_task(private, template, parameters, outputs, salt)


def _mutants(
    db: duckdb.DuckDBPyConnection,
    template: Template,
    parameters: Parameters,
    manifest: Manifest,
    private: PrivateTask,
) -> list[Mutant]:
    """What wrong programs come to; raises Rejected where the evaluator cannot tell one from the reference."""
    found = []
    for mutation in template.applicable(parameters):
        outputs = reference.run_mutant(db, template, parameters, mutation)
        mutant, verdict = reference.judged_mutant(manifest, private, template, mutation.name, outputs)
        if verdict and verdict.strict_pass:
            raise Rejected(f"the wrong program {mutation.name} passes")
        if verdict and verdict.first_failed == "C5" and _too_near(mutant, private):
            raise Rejected(f"the answer of {mutation.name} is within two tolerances")
        found.append(mutant)
    return found


def _too_near(mutant: Mutant, private: PrivateTask) -> bool:
    """A tolerance must be less than half of the distance to the nearest wrong answer."""
    if mutant.answer is None or private.answer.abs_tol == 0:
        return False
    right = Decimal(private.answer.answer)
    tolerance = max(private.answer.abs_tol, private.answer.rel_tol * abs(right))
    return abs(Decimal(mutant.answer) - right) <= 2 * tolerance


def _check(task: Path, private: Path) -> None:
    record = check_task(task, private)
    failed = [check for check in record["checks"] if not check["ok"]]
    if failed:
        raise Rejected(f"{failed[0]['name']}: {failed[0]['detail']}")
    (private / layout.QC).write_bytes(canonical_json(record))


def _move(place: Place, task_id: str) -> None:
    """Into the suite: the private tree first, so that a public task always has one."""
    task, private = place.half(task_id)
    for half, whole in ((private, place.private / task_id), (task, place.public / task_id)):
        shutil.rmtree(whole, ignore_errors=True)
        half.rename(whole)
