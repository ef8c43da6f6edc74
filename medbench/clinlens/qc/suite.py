"""Quality control of a whole suite: every task again, and what only many tasks together can show."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from medbench.clinlens import layout
from medbench.clinlens.canonical import canonical_json
from medbench.clinlens.manifest import NumericAnswer, read_manifest
from medbench.clinlens.private import read_private
from medbench.clinlens.qc.task import check_task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

FEWEST_DISTINCT = 7  # numeric answers of ten instances
WHOLE = 10


def check_suite(
    public: Path,
    private: Path,
    task_ids: Iterable[str],
    *,
    twice: bool = False,
    progress: Callable[[Iterable[str]], Iterable[str]] = iter,
) -> dict[str, Any]:
    """The record of a suite: failed checks by task, files read, answers by template.

    `twice` does everything a second time and compares.
    """
    records = []
    for task_id in progress(sorted(task_ids)):
        record = check_task(public / task_id, private / task_id)
        if twice:
            same = check_task(public / task_id, private / task_id) == record
            record["checks"].append(
                {"name": "twice", "ok": same, "detail": "" if same else "two runs differ"}
            )
        (private / task_id / layout.QC).write_bytes(canonical_json(record))
        records.append(record)
    failed = [
        {"task_id": record["task_id"], **check}
        for record in records
        for check in record["checks"]
        if not check["ok"]
    ]
    templates = _templates(public, private, [record["task_id"] for record in records])
    wrong = [f"{name}: {text}" for name, found in templates.items() for text in found["problems"]]
    return {
        "tasks": len(records),
        "checks": sum(len(record["checks"]) for record in records),
        "assets_read": sum(record["assets_read"] for record in records),
        "failed": failed,
        "suite_problems": wrong,
        "templates": templates,
        "ok": not failed and not wrong,
    }


def _templates(public: Path, private: Path, task_ids: list[str]) -> dict[str, dict[str, Any]]:
    by_template: dict[str, list[str]] = defaultdict(list)
    for task_id in task_ids:
        by_template[task_id[:7]].append(task_id)
    return {name: _template(public, private, ids) for name, ids in sorted(by_template.items())}


def _template(public: Path, private: Path, task_ids: list[str]) -> dict[str, Any]:
    """Answers of the instances of one template: are they many, and does a sibling's answer help?"""
    answers = [read_private(private / task_id).answer for task_id in task_ids]
    if not isinstance(read_manifest(public / task_ids[0] / layout.MANIFEST).answer, NumericAnswer):
        counts = Counter(answer.answer for answer in answers)
        uneven = len(answers) == WHOLE and set(counts.values()) != {2}
        return {"answers": dict(counts), "problems": ["labels are not two of each"] if uneven else []}
    numbers = [Decimal(answer.answer) for answer in answers]
    limits = [
        max(each.abs_tol, each.rel_tol * abs(number)) for each, number in zip(answers, numbers, strict=True)
    ]
    pairs = [
        abs(one - other) <= limit
        for at, (one, limit) in enumerate(zip(numbers, limits, strict=True))
        for there, other in enumerate(numbers)
        if there != at
    ]
    distinct = sum(
        not any(abs(number - other) <= limit for other in numbers[:at])
        for at, (number, limit) in enumerate(zip(numbers, limits, strict=True))
    )
    few = len(numbers) == WHOLE and distinct < FEWEST_DISTINCT
    return {
        "distinct": distinct,
        "sibling_share": round(sum(pairs) / len(pairs), 4) if pairs else None,
        "problems": [f"only {distinct} distinct answers"] if few else [],
    }
