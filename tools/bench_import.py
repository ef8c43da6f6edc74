"""How long a whole import of MedInsightBench's size takes."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import CASES, TRIPLETS, result, seconds, sentence
from node import ROOT

CATEGORIES = ("descriptive", "diagnostic", "predictive", "prescriptive", "evaluative", "exploratory")


def results() -> dict[str, dict[str, object]]:
    return {"import_of_332_cases": result(import_seconds(), "s", 10)}


def write_bundle(folder: Path) -> None:
    """A bundle of MedInsightBench's size without slides."""
    chance = random.Random(7)
    share = [TRIPLETS // CASES + (number < TRIPLETS % CASES) for number in range(CASES)]
    info = {"schema": "medbench.benchmark/1", "name": "bench", "title": "Bench", "version": "1"}
    rest = {"description": "", "licence": "CC0-1.0", "citation": ""}
    (folder / "benchmark.json").write_text(json.dumps(info | rest))
    with (folder / "cases.jsonl").open("w") as lines:
        for number, n_triplets in enumerate(share):
            lines.write(json.dumps(case(chance, number, n_triplets)) + "\n")


def case(chance: random.Random, number: int, n_triplets: int) -> dict[str, object]:
    findings = [sentence(chance, each) for each in range(n_triplets)]
    triplets = [
        {
            "id": str(each),
            "category": CATEGORIES[each % 6],
            "question": f"What does finding {each} say?",
            "insight": sentence(chance, each),
            "evidence": finding,
        }
        for each, finding in enumerate(findings)
    ]
    return {
        "case_id": f"BENCH-{number:03}",
        "project": "Bench",
        "site": "Colon",
        "difficulty": 1 + number % 4,
        "goal": "Characterise the tumour.",
        "split": "open",
        "slide": None,
        "report": {"text": "\n".join(findings)},
        "triplets": triplets,
    }


def import_seconds() -> float:
    """A whole `import_benchmark`, from starting Python to the frozen release, into an empty SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        (bundle := Path(folder) / "bundle").mkdir()
        write_bundle(bundle)
        environment = os.environ | {
            "MEDBENCH_VAR_DIR": folder,
            "DATABASE_URL": f"sqlite:///{folder}/bench.sqlite3",
        }

        def manage(*arguments: str) -> None:
            command = [sys.executable, "manage.py", *arguments]
            subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)

        manage("migrate", "--verbosity", "0")
        return seconds(lambda: manage("import_benchmark", str(bundle)), times=1)
