"""source, synth, plan, build, qc: from tables to a suite that is known to be good."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from medbench.clinlens.build.fixed import derive_fixed
from medbench.clinlens.build.planning import plan_source
from medbench.clinlens.build.suite import INSTANCES_MOST, Plan, build_suite, parse_templates
from medbench.clinlens.commands import Outcome, command
from medbench.clinlens.commands.judging import add_suite
from medbench.clinlens.qc.gold import write_gold
from medbench.clinlens.qc.suite import check_suite
from medbench.clinlens.sources import KINDS, Source, open_source
from medbench.clinlens.suite import read_suite
from medbench.clinlens.synthetic import DEMO_TABLES, TABLES, synthesise
from medbench.clinlens.templates import TEMPLATES
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from medbench.clinlens.commands import Commands

FIXED = "fixed126"


def add(commands: Commands[Any]) -> None:
    """Add the subcommands."""
    text = "Look at the tables of a source, or convert them once for faster work."
    parser = command(commands, "source", text, _source)
    parser.add_argument("action", choices=("check", "prepare"))
    _add_source(parser, "--root")

    parser = command(commands, "synth", "Make a synthetic source.", _synth)
    parser.add_argument("--patients", type=int, default=3000, metavar="N", help="by default 3000")
    parser.add_argument(
        "--seed", default="medbench", metavar="TEXT", help="the same seed gives the same bytes"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    parser.add_argument(
        "--layout", choices=("full", "demo"), default="full", help="demo: hosp and icu tables only"
    )

    parser = command(commands, "plan", "Tell which templates a source can build.", _plan)
    _add_source(parser, "--source")

    parser = command(
        commands, "build", "Build the tasks of a suite; a build that was stopped goes on.", _build
    )
    _add_source(parser, "--source")
    add_suite(parser)
    parser.add_argument("--templates", nargs="+", default=["all"], metavar="ID", help="by default all 20")
    parser.add_argument(
        "--instances", type=int, default=INSTANCES_MOST, metavar="N", help="of each template, at most 10"
    )
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes, by default 2")
    parser.add_argument(
        "--secret", type=Path, metavar="FILE", help="draws and salts; made at the first build"
    )
    text = f"make {FIXED} of a whole suite, too: the fixed 126 tasks"
    parser.add_argument("--fixed", action="store_true", help=text)

    parser = command(commands, "qc", "Check a built suite: everything that can be checked by machine.", _qc)
    add_suite(parser)
    parser.add_argument("--task", metavar="ID", help="this task only")
    parser.add_argument("--twice", action="store_true", help="do everything a second time and compare")
    text = "write the reference's own outputs there, as a submission that must pass whole"
    parser.add_argument("--gold", type=Path, metavar="DIR", help=text)


def _add_source(parser: ArgumentParser, name: str) -> None:
    parser.add_argument(
        name, type=Path, required=True, dest="root", metavar="DIR", help="folder of the tables"
    )
    parser.add_argument("--kind", choices=KINDS, help="what the source is, where it cannot be told")
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="for converted tables; by default prepared/ in the source"
    )


def _open(options: Namespace) -> Source:
    return open_source(options.root, options.kind, options.cache)


def _source(options: Namespace) -> Outcome:
    source = _open(options)
    if options.action == "prepare":
        bar = tqdm(total=len(source.paths), desc="Converting", unit="table", disable=None, leave=False)
        source.prepare(progress=lambda _: bar.update())
        bar.close()
        found = source.describe() | {"cache": str(source.cache)}
        return Outcome(found, f"{len(source.paths)} tables are ready in {source.cache}.")
    tables = tqdm(sorted(source.paths), desc="Checking", unit="table", disable=None, leave=False)
    problems = [problem for table in tables for problem in source.problems(table)]
    found = source.describe() | {"ok": not problems, "problems": [problem.as_dict() for problem in problems]}
    releases = ", ".join(f"{name} {release}" for name, release in source.releases.items())
    missing = ", ".join(found["missing"]) or "none"
    text = f"{source.kind} ({releases}): {len(source.paths)} tables, missing: {missing}."
    return Outcome(found, text, 1 if problems else 0, [str(problem) for problem in problems])


def _synth(options: Namespace) -> Outcome:
    bar = tqdm(total=options.patients, desc="Inventing patients", unit="patient", disable=None, leave=False)
    tables = TABLES if options.layout == "full" else DEMO_TABLES
    synthesise(
        options.out,
        patients=options.patients,
        seed=options.seed,
        tables=tables,
        progress=lambda done, _: bar.update(done - bar.n),
    )
    bar.close()
    found = {"path": str(options.out), **open_source(options.out).describe()}
    return Outcome(found, f"{options.out}: {options.patients:,} invented patients in {len(tables)} tables.")


def _plan(options: Namespace) -> Outcome:
    source = _open(options)
    found = plan_source(source)
    lines = [_plan_line(name, each) for name, each in found.items()]
    buildable = sum(each["buildable"] for each in found.values())
    text = "\n".join([f"{source.kind}: {buildable} of {len(found)} templates can be built.", *lines])
    return Outcome({"kind": source.kind, "buildable": buildable, "templates": found}, text)


def _plan_line(name: str, found: dict[str, Any]) -> str:
    if found["missing"]:
        return f"{name}  missing: {', '.join(found['missing'])}"
    if found["problem"]:
        return f"{name}  {found['problem']}"
    return f"{name}  up to {found['instances']} instances, {found['patients']:,} patients in the population"


def _build(options: Namespace) -> Outcome:
    secret = options.secret or options.private / "secret"
    names = parse_templates(options.templates)
    plan = Plan(
        options.root,
        options.kind,
        options.cache,
        options.suite,
        options.public,
        options.private,
        secret,
        names,
        options.instances,
        options.workers,
    )
    if options.fixed and (len(names) < len(TEMPLATES) or options.instances < INSTANCES_MOST):
        raise InvalidInput("--fixed needs all templates and ten instances.", code="fixed")
    bar = tqdm(total=len(names) * options.instances, desc="Building", unit="task", disable=None, leave=False)
    suite, rejected = build_suite(plan, lambda done, _: bar.update(done - bar.n))
    bar.close()
    suites = [suite]
    if options.fixed:
        suites.append(derive_fixed(options.public, options.private, options.suite, FIXED))
    found = {
        "suites": [{"suite": each.name, "tasks": len(each.tasks), "digest": each.digest} for each in suites],
        "rejected": rejected,
    }
    count = sum(map(len, rejected.values()))
    lines = [f"{each.name}: {len(each.tasks)} tasks, digest {each.digest}." for each in suites]
    return Outcome(found, "\n".join([*lines, f"{count} candidates were rejected and replaced (see --json)."]))


def _qc(options: Namespace) -> Outcome:
    public, private = options.public / options.suite, options.private / options.suite
    suite = read_suite(public)
    ids = [task.task_id for task in suite.tasks]
    if options.gold:
        write_gold(suite, private, options.gold)
    if options.task:
        if options.task not in ids:
            raise InvalidInput(f"{options.suite} has no task {options.task}.", code="unknown_task")
        ids = [options.task]
    progress = partial(tqdm, desc="Checking", unit="task", disable=None, leave=False)
    found = check_suite(public, private, ids, twice=options.twice, progress=progress)
    complaints = [f"{each['task_id']}: {each['name']}: {each['detail']}" for each in found["failed"]]
    text = (
        f"{found['tasks']} tasks, {found['checks']:,} checks, {found['assets_read']} files opened: "
        f"{len(complaints) + len(found['suite_problems'])} problems."
    )
    return Outcome(found, text, 0 if found["ok"] else 1, complaints + found["suite_problems"])
