"""pack, check, evaluate: from a built suite to the scores of a submission."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from medbench.clinlens import layout
from medbench.clinlens.archive import open_submission
from medbench.clinlens.canonical import canonical_json, file_sha256
from medbench.clinlens.commands import Outcome, command
from medbench.clinlens.evaluator.conditions import Verdict, public_check
from medbench.clinlens.evaluator.results import Roots, evaluate
from medbench.clinlens.evaluator.totals import rounded
from medbench.clinlens.manifest import read_manifest
from medbench.clinlens.packing import pack
from medbench.clinlens.suite import Suite, read_suite
from medbench.errors import InvalidInput
from medbench.formats.text import printable

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from medbench.clinlens.archive import Source
    from medbench.clinlens.commands import Commands

MARKS = {"pass": "+", "fail": "x", "not_evaluated": "-", "internal_error": "?"}
CONDITIONS = ("Files", "Parse", "Rows", "Checks", "Answer")
SHOWN = 3  # decimals of a rate
_EXACT = ("strict_exact", "exec_exact")
NAME = 60  # characters of a name on a terminal


def add(commands: Commands[Any]) -> None:
    """Add the subcommands."""
    parser = command(commands, "pack", "Make the public archive of a suite, scanned for leaks.", _pack)
    add_suite(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="the archive; by default NAME.zip here")

    text = "Check a submission by the public contract: conditions 1 and 2, never the answer."
    parser = command(commands, "check", text, _check)
    parser.add_argument(
        "--task", type=Path, required=True, metavar="DIR", help="public folder of a task, or of a whole suite"
    )
    parser.add_argument("submission", type=Path, help="folder or zip archive; of one task, or whole")

    parser = command(commands, "evaluate", "Judge a submission by all five conditions.", _evaluate)
    add_suite(parser)
    parser.add_argument("submission", type=Path, help="folder or zip archive")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the whole results here")


def add_suite(parser: ArgumentParser) -> None:
    """The options that name a suite and where suites are."""
    parser.add_argument("--suite", required=True, metavar="NAME")
    for name, root, what in (
        ("--public", layout.PUBLIC_ROOT, "what is given away"),
        ("--private", layout.PRIVATE_ROOT, "what the evaluator alone may read"),
    ):
        help_text = f"root of {what}; by default {root}"
        parser.add_argument(name, type=Path, default=root, metavar="DIR", help=help_text)


def _pack(options: Namespace) -> Outcome:

    suite, roots = _suite_of(options)
    out = options.out or Path(f"{suite.name}.zip")
    progress = partial(tqdm, desc="Packing", unit="task", disable=None, leave=False)
    n_files = pack(suite, roots, out, progress)
    found = {
        "path": str(out),
        "suite": suite.name,
        "suite_digest": suite.digest,
        "tasks": len(suite.tasks),
        "files": n_files,
        "bytes": out.stat().st_size,
        "sha256": file_sha256(out),
    }
    text = f"{out}: {len(suite.tasks):,} tasks, {n_files:,} files, {found['bytes']:,} bytes, nothing private."
    return Outcome(found, text)


def _check(options: Namespace) -> Outcome:

    folders = _task_folders(options.task)
    source = open_submission(options.submission)
    try:
        progress = tqdm(folders, desc="Checking", unit="task", disable=None, leave=False)
        verdicts = [_public_verdict(folder, source, whole=len(folders) > 1) for folder in progress]
    finally:
        source.close()
    wrong = [verdict for verdict in verdicts if not verdict.exec_success]
    found = {"ok": not wrong, "checked": len(verdicts), "tasks": [_public(verdict) for verdict in verdicts]}
    text = f"{len(verdicts) - len(wrong):,} of {len(verdicts):,} tasks can be parsed."
    warnings = [f"{each.task_id}: warning {warning}" for each in verdicts for warning in each.warnings]
    complaints = [
        f"{each.task_id}: {each.code}: {each.messages.get(str(each.first_failed), '')}" for each in wrong
    ]
    return Outcome(found, text, 1 if wrong else 0, warnings + complaints)


def _public_verdict(folder: Path, source: Source, *, whole: bool) -> Verdict:
    """Conditions 1 and 2 of one task, which may lie at the top of a submission of one task."""
    manifest = read_manifest(folder / layout.MANIFEST)
    prefix = f"{layout.TASKS}/{manifest.task_id}/"
    is_whole = whole or any(name.startswith(f"{layout.TASKS}/") for name in source.sizes)
    return public_check(manifest, source, prefix if is_whole else "")


def _public(verdict: Verdict) -> dict[str, Any]:
    first = str(verdict.first_failed)
    return {
        "task_id": verdict.task_id,
        "ok": verdict.exec_success,
        "first_failed": verdict.first_failed,
        "code": verdict.code,
        "message": verdict.messages.get(first, ""),
        "warnings": verdict.warnings,
    }


def _task_folders(folder: Path) -> list[Path]:
    if (folder / layout.MANIFEST).is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob(f"*/{layout.MANIFEST}"))
    if not found:
        raise InvalidInput(f"{folder} is neither a task nor a suite: no manifest.json.", code="file_missing")
    return found


def _evaluate(options: Namespace) -> Outcome:

    suite, roots = _suite_of(options)
    progress = partial(tqdm, desc="Evaluating", unit="task", disable=None, leave=False)
    results = evaluate(suite, roots, options.submission, progress)
    if options.out:
        _write(options.out, canonical_json(results))
    is_scored = results["overall"]["reason"] != "not_evaluated"
    complaints = (
        [] if is_scored else ["The evaluator failed on a task (?): no score. Nothing is lost; see the log."]
    )
    return Outcome(results, results_text(results), 0 if is_scored else 1, complaints)


def _suite_of(options: Namespace) -> tuple[Suite, Roots]:

    roots = Roots(options.public / options.suite, options.private / options.suite)
    return read_suite(roots.public), roots


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.", code="not_written") from error
    finally:
        part.unlink(missing_ok=True)


def results_text(results: dict[str, Any]) -> str:
    """The results for people: headline, scopes, then task by task."""
    tasks = results["tasks"]
    name = " · ".join(printable(each, NAME) for each in results["system"].values())
    complete = (
        "complete" if results["complete"] else f"partial, {results['submitted']} of {len(tasks)}, not ranked"
    )
    heading = (
        f"{name} on {results['suite']} {results['suite_digest'][:12]} ({results['source_kind']}) · {complete}"
    )
    head = f"{'':<13}{''.join(f'{each:<{len(each) + 2}}' for each in CONDITIONS)}"
    lines = [line for task in tasks for line in _task_lines(task)]
    return "\n".join([heading, "", *_score_lines(results), "", head.rstrip(), *lines])


def _score_lines(results: dict[str, Any]) -> list[str]:
    lines = [f"{'':<16}{'n':>4}{'StrictPass':>16}{'ExecSuccess':>16}   95 % of StrictPass"]
    for name, scope in results["scopes"].items():
        shown = [f"{scope[key]} {_rate(scope[key], scope['n'])}" for key in ("strict", "exec")]
        interval = _interval(scope["wilson95"])
        lines.append(f"{name.replace('_', ' '):<16}{scope['n']:>4}{shown[0]:>16}{shown[1]:>16}   {interval}")
    overall = results["overall"]
    shown = [rounded(Fraction(overall[key]), SHOWN) if overall[key] else "–" for key in _EXACT]
    why = f"no Overall: {overall['reason']}" if overall["reason"] else _interval(overall["strict_ci95"])
    return [*lines, f"{'Overall (macro)':<20}{shown[0]:>16}{shown[1]:>16}   {why}"]


def _task_lines(task: dict[str, Any]) -> list[str]:
    """A task with its five conditions, and what went wrong under it."""
    states = zip(CONDITIONS, task["conditions"].values(), strict=True)
    marks = "".join(f"{MARKS[state]:<{len(name) + 2}}" for name, state in states)
    verdict = "PASS" if task["strict_pass"] else f"{task['first_failed']} {task['code']}"
    warnings = f"  ({', '.join(task['warnings'])})" if task["warnings"] else ""
    return [f"{task['task_id']}  {marks}{verdict}{warnings}", *(f"    {hint}" for hint in task["hints"])]


def _rate(met: int, n: int) -> str:
    return rounded(Fraction(met, n), SHOWN) if n else "–"


def _interval(edges: list[str] | None) -> str:
    return "[{}, {}]".format(*(rounded(Fraction(edge), SHOWN) for edge in edges)) if edges else "–"
