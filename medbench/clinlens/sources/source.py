"""One source of tables and files: MIMIC-IV and its sisters, the open demo, or synthetic data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import duckdb

from medbench.clinlens.sources import damage
from medbench.clinlens.sources.database import connect
from medbench.clinlens.sources.tables import COLUMNS, DEMO_TABLES, RENAMED, file_name
from medbench.errors import InvalidInput
from medbench.formats.problems import Findings, Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

KINDS = ("mimic_full", "mimic_demo", "synthetic")
SOURCE_FILE = "source.json"
CACHE_FOLDER = "prepared"
# The first is the release of the paper, and the one that is built from unless the source says otherwise.
RELEASES = {
    "mimic-iv": ("3.1",),
    "note": ("2.1", "2.2"),
    "ecg": ("1.0",),
    "cxr": ("2.1.0", "2.1"),
    "echo": ("1.0",),
}
DEMO_RELEASE = "2.2"
# Where PhysioNet's own downloads put a resource, beside hosp/, icu/, note/, ecg/, cxr/, echo/ themselves.
PHYSIONET = {
    "hosp": "mimiciv/*/hosp",
    "icu": "mimiciv/*/icu",
    "note": "mimic-iv-note/*/note",
    "ecg": "mimic-iv-ecg/*",
    "cxr": "mimic-cxr-jpg/*",
    "echo": "mimic-iv-echo/*",
}


@dataclass(frozen=True)
class Source:
    """The tables under `root`; `relation` reads them with their declared types.

    `cache` holds the tables as Parquet, by the size, time and SHA-256 of what they were made from.
    """

    root: Path
    kind: str
    releases: dict[str, str]
    cache: Path | None = None
    _hashes: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def paths(self) -> dict[str, Path]:
        """The file of every table that is there."""
        found = {table: self._find(table) for table in COLUMNS}
        return {table: path for table, path in found.items() if path}

    def _find(self, table: str) -> Path | None:
        module, name = file_name(table).split("/")
        folders = [self.root / module, *sorted(self.root.glob(PHYSIONET[module]))]
        for folder in folders:
            for ending in (".csv", ".csv.gz"):
                if (folder / f"{name}{ending}").is_file():
                    return folder / f"{name}{ending}"
        return None

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the sorted "sha256  table" lines of all tables."""
        lines = sorted(f"{self.sha256(table)}  {table}\n" for table in self.paths)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def sha256(self, table: str) -> str:
        if table not in self._hashes:
            with self.paths[table].open("rb") as file:
                self._hashes[table] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._hashes[table]

    def header(self, table: str) -> list[str]:
        return damage.read_header(self.paths[table])

    def columns(self, table: str) -> dict[str, str]:
        """The columns of a table as its file has them; raises Refused for an unknown header."""
        expected, header = COLUMNS[table], self.header(table)
        renamed = RENAMED.get(table, {})
        if [renamed.get(name, name) for name in header] == list(expected):
            return dict(zip(header, expected.values(), strict=True))
        problem = damage.header_problem(table, self.paths[table], header, list(expected))
        raise _refused(f"Table {table}", [problem])

    def relation(self, table: str) -> str:
        """SQL that reads a table with declared types: from Parquet when prepared, else from its CSV."""
        if table not in self.paths:
            raise InvalidInput(f"This source has no table {table}.", code="missing_table")
        parquet = self._parquet(table)
        if parquet and parquet.is_file():
            return f"read_parquet({_literal(parquet)})"
        return read_csv(self.paths[table], self.columns(table))

    def _parquet(self, table: str) -> Path | None:
        if self.cache is None:
            return None
        state = self.paths[table].stat()
        key = f"{table}|{state.st_size}|{state.st_mtime_ns}|{self.sha256(table)}"
        return (
            self.cache / f"{table.replace('/', '.')}.{hashlib.sha256(key.encode()).hexdigest()[:16]}.parquet"
        )

    def prepare(self, tables: Iterable[str] | None = None, progress: Callable[[str], object] = str) -> None:
        """Convert tables to Parquet sorted by patient, once; what is there already is kept."""
        assert self.cache is not None
        self.cache.mkdir(parents=True, exist_ok=True)
        for table in tables if tables is not None else self.paths:
            target = self._parquet(table)
            assert target is not None
            if not target.is_file():
                self._convert(table, target)
            progress(table)

    def _convert(self, table: str, target: Path) -> None:
        columns = self.columns(table)
        order = "ORDER BY subject_id" if "subject_id" in columns else ""
        half = target.with_suffix(".part")
        with connect() as db:
            try:
                source = read_csv(self.paths[table], columns)
                db.execute(
                    f"COPY (FROM {source} {order}) TO {_literal(half)} (FORMAT parquet, COMPRESSION zstd)"
                )
            except duckdb.Error as error:
                problems = list(self.problems(table))
                if problems:
                    raise _refused(f"Table {table}", problems) from error
                raise InvalidInput(
                    f"Table {table} cannot be read: {error}", code="unreadable_table"
                ) from error
        half.replace(target)

    def problems(self, table: str) -> Iterator[Problem]:
        """Everything wrong with one table: its header, then its values."""
        try:
            columns = self.columns(table)
        except Refused as refused:
            yield from refused.problems
            return
        with connect() as db:
            as_text = read_csv(self.paths[table], dict.fromkeys(columns, "VARCHAR"))
            db.execute(f"CREATE VIEW text AS SELECT row_number() OVER () + 1 AS line, * FROM {as_text}")
            try:
                yield from damage.value_problems(db, table, "text", columns)
            except duckdb.Error as error:
                yield Problem("unreadable_table", str(error).split("\n")[0], file=table)

    def asset(self, kind: str, key: str) -> Path | None:
        """A waveform (without ending), image or clip by the path its table gives, or None."""
        assert kind in ("ecg", "cxr", "echo")
        for folder in (self.root / kind, *sorted(self.root.glob(PHYSIONET[kind]))):
            path = folder / key
            probe = path.with_name(f"{path.name}.hea") if kind == "ecg" else path
            if probe.is_file() and folder.resolve() in probe.resolve().parents:
                return path
        return None

    def describe(self) -> dict[str, Any]:
        """What the source is, as commands print it."""
        return {
            "kind": self.kind,
            "releases": self.releases,
            "tables": sorted(self.paths),
            "missing": sorted(set(DEMO_TABLES if self.kind == "mimic_demo" else COLUMNS) - set(self.paths)),
            "fingerprint": self.fingerprint,
        }


