"""Writes the public tree of a task: rows of the source, files, question, data card, manifest."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from medbench.clinlens import layout
from medbench.clinlens.build.selecting import select
from medbench.clinlens.canonical import (
    canonical_json,
    file_sha256,
    files_of,
    package_digest,
    private_commitment,
    write_checksums,
)
from medbench.clinlens.manifest import Manifest, PackedFile
from medbench.clinlens.sources.database import connect
from medbench.clinlens.sources.tables import COLUMNS, file_name
from medbench.clinlens.templates.conventions import CONVENTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import duckdb

    from medbench.clinlens.build.selecting import Chosen
    from medbench.clinlens.sources import Source
    from medbench.clinlens.templates.core import Parameters, Template

FILES_MOST = {"ecg": 40, "cxr": 12, "echo": 3}
ASSET_SQL = {
    "ecg": ("ecg/record_list", "path"),
    "cxr": (
        "cxr/metadata",
        "format('files/p{}/p{}/s{}/{}.jpg', left(subject_id::VARCHAR, 2), subject_id, study_id, dicom_id)",
    ),
    "echo": ("echo/record_list", "dicom_filepath"),
}


def write_data(source: Source, template: Template, chosen: Chosen, task: Path) -> dict[str, int]:
    """Write data/ and assets/; the rows of each file by its path."""
    rows = {}
    with connect(threads=1) as db:
        db.execute("CREATE TABLE packed AS SELECT unnest(?) AS subject_id", [chosen.subjects])
        for table, columns in template.tables.items():
            owned = (
                "subject_id IN (SELECT subject_id FROM packed)" if "subject_id" in COLUMNS[table] else "true"
            )
            condition = f"{owned} AND {template.row_condition(table, chosen.parameters)}"
            path = task / layout.DATA / f"{file_name(table)}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            query = select(source, table, columns, condition)
            target = str(path).replace("'", "''")
            row = db.execute(
                f"COPY ({query} ORDER BY ALL) TO '{target}' (FORMAT csv, HEADER true)"
            ).fetchone()
            assert row is not None
            rows[path.relative_to(task).as_posix()] = row[0]
        if template.assets:
            _copy_assets(source, template.assets, db, task)
    return rows


def files_by_patient(source: Source, kind: str) -> dict[str, int]:
    """The paths of files that the source really has, with their patients."""
    table, path = ASSET_SQL[kind]
    with connect(threads=1) as db:
        found = db.execute(
            f"SELECT {path} AS path, subject_id FROM {source.relation(table)} ORDER BY path"
        ).fetchall()
    return {path: subject for path, subject in found if source.asset(kind, path)}


def _copy_assets(source: Source, kind: str, db: duckdb.DuckDBPyConnection, task: Path) -> None:
    packed = {row[0] for row in db.execute("SELECT subject_id FROM packed").fetchall()}
    there = [path for path, subject in files_by_patient(source, kind).items() if subject in packed]
    folder = task / layout.ASSETS / kind
    folder.mkdir(parents=True)
    for path in there[: FILES_MOST[kind]]:
        found = source.asset(kind, path)
        assert found is not None
        for each in _parts(kind, found):
            shutil.copyfile(each, folder / each.name)


def _parts(kind: str, path: Path) -> Iterator[Path]:
    """An ECG is a header and a signal file; others are one file."""
    if kind != "ecg":
        yield path
        return
    for ending in (".hea", ".dat"):
        yield path.with_name(f"{path.name}{ending}")


def write_texts(template: Template, parameters: Parameters, task: Path) -> None:
    """Write question.md and DATA_CARD.md."""
    (task / layout.QUESTION).write_text(template.question(parameters), newline="\n")
    (task / layout.DATA_CARD).write_text(data_card(template), newline="\n")


def data_card(template: Template) -> str:
    """The tables of a package and the conventions that hold in it."""
    lines = [
        "# Data card",
        "",
        "Rows and columns were selected from the source; nothing else was done to them.",
        "",
    ]
    for table, columns in template.tables.items():
        lines += [f"## `data/{file_name(table)}.csv`", ""]
        lines += [f"- `{name}` ({COLUMNS[table][name].lower()})" for name in columns] + [""]
    if template.assets:
        lines += [f"## `assets/{template.assets}/`", "", "Files of some studies, named by their ids.", ""]
    lines += ["## Conventions", "", *(f"- {name}: {CONVENTIONS[name]}" for name in template.conventions)]
    return "\n".join(lines) + "\n"


def draft_manifest(
    template: Template,
    parameters: Parameters,
    source: Source,
    rows: dict[str, int],
    *,
    task: Path,
    suite: str,
) -> Manifest:
    """The manifest of a task whose data and texts are written, still without its commitment."""
    names = [name for name in files_of(task) if name.startswith((f"{layout.DATA}/", f"{layout.ASSETS}/"))]
    files = [
        PackedFile(name, (task / name).stat().st_size, file_sha256(task / name), rows.get(name))
        for name in names
    ]
    return Manifest(
        task.name,
        suite,
        template.id,
        template.version,
        source.kind,
        ", ".join(f"{name} {release}" for name, release in sorted(source.releases.items())),
        template.modalities,
        template.conventions,
        template.answer(parameters),
        template.artifacts,
        tuple(files),
        package_digest(task),
        "0" * 64,
    )


def write_manifest(manifest: Manifest, task: Path, private: Path) -> None:
    """Write manifest.json with the commitment to the private tree, and the checksums, last of all."""
    found = replace(manifest, private_commitment=private_commitment(private))
    (task / layout.MANIFEST).write_bytes(canonical_json(found.as_dict()))
    write_checksums(task)


def too_large(template: Template, rows: dict[str, int], task: Path) -> str:
    """Why a package breaks its bounds, "" for one that keeps them."""
    most_rows, most_text, most_assets = 300_000, 40_000_000, 60_000_000
    sizes = {name: (task / name).stat().st_size for name in files_of(task)}
    text = sum(size for name, size in sizes.items() if name.startswith(layout.DATA))
    assets = sum(size for name, size in sizes.items() if name.startswith(layout.ASSETS))
    if max(rows.values()) > most_rows or text > most_text or assets > most_assets:
        return f"the package of {template.id} is larger than its bounds"
    return ""
