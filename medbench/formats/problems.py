"""What is wrong with a file, precisely enough to mend it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from medbench.errors import InvalidInput
from medbench.formats.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHOWN = 100  # a list of problems shows so many; all are counted
NAME_SHOWN = 120  # characters of a name from a hostile file
MESSAGE_SHOWN = 600

Place = tuple[str | int, ...]  # the steps from the top of a JSON document to a value


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to mend: a stable `code`, where it is, and what to do. `line` counts from 1."""

    code: str
    message: str
    file: str = ""
    line: int | None = None
    case_id: str = ""
    field: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The problem as files, commands and the API write it."""
        return asdict(self)

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        parts = (self.file, line, self.case_id, self.field, f"{self.code}: {self.message}")
        return " · ".join(part for part in parts if part)


class Problems:
    """Counts all problems and keeps the first `keep` of them."""

    def __init__(self, keep: int = SHOWN) -> None:
        self.keep = keep
        self.shown: list[Problem] = []
        self.counts: Counter[str] = Counter()  # by code
        self._places: list[Place] = []

    def add(self, problem: Problem, at: Place = ()) -> None:
        self.counts[problem.code] += 1
        if not self.full:
            self.shown.append(problem)
            self._places.append(at)

    @property
    def full(self) -> bool:
        """Whether the next problem will be counted only."""
        return len(self.shown) >= self.keep

    @property
    def total(self) -> int:
        return self.counts.total()

    def places(self, file: str) -> set[Place]:
        """Where in the JSON document `file` the problems without a line are."""
        return {
            place
            for problem, place in zip(self.shown, self._places, strict=True)
            if problem.line is None and problem.file == file
        }

    def set_lines(self, file: str, lines: Mapping[Place, int]) -> None:
        """Write into the problems of `file` the lines that were found for their places."""
        for i, (problem, place) in enumerate(zip(self.shown, self._places, strict=True)):
            if problem.line is None and problem.file == file and place in lines:
                self.shown[i] = replace(problem, line=lines[place])

    def as_dicts(self) -> list[dict[str, Any]]:
        return [problem.as_dict() for problem in self.shown]

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.shown)

    def __bool__(self) -> bool:
        return bool(self.counts)


class Findings:
    """The problems (which refuse a file) and warnings of one reading, and where the reader stands.

    The reader sets `file`, `line` and `case_id` as it goes; `line` None means: found afterwards
    from the place in the JSON document.
    """

    def __init__(self, file: str = "", keep: int = SHOWN) -> None:
        self.problems = Problems(keep)
        self.warnings = Problems(keep)
        self.file = file
        self.line: int | None = None
        self.case_id = ""
        self._said: set[Place] = set()

    def problem(self, code: str, message: str, place: Place = (), at: Place | None = None) -> None:
        """Note a problem. `at` is the place whose line is told, where `place` is not in the file."""
        self._add(self.problems, code, message, place, place if at is None else at)

    def warning(self, code: str, message: str, place: Place = ()) -> None:
        self._add(self.warnings, code, message, place, place)

    def warn_of_unknown(self, place: Place) -> None:
        """Warn of a field that is not read, once for all list entries that have it."""
        kind = tuple(step if isinstance(step, str) else 0 for step in place)
        if kind not in self._said:
            self._said.add(kind)
            self.warning("unknown_field", f"“{place[-1]}” is not a field of this format: ignored.", place)

    def _add(self, to: Problems, code: str, message: str, place: Place, at: Place) -> None:
        if to.full:  # a hostile file may have millions
            to.counts[code] += 1
            return
        case_id, field = printable(self.case_id, NAME_SHOWN), printable(field_name(place), NAME_SHOWN)
        message = printable(message, MESSAGE_SHOWN)
        to.add(Problem(code, message, self.file, self.line, case_id, field), at)


class Refused(InvalidInput):
    """A file that cannot be accepted. `findings` says why; nothing was changed."""

    code = "refused"

    def __init__(self, what: str, findings: Findings) -> None:
        total = findings.problems.total
        count = "1 problem" if total == 1 else f"{total:,} problems"
        super().__init__(f"{what} was refused: {count}. First: {findings.problems.shown[0]}")
        self.findings = findings
        self.problems = findings.problems
        self.warnings = findings.warnings


def field_name(place: Place) -> str:
    """A place as people write it: ("cases", 4, "insights", 3, "insight") is insights[3].insight.

    The step into a list of cases is left out: the problem names its case by id and line.
    """
    if len(place) > 2 and place[0] == "cases":
        place = place[2:]
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")
