"""The command line of ClinLens. `manage.py clinlens` hands over to `main`.

Each module of `GROUPS` has `add(commands)`, which adds its subcommands and sets the default
`run` of each: a function of the parsed options that answers an Outcome and may raise MedBenchError.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from medbench.errors import MedBenchError

if TYPE_CHECKING:
    from collections.abc import Sequence

# The commands by module. One alone is imported where it can be: readers of ECGs take a second.
GROUPS = {
    "building": ("source", "synth", "plan", "build", "qc"),
    "judging": ("pack", "check", "evaluate"),
}
Commands = argparse._SubParsersAction  # noqa: SLF001  # argparse gives the type no public name


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command found: as one JSON object, as text for people, and its exit status."""

    found: dict[str, Any]
    text: str
    status: int = 0
    complaints: list[str] = field(default_factory=list)  # for stderr


def main(arguments: Sequence[str] | None = None, prog: str = "python -m medbench.clinlens") -> int:
    """Run one command: 0 done, 1 bad input (told on stderr), 2 wrong usage (argparse exits)."""
    given = sys.argv[1:] if arguments is None else arguments
    options = _parser(prog, given[0] if given else "").parse_args(given)
    try:
        outcome: Outcome = options.run(options)
    except MedBenchError as error:
        found = {"ok": False, "code": error.code, "message": error.message}
        outcome = Outcome(found, "", 1, [f"{error.code}: {error.message}"])
    except KeyboardInterrupt:
        outcome = Outcome(
            {"ok": False, "code": "interrupted", "message": "Interrupted."}, "", 1, ["Stopped."]
        )
    for line in outcome.complaints:
        sys.stderr.write(f"{line}\n")
    if options.json:
        sys.stdout.write(json.dumps(outcome.found, ensure_ascii=False, allow_nan=False) + "\n")
    elif outcome.text:
        sys.stdout.write(f"{outcome.text}\n")
    return outcome.status


def command(commands: Commands[Any], name: str, help_text: str, run: Any) -> argparse.ArgumentParser:
    """A subcommand with `--json`, whose options go to `run`."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help_text, description=help_text)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.set_defaults(run=run)
    return parser


def _parser(prog: str, asked: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog, description="Executable clinical tasks: built, checked and judged."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in [name for name, members in GROUPS.items() if asked in members] or GROUPS:
        import_module(f"{__name__}.{name}").add(commands)
    return parser
