"""A whole submission against a suite: the results file. Source: ClinLens design, section 4.9."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from medbench.clinlens import layout
from medbench.clinlens.archive import Rejected, Source, Unreadable, open_submission
from medbench.clinlens.canonical import canonical_json, sha256_hex
from medbench.clinlens.checked import load_task
from medbench.clinlens.evaluator.answers import parse_json
from medbench.clinlens.evaluator.conditions import Verdict, evaluate_task
from medbench.clinlens.evaluator.diagnosis import diagnose
from medbench.clinlens.evaluator.failure import Failed
from medbench.clinlens.evaluator.totals import (
    Counts,
    Interval,
    macro,
    macro_interval,
    micro,
    rounded,
    wilson,
)
from medbench.clinlens.suite import Suite, SuiteTask
from medbench.formats.text import is_storable

RESULTS_SCHEMA = "clinlens.results/1"
SUBMISSION_SCHEMA = "clinlens.submission/1"
VERSION = "1.0.0"
SUBMISSION_BYTES = 64 * 1024
SYSTEM = ("name", "version", "backbone", "scaffold", "temperature")
SYSTEM_CHARACTERS = 200
EXTRA_SHOWN = 20

Progress = Callable[[Iterable[SuiteTask]], Iterable[SuiteTask]]


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders of one suite: its public tree, and its private one."""

    public: Path
    private: Path


@cache
def evaluator_digest() -> str:
    """What pins this evaluator: the digest of the modules that decide a verdict, in order."""
    here = Path(__file__).parent
    modules = [*sorted(here.glob("*.py")), here.parent / "archive.py", here.parent / "labels.py"]
    return sha256_hex(b"".join(path.read_bytes() for path in modules))


def evaluate(suite: Suite, roots: Roots, submission: Path, progress: Progress = iter) -> dict[str, Any]:
    """The results of a submission; raises Rejected, or InvalidInput where the suite is damaged."""
    source = open_submission(submission)
    try:
        system = read_submission(source, suite)
        tasks = [_task_result(task, roots, source) for task in progress(suite.tasks)]
        results = {
            "schema_version": RESULTS_SCHEMA,
            "suite": suite.name,
            "suite_digest": suite.digest,
            "source_kind": suite.source_kind,
            "evaluator": {"version": VERSION, "digest": evaluator_digest()},
            "submission_sha256": source.sha256(),
            "system": system,
            "submitted": sum(task["code"] != "missing_task" for task in tasks),
            "extra_files": _extra_files(suite, source),
            "tasks": tasks,
            **_scores(suite, tasks),
        }
    finally:
        source.close()
    results["complete"] = results["submitted"] == len(tasks)
    return results | {"digest": results_digest(results)}


def results_digest(results: dict[str, Any]) -> str:
    """The digest of results, whatever time they took."""
    tasks = [{name: value for name, value in task.items() if name != "seconds"} for task in results["tasks"]]
    rest = {name: value for name, value in results.items() if name != "digest"}
    return sha256_hex(canonical_json(rest | {"tasks": tasks}))


def read_submission(source: Source, suite: Suite) -> dict[str, str]:
    """Who submits, by submission.json; raises Rejected where it is not for this suite."""
    if layout.SUBMISSION not in source.sizes:
        raise Rejected("submission_missing", "There is no submission.json at the top.")
    try:
        found = parse_json(source.read(layout.SUBMISSION, SUBMISSION_BYTES))
    except (Failed, Unreadable) as failure:
        raise Rejected(failure.code, str(failure), layout.SUBMISSION) from failure
    if not isinstance(found, dict) or found.get("schema_version") != SUBMISSION_SCHEMA:
        message = f'It must be an object with "schema_version": "{SUBMISSION_SCHEMA}".'
        raise Rejected("wrong_schema", message, layout.SUBMISSION)
    if (found.get("suite"), found.get("suite_digest")) != (suite.name, suite.digest):
        message = f"It is for another suite or edition. This is {suite.name}, suite_digest {suite.digest}."
        raise Rejected("suite_mismatch", message, layout.SUBMISSION)
    if found.get("runs", 1) != 1:
        raise Rejected("runs", "Hand in one run at a time.", layout.SUBMISSION)
    return _system(found.get("system"))


