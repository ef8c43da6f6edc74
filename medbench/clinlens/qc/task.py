"""The gate that every task passes: what can be checked of one, each with what it found.

Source of the checks: ClinLens design, section 5.1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import duckdb

from medbench.clinlens import layout
from medbench.clinlens.build.reference import Memory, stored_spec
from medbench.clinlens.canonical import checksum_lines
from medbench.clinlens.checked import checked_private
from medbench.clinlens.evaluator.answers import judge
from medbench.clinlens.evaluator.conditions import evaluate_task, reference_tables
from medbench.clinlens.manifest import NumericAnswer, read_manifest
from medbench.clinlens.packing import find_leak
from medbench.clinlens.qc.assets import assets_of, read_asset
from medbench.clinlens.qc.bounds import outside_of_bounds
from medbench.clinlens.qc.distractors import too_few_distractors
from medbench.clinlens.qc.rerun import rerun
from medbench.clinlens.qc.slips import idle_predicates
from medbench.clinlens.templates import runner, template_of
from medbench.clinlens.templates.core import fill

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from medbench.clinlens.evaluator.tables import Table
    from medbench.clinlens.manifest import Manifest
    from medbench.clinlens.private import PrivateTask
    from medbench.clinlens.templates.core import Parameters, Template

ROWS_MOST = 600
FEWEST_ROWS = 30
FEWEST_IN_DEMO = 10  # the open demo has 100 patients
FEWEST_EVENTS = 8  # of either outcome in test
FEWEST_PAIRS = 20
QC_SCHEMA = "clinlens.qc/1"


@dataclass(frozen=True, slots=True)
class Given:
    """A task on its two sides, with what it was made from."""

    task: Path
    manifest: Manifest
    private: PrivateTask
    template: Template
    parameters: Parameters


def check_task(task: Path, private_folder: Path) -> dict[str, Any]:
    """The record of quality control of one task: every check with its result, and the assets read."""
    manifest = read_manifest(task / layout.MANIFEST)
    private = checked_private(manifest, private_folder)
    parameters = json.loads((private_folder / layout.SPEC).read_text())["parameters"]
    given = Given(task, manifest, private, template_of(manifest.template, parameters), parameters)
    checks = [{"name": name, "ok": not wrong, "detail": wrong} for name, wrong in _checks(given)]
    return {
        "schema_version": QC_SCHEMA,
        "task_id": manifest.task_id,
        "assets_read": len(assets_of(task)),
        "checks": checks,
    }


def _checks(given: Given) -> Iterator[tuple[str, str]]:
    task, manifest, private = given.task, given.manifest, given.private
    yield "checksums", _checksums(task)
    yield "assets", next(filter(None, map(read_asset, assets_of(task))), "")
    tables = reference_tables(manifest, private)  # raises where the reference breaks its own schema
    yield "schema", ""
    yield "cohort", _cohort(given, tables)
    yield "gold", _gold(manifest, private)
    yield from _reruns(task, manifest, private)
    yield "tolerance", _tolerance(manifest, private)
    yield "mutants", _mutants(private)
    yield "predicates", _predicates(manifest, private, tables)
    yield from _computed(given)
    yield "text", _text(task)
    yield "leak", find_leak(task, manifest, private)


def _checksums(task: Path) -> str:
    stated = (task / layout.CHECKSUMS).read_text()
    return "" if stated == checksum_lines(task, [layout.CHECKSUMS]) else "a file is not as it was written"


def _cohort(given: Given, tables: dict[str, Table]) -> str:
    template = given.template
    main = max(tables.values(), key=len) if template.is_categorical else tables[template.artifacts[0].name]
    fewest = FEWEST_ROWS if template.is_categorical else template.fewest_rows
    if given.manifest.source_kind == "mimic_demo":
        fewest = min(fewest, FEWEST_IN_DEMO)
    if not fewest <= len(main) <= ROWS_MOST:
        return f"{len(main)} rows, not {fewest} to {ROWS_MOST}"
    if "predictions" in tables:
        return _outcomes(tables["predictions"])
    statistics = {predicate.given.get("statistic") for predicate in given.private.predicates}
    if "spearman" in statistics and len(main) < FEWEST_PAIRS:
        return f"{len(main)} pairs for a correlation"
    return ""


def _outcomes(table: Table) -> str:
    test = [
        y for y, split in zip(table.columns["y_true"], table.columns["split"], strict=True) if split == "test"
    ]
    fewest = min(sum(test), len(test) - sum(test))
    return "" if fewest >= FEWEST_EVENTS else f"{fewest} rows of the rarer outcome in test"


def _gold(manifest: Manifest, private: PrivateTask) -> str:
    """The reference's own artifacts through the real evaluator."""
    answer = private.answer.answer
    shown: Any = float(answer) if isinstance(manifest.answer, NumericAnswer) else answer
    files = {layout.FINAL_ANSWER: json.dumps({"answer": shown}).encode()}
    for artifact in manifest.artifacts:
        path = private.folder / layout.REFERENCE_ARTIFACTS / artifact.path
        files[f"{layout.ARTIFACTS}/{artifact.path}"] = path.read_bytes()
    verdict = evaluate_task(manifest, private, Memory(files), "")
    return "" if verdict.strict_pass else f"the reference fails with {verdict.first_failed} {verdict.code}"


