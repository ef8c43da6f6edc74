"""`make bench-long`: the whole synthetic suite of ClinLens, twice, on two cores.

Prints JSON {name: {value, unit, target, ok, ...}}: seconds of synthesis, of each build of 200 tasks
with quality control, of the judgement of the reference's own outputs on the fixed 126, and whether
both builds are the same bytes. Give a folder to keep what it builds: bench_clinlens_build.py DIR
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from node import ROOT

sys.path.insert(0, str(ROOT))

from medbench.clinlens.build.fixed import derive_fixed
from medbench.clinlens.build.suite import Plan, build_suite
from medbench.clinlens.canonical import checksum_lines
from medbench.clinlens.evaluator.results import Roots, evaluate
from medbench.clinlens.qc.gold import write_gold
from medbench.clinlens.synthetic import synthesise
from medbench.clinlens.templates import TEMPLATES

PATIENTS, SEED, SECRET = 3000, "bench", "5e" * 32
BUILD_SECONDS, EVALUATE_SECONDS = 30 * 60, 60


def build(folder: Path, source: Path, secret: Path) -> tuple[float, str, dict[str, list[str]]]:
    """Seconds, the digest of all bytes of both trees, and what was rejected."""
    plan = Plan(source, None, None, "whole", folder / "public", folder / "private", secret, tuple(TEMPLATES))
    started = time.perf_counter()
    _, rejected = build_suite(
        plan, lambda done, total: print(f"\r{done} of {total} ", end="", file=sys.stderr)
    )
    seconds = time.perf_counter() - started
    lines = "".join(checksum_lines(folder / each / "whole") for each in ("public", "private"))
    return seconds, hashlib.sha256(lines.encode()).hexdigest(), rejected


def results(folder: Path) -> dict[str, dict[str, Any]]:
    source, secret = folder / "source", folder / "secret"
    secret.write_text(f"{SECRET}\n")
    started = time.perf_counter()
    synthesise(source, patients=PATIENTS, seed=SEED)
    synthesis = time.perf_counter() - started
    first, digest, rejected = build(folder / "first", source, secret)
    second, again, _ = build(folder / "second", source, secret)
    suite = derive_fixed(folder / "first/public", folder / "first/private", "whole", "fixed126")
    roots = Roots(folder / "first/public/fixed126", folder / "first/private/fixed126")
    write_gold(suite, roots.private, folder / "gold")
    started = time.perf_counter()
    found = evaluate(suite, roots, folder / "gold")
    judging = time.perf_counter() - started
    passed = sum(task["strict_pass"] for task in found["tasks"])
    return {
        "clinlens_synthesis": entry(synthesis, "s", patients=PATIENTS),
        "clinlens_build_200": entry(
            first, "s", BUILD_SECONDS, digest=digest, rejected=sum(map(len, rejected.values()))
        ),
        "clinlens_build_200_again": entry(second, "s", BUILD_SECONDS, digest=again, same=digest == again),
        "clinlens_evaluate_126": entry(judging, "s", EVALUATE_SECONDS, passed=passed, tasks=len(suite.tasks)),
        "conditions": {"cores": os.cpu_count(), "machine": platform.machine(), "load": os.getloadavg()[0]},
    }


def entry(value: float, unit: str, target: float | None = None, **more: Any) -> dict[str, Any]:
    ok = (target is None or value <= target) and more.get("same", True)
    ok = ok and more.get("passed", 0) == more.get("tasks", 0)
    return {"value": round(value, 1), "unit": unit, "target": target, "ok": ok, **more}


def main() -> int:
    keep = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    if keep:
        keep.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="clinlens-bench-") as folder:
        found = results(keep or Path(folder))
    print(json.dumps(found, indent=1))
    return 0 if all(each.get("ok", True) for each in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