def read_csv(path: Path, columns: dict[str, str]) -> str:
    """SQL for a CSV file with declared types: nothing is guessed, and no row is dropped silently."""
    types = ", ".join(f"{_literal(name)}: {_literal(kind)}" for name, kind in columns.items())
    return (
        f"read_csv({_literal(path)}, columns={{{types}}}, header=true, auto_detect=false, delim=',', "
        "quote='\"', escape='\"', nullstr='', strict_mode=true, max_line_size=20000000)"
    )


def open_source(root: Path, kind: str | None = None, cache: Path | None = None) -> Source:
    """The source under a folder; raises InvalidInput where its kind or a release is not known."""
    if not root.is_dir():
        raise InvalidInput(f"There is no folder {root}.", code="no_source")
    told = _told(root)
    found = kind or told.get("kind") or ("mimic_demo" if (root / "demo_subject_id.csv").is_file() else None)
    if found not in KINDS:
        raise InvalidInput(
            f"What {root} holds is not known. Give --kind {' or '.join(KINDS)}.", code="unknown_kind"
        )
    source = Source(root, found, _releases(root, found, told), cache or root / CACHE_FOLDER)
    if not source.paths:
        raise InvalidInput(
            f"No table of MIMIC-IV lies in {root}: expected hosp/*.csv.gz, icu/*.csv.gz.", code="no_tables"
        )
    return source


def _told(root: Path) -> dict[str, Any]:
    path = root / SOURCE_FILE
    return json.loads(path.read_text()) if path.is_file() else {}


def _releases(root: Path, kind: str, told: dict[str, Any]) -> dict[str, str]:
    if kind == "mimic_demo":
        return {"mimic-iv-demo": DEMO_RELEASE}
    if kind == "synthetic":
        return dict(told.get("releases") or {"synthetic": "unknown"})
    return {name: _release(root, name, told) for name in RELEASES if _has(root, name)}


def _has(root: Path, resource: str) -> bool:
    module = "hosp" if resource == "mimic-iv" else resource
    return (root / module).is_dir() or any(root.glob(PHYSIONET[module]))


def _release(root: Path, resource: str, told: dict[str, Any]) -> str:
    """The release of a resource: from source.json, else from the folder names of a PhysioNet download."""
    module = "hosp" if resource == "mimic-iv" else resource
    depth = 0 if module in ("ecg", "cxr", "echo") else 1
    by_folder = [path.parts[-1 - depth] for path in sorted(root.glob(PHYSIONET[module]))]
    release = told.get("releases", {}).get(resource) or (by_folder[0] if by_folder else None)
    known = RELEASES[resource]
    if release is None:
        raise InvalidInput(
            f"The release of {resource} is not stated. Write it into {root / SOURCE_FILE}: "
            f'{{"kind": "mimic_full", "releases": {{"{resource}": "{known[0]}"}}}}.',
            code="unknown_release",
        )
    if release not in known:
        raise InvalidInput(
            f"Release {release} of {resource} is not known, only {' and '.join(known)}.",
            code="unknown_release",
        )
    return str(release)


def _refused(what: str, problems: Iterable[Problem]) -> Refused:
    findings = Findings()
    for problem in problems:
        findings.problems.add(problem)
    return Refused(what, findings)


def _literal(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"
