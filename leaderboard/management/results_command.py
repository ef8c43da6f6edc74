"""What `validate_results` and `score` have in common: a result file and what it is checked against."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from django.core.management.base import BaseCommand, CommandError

from leaderboard.references import References, find_references
from leaderboard.services.submissions import limits
from medbench.errors import InvalidInput, MedBenchError
from medbench.formats.problems import Problem, Problems, Refused
from medbench.formats.results import ReadResults
from medbench.scoring.checks import check_results
from medbench.scoring.rouge import DEFAULT_PROFILE, PROFILES, Profile

if TYPE_CHECKING:
    from argparse import ArgumentParser


class ResultsCommand(BaseCommand):
    """Exit status 0: done; 1: the file or the benchmark is bad, told on stderr; 2: wrong usage."""

    requires_system_checks = ()  # a bundle needs no database and no server
    files: ClassVar[tuple[str, ...]] = ("file",)

    def add_arguments(self, parser: ArgumentParser) -> None:
        for name in self.files:
            parser.add_argument(name, type=Path, help="result file, JSON or JSONL")
        parser.add_argument(
            "--benchmark",
            required=True,
            metavar="NAME_OR_BUNDLE",
            help="name of a benchmark (its newest release), or path of a bundle",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def checked(
        self, file: Path, benchmark: str, *, as_json: bool, profile: Profile = DEFAULT_PROFILE
    ) -> tuple[References, ReadResults]:
        """The benchmark, and what the validator says of a file without problems; else this ends."""
        try:
            references = find_references(benchmark)
            data = _bytes_of(file)
        except Refused as error:
            self.refuse(ReadResults(None, error.problems, error.warnings), error.message, as_json=as_json)
        except MedBenchError as error:
            problems = Problems()
            problems.add(Problem(error.code, error.message))
            self.refuse(ReadResults(None, problems, Problems()), error.message, as_json=as_json)
        answer = check_results(
            data, case_ids=list(references.insights), limits=limits(), profile=profile, file=file.name
        )
        if not answer.ok:
            count = counted(answer.problems.total, "problem")
            self.refuse(answer, f"{file} cannot be scored: {count}.", as_json=as_json)
        return references, answer

    def refuse(self, answer: ReadResults, message: str, *, as_json: bool) -> NoReturn:
        """Print the problems and end with exit status 1."""
        if as_json:
            self.print_json(answer.as_dict())
        else:
            self.tell(answer.problems, "Problem")
        raise CommandError(message)

    def tell(self, found: Problems, kind: str = "Warning") -> None:
        """Print problems or warnings on stderr for people, and how many are not shown."""
        style = self.style.WARNING if kind == "Warning" else self.style.ERROR
        for each in found:
            self.stderr.write(f"{kind}: {each}", style)
        if found.total > len(found.shown):
            self.stderr.write(f"{len(found.shown):,} of {found.total:,} shown.", style)

    def print_json(self, found: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(found, ensure_ascii=False, allow_nan=False))


def add_scoring_arguments(parser: ArgumentParser) -> None:
    """What `score` and `compare` let choose: the words and the seed."""
    parser.add_argument("--profile", choices=PROFILES, default=DEFAULT_PROFILE, help="what a word is")
    parser.add_argument(
        "--seed",
        type=whole_number,
        metavar="N",
        help="of the intervals; by default from the benchmark's version",
    )


def whole_number(text: str) -> int:
    """An argument that counts."""
    if not text.isdecimal():
        raise ArgumentTypeError("a whole number of 0 or more")
    return int(text)


def counted(number: int, noun: str) -> str:
    """1 warning, 1,024 warnings."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _bytes_of(file: Path) -> bytes:
    """The file, or one byte more than is allowed: the validator refuses it then."""
    try:
        with file.open("rb") as opened:
            return opened.read(limits().file_bytes + 1)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}.", code="file_missing") from error
