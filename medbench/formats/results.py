"""Result files: what a method found, in JSON or JSONL, checked against the cases of a benchmark.

JSON: one object. JSONL: the header object on the first line, then one case a line. A byte order
mark and CRLF line ends are accepted. The contract of the format is in `SCHEMA` and `Limits`.
"""

from __future__ import annotations

import difflib
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from medbench.formats.fields import Fields, kind_of
from medbench.formats.json_text import BLANK, BOM, Unreadable, decode, load, numbered_lines, set_lines
from medbench.formats.problems import SHOWN, Findings, Place, Problems

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

T = TypeVar("T")
SCHEMA = "medbench.results/1"
NAME_LONGEST = 200  # characters of method and backbone
URL_LONGEST = 500
DESCRIPTION_LONGEST = 10_000
CASE_ID_COMPARED = 200  # characters: a longer id is not a misspelt one
_WEB_ADDRESS = re.compile(r"https?://[^\s/]+(/\S*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a result file may hold."""

    file_bytes: int = 20_000_000
    insight_characters: int = 1_000
    insights_per_case: int = 40


@dataclass(frozen=True, slots=True)
class Output:
    """One generated insight, raw as uploaded."""

    insight: str
    question: str = ""
    evidence: str = ""
    novel_rationale: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a case cost, as the submitter reports it; None = not reported."""

    api_calls: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class CaseResult:
    case_id: str
    outputs: tuple[Output, ...]
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Results:
    """A result file that passed every check. Each case is one of the benchmark and named once."""

    method: str
    backbone: str
    description: str
    url: str
    cases: tuple[CaseResult, ...]

    def insights(self) -> dict[str, list[str]]:
        """The raw insights of every case in the file, by case id."""
        return {case.case_id: [output.insight for output in case.outputs] for case in self.cases}


@dataclass(frozen=True, slots=True)
class ReadResults:
    """The answer to a result file: `results` is None exactly where there are problems."""

    results: Results | None
    problems: Problems
    warnings: Problems

    @property
    def ok(self) -> bool:
        return self.results is not None

    def as_dict(self) -> dict[str, Any]:
        """The answer as the command and the API write it; the totals count what is not shown too."""
        return {
            "ok": self.ok,
            "n_problems": self.problems.total,
            "n_warnings": self.warnings.total,
            "problems": self.problems.as_dicts(),
            "warnings": self.warnings.as_dicts(),
        }


def read_results(
    data: bytes,
    *,
    case_ids: Collection[str],
    left_out: Collection[str] = (),
    limits: Limits | None = None,
    file: str = "",
    keep: int = SHOWN,
    also: Callable[[CaseResult, Findings, Place], None] | None = None,
) -> ReadResults:
    """Read and check a result file against the benchmark's `case_ids`; never raises on bad data.

    Cases of `left_out` belong to the benchmark but are not scored here (`other_split`): a warning,
    or a problem where the file holds no others.
    Of problems and of warnings `keep` are kept, all are counted. `also` looks at each sound case in
    turn and may add findings; use `scoring.checks.check_results`, which warns of blank and
    repeated insights so.
    """
    findings = Findings(file, keep)
    try:
        results = _Reader(case_ids, left_out, limits or Limits(), findings, also).read(data)
    except Unreadable:
        results = None
    return ReadResults(None if findings.problems else results, findings.problems, findings.warnings)


class _Reader:
    """One reading of one file."""

    def __init__(
        self,
        case_ids: Collection[str],
        left_out: Collection[str],
        limits: Limits,
        findings: Findings,
        also: Callable[[CaseResult, Findings, Place], None] | None,
    ) -> None:
        self.case_ids = dict.fromkeys(case_ids)
        self.left_out = frozenset(left_out)
        self.limits = limits
        self.findings = findings
        self.also = also
        self.seen: set[str] = set()

    def read(self, data: bytes) -> Results | None:
        if len(data) > self.limits.file_bytes:
            message = f"The file has {len(data):,} bytes, limit {self.limits.file_bytes:,}."
            self.findings.problem("too_large", message)
            return None
        if data.startswith(b"PK\x03\x04"):
            self.findings.problem("bad_json", "This is a zip archive. Give the JSON or JSONL file in it.")
            return None
        text = decode(data, self.findings).removeprefix(BOM)
        return self._read_jsonl(text) if _is_jsonl(text) else self._read_json(text)

    def _read_json(self, text: str) -> Results | None:
        document = load(text, self.findings)
        if not isinstance(document, dict):
            self.findings.problem("wrong_schema", f"The file must be one object with “schema”: “{SCHEMA}”.")
            return None
        fields = Fields(document, self.findings)
        rows = fields.rows("cases")
        header = self._header(fields)
        cases = [self._case(row, ("cases", i)) for i, row in enumerate(self._bounded(rows))]
        set_lines(self.findings, text)
        return self._finish(header, cases)

    def _read_jsonl(self, text: str) -> Results:
        findings = self.findings
        lines = numbered_lines(text)
        findings.line, first = next(lines)
        header = self._header(Fields(load(first, findings), findings))
        cases = []
        for i, (findings.line, line) in enumerate(self._bounded(lines)):
            with suppress(Unreadable):
                cases.append(self._case(load(line, findings), ("cases", i)))
        findings.line = None
        return self._finish(header, cases)

    def _header(self, fields: Fields) -> dict[str, str]:
        fields.schema(SCHEMA)
        header = {
            "method": fields.text("method", longest=NAME_LONGEST),
            "backbone": fields.text("backbone", required=False, longest=NAME_LONGEST),
            "description": fields.text("description", required=False, longest=DESCRIPTION_LONGEST),
            "url": fields.text("url", required=False, longest=URL_LONGEST),
        }
        if header["url"] and not _WEB_ADDRESS.fullmatch(header["url"]):
            fields.wrong("bad_value", "It must be a web address: https://…", "url")
        fields.finish()
        return header

    def _bounded(self, rows: Iterable[T]) -> Iterator[T]:
        """The rows, until there are so many that most must be wrong."""
        most = 2 * (len(self.case_ids) + len(self.left_out)) + SHOWN
        for i, row in enumerate(rows):
            if i == most:
                message = f"More than {most:,} cases; the benchmark has {len(self.case_ids):,}."
                self.findings.problem("too_many_cases", message, ("cases", i))
                return
            yield row

    def _case(self, row: Any, place: Place) -> CaseResult | None:
        findings = self.findings
        if not isinstance(row, dict):
            findings.problem("wrong_type", f"A case must be an object, not {kind_of(row)}.", place)
            return None
        so_far = findings.problems.total
        fields = Fields(row, findings, place)
        findings.case_id = case_id = fields.text("case_id")
        if case_id:
            self._check_case_id(case_id, fields)
        case = CaseResult(case_id, self._outputs(fields, place), self._usage(fields))
        fields.finish()
        if self.also and findings.problems.total == so_far:
            self.also(case, findings, place)
        findings.case_id = ""
        return case

    def _check_case_id(self, case_id: str, fields: Fields) -> None:
        if case_id in self.seen:
            fields.wrong("duplicate_case", "The case stands in the file already. Keep one.", "case_id")
        elif case_id not in self.case_ids and case_id not in self.left_out:
            near: list[str] = []
            if not self.findings.problems.full and len(case_id) <= CASE_ID_COMPARED:
                near = difflib.get_close_matches(case_id, self.case_ids, n=1)
            hint = f" Nearest: {near[0]}." if near else ""
            fields.wrong("unknown_case", f"Not a case of this benchmark.{hint}", "case_id")
        self.seen.add(case_id)

    def _outputs(self, fields: Fields, place: Place) -> tuple[Output, ...]:
        rows = fields.rows("insights")
        limit = self.limits.insights_per_case
        if len(rows) > limit:
            fields.wrong("too_many_insights", f"{len(rows):,} insights, limit {limit:,}.", "insights")
        elif not rows and fields.has("insights"):
            message = "The list of insights is empty: the case scores 0."
            self.findings.warning("empty_case", message, (*place, "insights"))
        inside = (*place, "insights")
        return tuple(self._output(row, inside, i) for i, row in enumerate(rows[:limit]))

    def _output(self, row: Any, inside: Place, i: int) -> Output:
        if isinstance(row, str):
            return Output(self._insight(Fields({i: row}, self.findings, inside), i))
        if not isinstance(row, dict):
            message = f"An insight must be a text or an object, not {kind_of(row)}."
            self.findings.problem("wrong_type", message, (*inside, i))
            return Output("")
        fields = Fields(row, self.findings, (*inside, i))
        output = Output(
            self._insight(fields, "insight"),
            *(fields.text(name, required=False) for name in ("question", "evidence", "novel_rationale")),
        )
        fields.finish()
        return output

    def _insight(self, fields: Fields, name: str | int) -> str:
        longest = self.limits.insight_characters
        return fields.text(name, blank=True, longest=longest, too_long="insight_too_long")

    def _usage(self, fields: Fields) -> Usage:
        inner = fields.inner("usage", required=False)
        if inner is None:
            return Usage()
        usage = Usage(
            *(inner.number(name) for name in ("api_calls", "input_tokens", "output_tokens", "seconds"))
        )
        inner.finish()
        return usage

    def _finish(self, header: dict[str, str], cases: list[CaseResult | None]) -> Results:
        self._say_left_out()
        for case_id in self.case_ids:
            if case_id not in self.seen:
                self.findings.case_id = case_id
                self.findings.warning("missing_case", "The file does not have this case: it scores 0.")
        self.findings.case_id = ""
        return Results(
            **header, cases=tuple(case for case in cases if case and case.case_id not in self.left_out)
        )

    def _say_left_out(self) -> None:
        n_left_out = len(self.seen & self.left_out)
        if n_left_out and n_left_out == len(self.seen):
            message = (
                "None of its cases is in the split that is scored here. Choose the board of the other split."
            )
            self.findings.problem("other_split", message)
        elif n_left_out:
            words = "1 case is" if n_left_out == 1 else f"{n_left_out:,} cases are"
            self.findings.warning(
                "other_split", f"{words} not in the split that is scored here and left out."
            )


def _is_jsonl(text: str) -> bool:
    """Whether the first line is a whole object without cases, and more lines follow."""
    first, _, rest = text.strip(BLANK).partition("\n")
    if not rest:
        return False
    try:
        header = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and "cases" not in header
