"""A whole synthetic source: the files of MIMIC-IV and its sisters, made up, the same bytes each time."""

from __future__ import annotations

import csv
import json
import shutil
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from medbench.clinlens.sources.source import SOURCE_FILE
from medbench.clinlens.sources.tables import COLUMNS, file_name
from medbench.clinlens.synthetic import assets, intensive, labs, studies
from medbench.clinlens.synthetic.chance import Chance
from medbench.clinlens.synthetic.people import Rows, encounter_rows, make_patient
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VERSION = 1  # raise it when the same seed no longer gives the same rows
WITH_FILES = 40  # patients whose studies have files
ASSET_LIMITS = {"ecg": 3, "cxr": 3, "echo": 1}  # of each of these patients
TABLES = (
    "hosp/patients",
    "hosp/admissions",
    "hosp/transfers",
    "hosp/diagnoses_icd",
    "hosp/d_labitems",
    "hosp/labevents",
    "hosp/prescriptions",
    "hosp/emar",
    "icu/icustays",
    "icu/d_items",
    "icu/chartevents",
    "icu/inputevents",
    "icu/outputevents",
    "note/discharge",
    "note/radiology",
    "ecg/record_list",
    "ecg/machine_measurements",
    "cxr/metadata",
    "cxr/chexpert",
    "echo/record_list",
    "echo/study_list",
    "echo/structured_measurement",
)
DEMO_TABLES = tuple(table for table in TABLES if table.startswith(("hosp/", "icu/")))


def synthesise(
    out: Path,
    *,
    patients: int,
    seed: str,
    tables: tuple[str, ...] = TABLES,
    with_files: int = WITH_FILES,
    progress: Callable[[int, int], object] = lambda *_: None,
) -> None:
    """Write a source of so many patients into a new folder. `tables=DEMO_TABLES` gives the demo's layout.

    `with_files` patients have waveforms, images or clips beside the rows of their studies.
    """
    if patients < 1:
        raise InvalidInput("A source has at least one patient.", code="patients")
    if out.exists() and any(out.iterdir()):
        raise InvalidInput(f"{out} is not empty. Name a new folder.", code="not_empty")
    half = out.with_name(f"{out.name}.part")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    rows: Rows = {table: [] for table in TABLES}
    labs.dictionary_rows(rows)
    intensive.item_rows(rows)
    writers = _Writers(half, tables, with_files)
    for number in range(patients):
        _patient(seed, number, rows)
        writers.write(rows)
        progress(number + 1, patients)
    writers.close()
    _write_assets(half, seed, writers.assets, tables)
    told = {"kind": "synthetic", "releases": {"synthetic": f"{VERSION}"}, "seed": seed, "patients": patients}
    (half / SOURCE_FILE).write_text(json.dumps(told, sort_keys=True, indent=1) + "\n")
    if out.exists():
        out.rmdir()
    half.rename(out)


def _patient(seed: str, number: int, rows: Rows) -> None:
    patient = make_patient(seed, number)
    encounter_rows(patient, rows)
    laboratory = labs.lab_rows(patient, rows)
    labs.diagnosis_rows(patient, rows)
    intensive.intensive_rows(patient, rows)
    studies.ecg_rows(patient, rows)
    studies.cxr_rows(patient, rows, laboratory)
    studies.echo_rows(patient, rows)
    studies.discharge_rows(patient, rows)


class _Writers:
    """One open CSV file a table; remembers the studies that get files."""

    def __init__(self, root: Path, tables: tuple[str, ...], with_files: int) -> None:
        self.files, self.writers, self._with_files = [], {}, with_files
        self.assets: dict[str, list[str]] = {"ecg": [], "cxr": [], "echo": []}
        self._patients = dict.fromkeys(self.assets, 0)
        for table in tables:
            path = root / f"{file_name(table)}.csv"
            path.parent.mkdir(exist_ok=True)
            file = path.open("w", newline="", encoding="utf-8")
            self.files.append(file)
            self.writers[table] = csv.writer(file, lineterminator="\n")
            self.writers[table].writerow(COLUMNS[table])

    def write(self, rows: Rows) -> None:
        """Write and forget the rows of a patient, sorted by their first columns as in the originals."""
        for kind, table, path in (
            ("ecg", "ecg/record_list", lambda row: row[4]),
            ("cxr", "cxr/metadata", radiograph_path),
            ("echo", "echo/record_list", lambda row: row[3]),
        ):
            self._choose(kind, [path(row) for row in rows[table]])
        for table, found in rows.items():
            if table in self.writers:
                self.writers[table].writerows([_text(value) for value in row] for row in found)
            found.clear()

    def _choose(self, kind: str, paths: list[str]) -> None:
        if paths and self._patients[kind] < self._with_files:
            self._patients[kind] += 1
            self.assets[kind] += paths[: ASSET_LIMITS[kind]]

    def close(self) -> None:
        for file in self.files:
            file.close()


def radiograph_path(row: tuple[Any, ...]) -> str:
    """Where MIMIC-CXR-JPG keeps the image of a metadata row."""
    dicom, subject, study = row[:3]
    return f"files/p{str(subject)[:2]}/p{subject}/s{study}/{dicom}.jpg"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return f"{value:%Y-%m-%d}" if isinstance(value, date) else str(value)


def _write_assets(root: Path, seed: str, chosen: dict[str, list[str]], tables: tuple[str, ...]) -> None:
    there = [kind for kind in chosen if any(table.startswith(f"{kind}/") for table in tables)]
    for number, (kind, path) in enumerate((each, path) for each in there for path in chosen[each]):
        chance = Chance(seed, f"asset {path}", 0)
        if kind == "ecg":
            assets.write_ecg(root / "ecg" / path, chance)
        elif kind == "cxr":
            assets.write_radiograph(root / "cxr" / path, chance)
        else:
            assets.write_clip(root / "echo" / path, chance, number)
