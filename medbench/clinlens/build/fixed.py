"""The fixed suite of 126 tasks: 37, 31, 22 and 36 of the four scopes, as even as can be over templates."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from medbench.clinlens import layout
from medbench.clinlens.canonical import canonical_json, write_checksums
from medbench.clinlens.layout import CAPABILITIES
from medbench.clinlens.manifest import read_manifest
from medbench.clinlens.suite import Suite, write_suite
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

# Instances of PRF, ASC, CHG, PRD, PHN in each scope.
SIZES = {"WHP": (8, 8, 7, 7, 7), "ADM": (7, 6, 6, 6, 6), "ICU": (5, 5, 4, 4, 4), "EVT": (8, 7, 7, 7, 7)}
SALT = "clinlens fixed 126"  # frozen with the list that follows from it


def fixed_tasks() -> tuple[str, ...]:
    """The task ids, frozen: of ten instances those first by SHA-256 of salt and id."""
    found = []
    for scope, sizes in SIZES.items():
        for capability, size in zip(CAPABILITIES, sizes, strict=True):
            ids = [f"{scope}-{capability}-{number:03d}" for number in range(1, 11)]
            found += sorted(ids, key=lambda each: hashlib.sha256(f"{SALT}|{each}".encode()).hexdigest())[
                :size
            ]
    return tuple(sorted(found))


def derive_fixed(public: Path, private: Path, whole: str, name: str) -> Suite:
    """The fixed suite from a whole one: the same tasks under another suite's name. Files are shared."""
    missing = [task for task in fixed_tasks() if not (public / whole / task / layout.MANIFEST).is_file()]
    if missing:
        raise InvalidInput(f"{whole} has no {missing[0]}: build all 200 tasks first.", code="missing_task")
    for root in (public, private):
        shutil.rmtree(root / name, ignore_errors=True)
    for task in fixed_tasks():
        shutil.copytree(private / whole / task, private / name / task, copy_function=os.link)
        shutil.copytree(public / whole / task, public / name / task, copy_function=os.link)
        _rename(public / name / task, name)
    (private / name).chmod(0o700)
    return write_suite(public / name, fixed_tasks())


def _rename(task: Path, suite: str) -> None:
    """Write manifest and checksums anew; the files they had are shared with the whole suite."""
    manifest = replace(read_manifest(task / layout.MANIFEST), suite=suite)
    for name in (layout.MANIFEST, layout.CHECKSUMS):
        (task / name).unlink()
    (task / layout.MANIFEST).write_bytes(canonical_json(manifest.as_dict()))
    write_checksums(task)
