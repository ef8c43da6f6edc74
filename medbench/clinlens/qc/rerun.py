"""Runs a stored reference workflow again, in a process and a folder of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from medbench.clinlens import layout

if TYPE_CHECKING:
    from collections.abc import Iterator

CLEAN = {"TZ": "UTC", "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
SECONDS_MOST = 600


def rerun(task: Path, private: Path, *how: str) -> tuple[dict[str, bytes], str]:
    """The artifacts by their file name and the answer; `how` goes to the workflow (threads, shuffle).

    Raises RuntimeError with what the workflow said. The program and its environment are ours alone:
    nothing is inherited.
    """
    with tempfile.TemporaryDirectory(prefix="clinlens-") as folder:
        out = Path(folder) / "out"
        command = [
            sys.executable,
            "-I",
            str((private / layout.WORKFLOW).resolve()),
            str(task.resolve()),
            str(out),
            *how,
        ]
        done = subprocess.run(  # noqa: S603  # our own workflow
            command, cwd=folder, env=CLEAN, capture_output=True, text=True, timeout=SECONDS_MOST, check=False
        )
        if done.returncode:
            raise RuntimeError(
                next((line for line in done.stderr.splitlines() if "Error" in line), "no message")
            )
        return dict(_artifacts(out)), (out / "answer.txt").read_text().strip()


def _artifacts(out: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted((out / "artifacts").iterdir()):
        yield path.name, path.read_bytes()