def _system(found: Any) -> dict[str, str]:
    if not isinstance(found, dict) or not found.get("name"):
        raise Rejected(
            "system_missing", 'The field "system" must be an object with a "name".', layout.SUBMISSION
        )
    system = {name: str(found[name]) for name in SYSTEM if found.get(name) is not None}
    for name, text in system.items():
        if len(text) > SYSTEM_CHARACTERS or not is_storable(text):
            message = f'"system.{name}" must be a text of at most {SYSTEM_CHARACTERS} characters.'
            raise Rejected("bad_value", message, layout.SUBMISSION)
    return system


def _task_result(task: SuiteTask, roots: Roots, source: Source) -> dict[str, Any]:
    started = time.perf_counter()
    manifest, private = load_task(task, roots.public, roots.private)
    verdict = evaluate_task(manifest, private, source, f"{layout.TASKS}/{task.task_id}/")
    found = diagnose(verdict, manifest, private)
    seconds = round(time.perf_counter() - started, 3)
    return _as_dict(verdict, task) | {
        "diagnosis": list(found),
        "hints": list(found.values()),
        "seconds": seconds,
    }


def _as_dict(verdict: Verdict, task: SuiteTask) -> dict[str, Any]:
    first = verdict.first_failed or ""
    return {
        "task_id": task.task_id,
        "run": 1,
        "scope": task.scope,
        "capability": task.capability,
        "evaluated": verdict.is_evaluated,
        "conditions": verdict.conditions,
        "first_failed": verdict.first_failed,
        "code": verdict.code,
        "message": verdict.messages.get(first, ""),
        "failed_predicates": list(verdict.findings),
        "warnings": verdict.warnings,
        "strict_pass": verdict.strict_pass,
        "exec_success": verdict.exec_success,
    }


def _extra_files(suite: Suite, source: Source) -> list[str]:
    """The first files that belong to no task of the suite."""
    ids = {task.task_id for task in suite.tasks}
    extra = [name for name in sorted(source.sizes) if name != layout.SUBMISSION and _task_of(name) not in ids]
    return extra[:EXTRA_SHOWN]


def _task_of(name: str) -> str:
    parts = name.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == layout.TASKS else ""


def _scores(suite: Suite, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Scopes and Overall; no Overall where a scope is empty or a task could not be evaluated."""
    scopes: dict[str, Any] = {}
    counts: dict[str, list[Counts]] = {"strict": [], "exec": []}
    for scope, n_tasks in suite.scope_sizes.items():
        of_scope = [task for task in tasks if task["scope"] == scope]
        strict, executed = (sum(task[key] for task in of_scope) for key in ("strict_pass", "exec_success"))
        counts["strict"].append((strict, n_tasks))
        counts["exec"].append((executed, n_tasks))
        scopes[scope] = {
            "n": n_tasks,
            "strict": strict,
            "exec": executed,
            "strict_rate": rounded(Fraction(strict, n_tasks)) if n_tasks else None,
            "exec_rate": rounded(Fraction(executed, n_tasks)) if n_tasks else None,
            "wilson95": _as_text(wilson(strict, n_tasks)),
        }
    return {"scopes": scopes, "overall": _overall(counts, tasks)}


def _overall(counts: dict[str, list[Counts]], tasks: list[dict[str, Any]]) -> dict[str, Any]:
    reason = None
    if not all(task["evaluated"] for task in tasks):
        reason = "not_evaluated"
    elif macro(counts["strict"]) is None:
        reason = "scope_without_tasks"
    found: dict[str, Any] = {"runs": 1, "reason": reason}
    for name, each in counts.items():
        value, small = (None, None) if reason else (macro(each), micro(each))
        found[name] = rounded(value) if value is not None else None
        found[f"{name}_exact"] = str(value) if value is not None else None
        found[f"{name}_micro"] = rounded(small) if small is not None else None
        found[f"{name}_ci95"] = None if reason else _as_text(macro_interval(each))
    return found


def _as_text(interval: Interval | None) -> list[str] | None:
    return [f"{edge:.6f}" for edge in interval] if interval else None
