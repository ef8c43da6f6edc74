"""How long ClinLens takes to judge: a run of 126 tasks, and the worst of 500 hostile archives."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import result
from node import ROOT

COHORT_ROWS = 600  # the largest cohort that a package may have
LAST_ROW = "10000012,303,2152-03-01 10:00:00,,train,\n"


def results() -> dict[str, dict[str, Any]]:
    """Lines for `make bench`."""
    hostile = _hostile()
    return {
        "clinlens_evaluate_126_tasks": result(_evaluate_seconds(), "s", 60),
        "clinlens_slowest_of_500_hostile_archives": result(hostile["slowest"], "s", 2),
        "clinlens_memory_with_500_hostile_archives": result(hostile["peak_mb"], "MB", 300),
    }


def _evaluate_seconds() -> float:
    """`clinlens evaluate` of a run of the fixed suite's size, cohorts of 600 rows, as a process."""
    sys.path.insert(0, str(ROOT))
    from medbench.clinlens.suite import write_suite
    from tests.clinlens.build import ROWS, right_files, roots_in, task_ids, write_task, write_zip

    more = "".join(LAST_ROW.replace("303", str(number)) for number in range(304, 301 + COHORT_ROWS))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        roots = roots_in(folder)
        for task_id in task_ids():
            write_task(roots, task_id, rows=ROWS + more)
        suite = write_suite(roots.public, task_ids())
        run = write_zip(folder / "run.zip", right_files(suite, rows=ROWS + more))
        command = [
            sys.executable,
            "-m",
            "medbench.clinlens",
            "evaluate",
            "--suite",
            "mini",
            str(run),
            "--json",
        ]
        command += ["--public", str(folder / "public"), "--private", str(folder / "private")]
        started = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        seconds = time.perf_counter() - started
    overall = json.loads(done.stdout)["overall"]
    if overall["strict_exact"] != "1":
        raise RuntimeError(f"The right run was not judged right: {overall}")
    return seconds


def _hostile() -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.clinlens.hostile", "500"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