def _reruns(task: Path, manifest: Manifest, private: PrivateTask) -> Iterator[tuple[str, str]]:
    """Twice the same bytes; with two threads and shuffled rows the same within a tenth of the tolerance."""
    stored = {
        artifact.path: (private.folder / layout.REFERENCE_ARTIFACTS / artifact.path).read_bytes()
        for artifact in manifest.artifacts
    }
    try:
        again, answer = rerun(task, private.folder)
        other, other_answer = rerun(task, private.folder, "2", "shuffle")
    except (RuntimeError, OSError) as error:
        yield "rerun", f"the workflow fails: {error}"
        return
    same = again == stored and answer == private.answer.answer
    yield "rerun", "" if same else "another run gives other bytes"
    spread = _spread(answer, other_answer)
    limit = max(private.answer.abs_tol, private.answer.rel_tol * abs(_decimal(answer))) / 10
    yield (
        "spread",
        "" if spread <= limit and other.keys() == again.keys() else f"the answer moves by {spread}",
    )


def _spread(one: str, other: str) -> Decimal:
    if one == other:
        return Decimal(0)
    return abs(_decimal(one) - _decimal(other))


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal(0)


def _tolerance(manifest: Manifest, private: PrivateTask) -> str:
    """A correctly rounded answer must pass."""
    if not isinstance(manifest.answer, NumericAnswer):
        return ""
    half = Decimal(5).scaleb(-manifest.answer.decimals - 1)
    right = abs(Decimal(private.answer.answer))
    tolerance = max(private.answer.abs_tol, private.answer.rel_tol * right)
    return "" if tolerance >= half else f"{tolerance} is less than half of the last decimal asked for"


def _predicates(manifest: Manifest, private: PrivateTask, tables: dict[str, Table]) -> str:
    """Each predicate must find the slip that it is there for; that it holds, `gold` has shown."""
    text = private.answer.answer
    answer = Decimal(text) if isinstance(manifest.answer, NumericAnswer) else text
    idle = idle_predicates(private, tables, answer)
    return f"{', '.join(idle)} would pass anything" if idle else ""


def _computed(given: Given) -> Iterator[tuple[str, str]]:
    """What shows only beside the tables that the stored workflow leaves behind."""
    try:
        spec = stored_spec(given.private.folder)
        with runner.load(spec, given.task) as db:
            runner.compute(db, spec)
            yield "temporal bounds", outside_of_bounds(db, given.template, given.parameters)
            yield "naive", _naive(db, given)
            yield "distractors", too_few_distractors(db, given.template, given.parameters)
    except (OSError, ValueError, duckdb.Error) as error:
        yield "temporal bounds", f"the workflow fails: {error}"


def _naive(db: duckdb.DuckDBPyConnection, given: Given) -> str:
    """Answers that ignore the question's rules must be wrong."""
    for name, query in given.template.naive.items():
        row = db.execute(fill(query, given.parameters)).fetchone()
        value = row[0] if row else None
        if value is not None and not judge(
            Decimal(repr(float(value))), given.private.answer, given.manifest.answer
        ):
            return f"the naive answer {name} is right"
    return ""


def _mutants(private: PrivateTask) -> str:
    return "" if private.mutants else "no wrong program is known"


def _text(task: Path) -> str:
    text = (task / layout.QUESTION).read_text()
    return f"the question holds an open name near {text[text.index('$') :][:30]!r}" if "$" in text else ""
