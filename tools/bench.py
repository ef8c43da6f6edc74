"""`make bench`: how fast is what people wait for, as JSON {name: {value, unit, peer, ratio, target, ok}}.

`peer` is the same work by the library that the field uses, measured here and now; `ratio` is how
many times better we are.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import bench_agreement
import bench_clinlens
import bench_render
import bench_scoring
from node import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

CASES, TRIPLETS = 332, 3_933  # the size of MedInsightBench
CATEGORIES = ("descriptive", "diagnostic", "predictive", "prescriptive", "evaluative", "exploratory")
WORDS = "tumour margin node invasion grade stage resection stroma gland necrosis mitosis vessel fat".split()


def seconds(work: Callable[[], object], *, times: int = 5) -> float:
    """The median time of `work`."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def sentence(chance: random.Random, number: int) -> str:
    return f"Finding {number}: {' '.join(chance.choices(WORDS, k=16))}."


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


def rouge_seconds() -> tuple[float, float]:
    """One case of 12 references and 12 outputs: ours, and rouge_score's."""
    from rouge_score.rouge_scorer import RougeScorer

    from medbench.scoring.rouge import pair_matrix

    chance = random.Random(7)
    references, outputs = ([sentence(chance, each) for each in range(12)] for _ in range(2))
    scorer = RougeScorer(["rouge1"], use_stemmer=False)
    theirs = seconds(lambda: [[scorer.score(r, o)["rouge1"].fmeasure for o in outputs] for r in references])
    return seconds(lambda: pair_matrix(references, outputs), times=50), theirs


def result(
    value: float, unit: str, target: float, *, peer: float | None = None
) -> dict[str, float | str | bool | None]:
    """One line of the answer; smaller values are better."""
    return {
        "value": round(value, 4),
        "unit": unit,
        "peer": None if peer is None else round(peer, 4),
        "ratio": None if peer is None else round(peer / value, 1),
        "target": target,
        "ok": value <= target,
    }


def main() -> None:
    sys.path.insert(0, str(ROOT))
    ours, theirs = rouge_seconds()
    results = {
        "import_of_332_cases": result(import_seconds(), "s", 10),
        "rouge1_of_a_case": result(1_000 * ours, "ms", 5, peer=1_000 * theirs),
        **bench_agreement.results(),
        **bench_clinlens.results(),
        **bench_render.results(),
        **bench_scoring.results(),
    }
    print(json.dumps(results, indent=2))
    sys.exit(not all(each["ok"] for each in results.values()))


if __name__ == "__main__":
    main()
