"""What the benchmarks share: a clock, the form of a result, and text of MedInsightBench's size."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

CASES, TRIPLETS = 332, 3_933  # the size of MedInsightBench
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
