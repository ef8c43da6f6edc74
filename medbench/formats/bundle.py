"""Benchmark bundles: a folder or zip archive with benchmark.json, cases.jsonl, reports/ and slides/.

`read_bundle` takes a bundle whole or refuses it with every problem; `write_bundle` writes the one
canonical form: reading and writing again gives the same bytes.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

from medbench.errors import Conflict, InvalidInput
from medbench.formats.benchmark import (
    CATEGORIES,
    SPLITS,
    BenchmarkInfo,
    Bundle,
    Case,
    ReportText,
    Triplet,
)
from medbench.formats.fields import Fields, kind_of
from medbench.formats.json_text import BOM, Unreadable, decode, load, numbered_lines, set_lines
from medbench.formats.pdf import text_layer
from medbench.formats.problems import SHOWN, Findings, Place, Refused
from medbench.formats.sources import BENCHMARK_FILE, Source, Unfit, check_name, open_source
from medbench.formats.spans import find_span, nearest_passage
from medbench.formats.text import is_blank, is_storable, normalise, shorten

__all__ = (
    "BenchmarkInfo",
    "Bundle",
    "Case",
    "ReportText",
    "Triplet",
    "read_bundle",
    "text_files",
    "write_bundle",
)

SCHEMA = "medbench.benchmark/1"
CASES_FILE = "cases.jsonl"
_SLUG = re.compile(r"[-a-zA-Z0-9_]+")

# The longest that may be stored, in characters.
NAME_LONGEST = 80
TITLE_LONGEST = 200
VERSION_LONGEST = 40
CASE_ID_LONGEST = 120
PROJECT_LONGEST = 120
SITE_LONGEST = 200
TRIPLET_ID_LONGEST = 80
TEXT_LONGEST = 20_000
# The largest files that are read, in bytes.
INFO_BYTES = 1_000_000
CASES_BYTES = 300_000_000
LINE_CHARACTERS = 10_000_000
REPORT_BYTES = 5_000_000
PDF_BYTES = 50_000_000
CASES_MOST = 100_000
PASSAGE_SHOWN = 200


def read_bundle(
    path: Path, *, slides_dir: Path | None = None, unpack_to: Path | None = None, keep: int = SHOWN
) -> Bundle:
    """Read a folder or zip archive whole; raises Refused with up to `keep` of all its problems.

    A slide that is absent is looked up by file name in `slides_dir`. An archive's slides are
    unpacked into `unpack_to` where it is given; else they stay packed and are not at hand. The
    caller keeps that folder as long as it needs the slides.
    """
    findings = Findings(keep=keep)
    try:
        with open_source(path) as source:
            bundle = _Reader(source, findings, slides_dir, unpack_to).read()
    except Unfit as error:
        findings.problem(error.code, error.message)
    if findings.problems:
        raise Refused(shorten(path.name, NAME_LONGEST), findings)
    return bundle


class _Reader:
    """One reading of one bundle."""

    def __init__(
        self, source: Source, findings: Findings, slides_dir: Path | None, unpack_to: Path | None
    ) -> None:
        self.source = source
        self.findings = findings
        self.slides_dir = slides_dir
        self.unpack_to = unpack_to
        self.seen: set[str] = set()  # case ids
        self.reports: dict[str, str] = {}  # text by path
        self.slides: dict[str, Path] = {}

    def read(self) -> Bundle:
        info = self._info()
        cases = self._cases()
        return Bundle(info, tuple(cases), self.slides, self.findings.warnings)

    # --- benchmark.json ---

    def _info(self) -> BenchmarkInfo:
        self.findings.file = BENCHMARK_FILE
        with suppress(Unreadable):
            text = self._text_of(BENCHMARK_FILE, INFO_BYTES).removeprefix(BOM)
            document = load(text, self.findings)
            if isinstance(document, dict):
                info = self._info_of(Fields(document, self.findings))
                set_lines(self.findings, text)
                return info
            self.findings.problem("wrong_schema", f"It must be one object with “schema”: “{SCHEMA}”.")
        return BenchmarkInfo("", "", "")

    def _info_of(self, fields: Fields) -> BenchmarkInfo:
        fields.schema(SCHEMA)
        info = BenchmarkInfo(
            fields.text("name", longest=NAME_LONGEST),
            fields.text("title", longest=TITLE_LONGEST),
            fields.text("version", longest=VERSION_LONGEST),
            *(
                fields.text(name, required=False, longest=TEXT_LONGEST)
                for name in ("description", "licence", "citation")
            ),
        )
        if info.name and not _SLUG.fullmatch(info.name):
            fields.wrong("bad_value", "Only the letters a to z, digits, - and _ are allowed.", "name")
        fields.finish()
        return info

    # --- cases.jsonl ---

    def _cases(self) -> list[Case]:
        findings = self.findings
        cases: list[Case | None] = []
        findings.file = CASES_FILE
        with suppress(Unreadable):
            text = self._text_of(CASES_FILE, CASES_BYTES).removeprefix(BOM)
            for findings.line, line in numbered_lines(text):
                if len(cases) == CASES_MOST:
                    findings.problem("too_large", f"More than {CASES_MOST:,} cases.")
                    break
                cases.append(self._case_of(line))
                findings.case_id = ""
            findings.line = None
            if not cases:
                findings.problem("no_cases", "The benchmark has no cases.")
        return [case for case in cases if case]

    def _case_of(self, line: str) -> Case | None:
        if len(line) > LINE_CHARACTERS:
            self.findings.problem("too_large", f"{len(line):,} characters, limit {LINE_CHARACTERS:,}.")
            return None
        try:
            row = load(line, self.findings)
        except Unreadable:
            return None
        if not isinstance(row, dict):
            self.findings.problem("wrong_type", f"A case must be an object, not {kind_of(row)}.")
            return None
        return self._case(Fields(row, self.findings))

    def _case(self, fields: Fields) -> Case:
        self.findings.case_id = case_id = fields.text("case_id", longest=CASE_ID_LONGEST)
        if case_id in self.seen:
            fields.wrong("duplicate_case", "The case stands in the file already. Keep one.", "case_id")
        elif not case_id.isprintable() or case_id != case_id.strip():
            fields.wrong("bad_character", "It holds a character that cannot be seen.", "case_id")
        self.seen.add(case_id)
        report = self._report(fields)
        case = Case(
            case_id,
            fields.text("project", required=False, longest=PROJECT_LONGEST),
            fields.text("site", required=False, longest=SITE_LONGEST),
            fields.integer("difficulty", 1, 4),
            fields.text("goal", longest=TEXT_LONGEST),
            fields.choice("split", SPLITS, default="open"),
            self._slide(fields),
            report,
            self._triplets(fields, report.text),
        )
        fields.finish()
        return case

    def _slide(self, fields: Fields) -> str | None:
        name = fields.text("slide", required=False)
        if not name:
            return None
        try:
            check_name(name, "slides")
            if name not in self.slides:
                path = self.source.find(name, self.unpack_to)
                if path:
                    self.slides[name] = path
        except Unfit as error:
            if error.code == "file_missing":
                self._find_elsewhere(name)
            else:
                fields.wrong(error.code, error.message, "slide")
        return name

    def _find_elsewhere(self, name: str) -> None:
        path = self.slides_dir / PurePosixPath(name).name if self.slides_dir else None
        if path and path.is_file():
            self.slides[name] = path
        else:
            message = f"There is no {name}. The case is taken in without its slide."
            self.findings.warning("slide_missing", message, ("slide",))

    def _report(self, fields: Fields) -> ReportText:
        inner = fields.inner("report")
        if inner is None:
            return ReportText("")
        if inner.has("text") and inner.has("path"):
            fields.wrong("bad_value", "Give either “path” or “text”.", "report")
        if inner.has("text"):
            report = ReportText(inner.text("text", longest=REPORT_BYTES))
        else:
            report = self._report_file(inner, inner.text("path"))
        inner.finish()
        return report

    def _report_file(self, inner: Fields, path: str) -> ReportText:
        if path and path not in self.reports:
            self.reports[path] = ""  # a bad file is told of once
            try:
                check_name(path, "reports")
                self.reports[path] = self._report_text(path)
            except Unfit as error:
                inner.wrong(error.code, error.message, "path")
        return ReportText(self.reports.get(path, ""), path)

    def _report_text(self, path: str) -> str:
        """The text of a report file; what is wrong inside is told with its own file and line."""
        if path.endswith(".pdf"):
            return text_layer(self.source.read(path, PDF_BYTES))
        if not path.endswith(".txt"):
            raise Unfit("bad_value", "A report is a .txt or .pdf file.")
        data = self.source.read(path, REPORT_BYTES)
        findings, line = self.findings, self.findings.line
        findings.file, findings.line = path, None
        text = ""
        with suppress(Unreadable):
            text = decode(data, findings)
            if is_blank(text):
                findings.problem("missing_field", "The report is blank.")
            elif not is_storable(text):
                findings.line = text.count("\n", 0, text.index("\0")) + 1
                findings.problem("bad_character", "The report holds a NUL character.")
        findings.file, findings.line = CASES_FILE, line
        return text

    def _triplets(self, fields: Fields, report_text: str) -> tuple[Triplet, ...]:
        rows = fields.rows("triplets")
        if not rows and fields.has("triplets"):
            fields.wrong("no_triplets", "A case without reference insights cannot be scored.", "triplets")
        found = [self._triplet(row, ("triplets", i), report_text) for i, row in enumerate(rows)]
        self._warn_of_repeats(found)
        return tuple(triplet for triplet in found if triplet)

    def _triplet(self, row: Any, place: Place, report_text: str) -> Triplet | None:
        if not isinstance(row, dict):
            self.findings.problem("wrong_type", f"A triplet must be an object, not {kind_of(row)}.", place)
            return None
        fields = Fields(row, self.findings, place)
        triplet = Triplet(
            fields.text("id", longest=TRIPLET_ID_LONGEST),
            fields.choice("category", CATEGORIES),
            fields.text("question", longest=TEXT_LONGEST),
            fields.text("insight", longest=TEXT_LONGEST),
            evidence := fields.text("evidence", blank=True, longest=TEXT_LONGEST),
            fields.number_or_text("confidence"),
            span := find_span(report_text, evidence),
        )
        fields.finish()
        if span is None and report_text:
            self._warn_of_unanchored(evidence, report_text, (*place, "evidence"))
        return triplet

    def _warn_of_unanchored(self, evidence: str, report_text: str, place: Place) -> None:
        nearest = None if self.findings.warnings.full else nearest_passage(report_text, evidence)
        passage = shorten(" ".join(nearest.quote.split()), PASSAGE_SHOWN) if nearest else ""
        hint = f" Nearest passage: “{passage}”" if passage else ""
        self.findings.warning("unanchored", f"The evidence is not in the report.{hint}", place)

    def _warn_of_repeats(self, triplets: list[Triplet | None]) -> None:
        ids: set[str] = set()
        insights: dict[str, str] = {}
        for i, triplet in enumerate(triplets):
            if triplet is None:
                continue
            if triplet.id in ids:
                message = f"The case has a triplet “{triplet.id}” already."
                self.findings.problem("duplicate_triplet", message, ("triplets", i, "id"))
            ids.add(triplet.id)
            first = insights.setdefault(normalise(triplet.insight).casefold(), triplet.id)
            if first != triplet.id:
                message = f"The same insight as triplet “{first}”. Both count in recall."
                self.findings.warning("duplicate_insight", message, ("triplets", i, "insight"))

    def _text_of(self, name: str, most: int) -> str:
        try:
            return decode(self.source.read(name, most), self.findings)
        except Unfit as error:
            self.findings.problem(error.code, error.message)
            raise Unreadable from error


def text_files(bundle: Bundle) -> dict[str, bytes]:
    """The canonical form of all but the slides: bytes by name in the bundle."""
    info = json.dumps({"schema": SCHEMA, **asdict(bundle.info)}, ensure_ascii=False, indent=2)
    reports: dict[str, str] = {}
    lines = [json.dumps(_row(case, reports), ensure_ascii=False) for case in bundle.cases]
    texts = {BENCHMARK_FILE: f"{info}\n", CASES_FILE: "".join(f"{line}\n" for line in lines)}
    return {name: text.encode() for name, text in (texts | reports).items()}


def write_bundle(bundle: Bundle, out_dir: Path) -> None:
    """Write the canonical form into a new or empty folder, whole or not at all.

    Raises Conflict where the folder holds something, InvalidInput where it cannot be written.
    """
    try:
        if out_dir.exists() and any(out_dir.iterdir()):
            raise Conflict(f"{out_dir} is not empty. Name a new folder.")
        out_dir.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".bundle-", dir=out_dir.parent) as part:
            folder = Path(part) / "bundle"
            _write(bundle, folder)
            folder.replace(out_dir)
    except (OSError, Unfit) as error:
        raise InvalidInput(f"{out_dir} cannot be written: {error}") from error


def _write(bundle: Bundle, folder: Path) -> None:
    for name, data in text_files(bundle).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for slide in dict.fromkeys(case.slide for case in bundle.cases):
        if slide and slide in bundle.slides:
            check_name(slide, "slides")
            path = folder / slide
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(bundle.slides[slide], path)


def _row(case: Case, reports: dict[str, str]) -> dict[str, Any]:
    """A line of cases.jsonl, without what is at its default. Adds to `reports`, text by name."""
    row: dict[str, Any] = asdict(case) | {
        "report": _report_field(case.report, reports),
        "triplets": [_triplet_row(triplet) for triplet in case.triplets],
    }
    if case.split == "open":
        del row["split"]
    return row


def _triplet_row(triplet: Triplet) -> dict[str, Any]:
    row = asdict(triplet)
    del row["span"]  # found again in the report
    if triplet.confidence is None:
        del row["confidence"]
    return row


def _report_field(report: ReportText, reports: dict[str, str]) -> dict[str, str]:
    """A report by its file; inline where it has none or another text has the same."""
    name = report.path if report.path.endswith(".txt") else f"{report.path}.txt"
    try:
        check_name(name, "reports")
    except Unfit:
        return {"text": report.text}
    if reports.setdefault(name, report.text) != report.text:
        return {"text": report.text}
    return {"path": name}
