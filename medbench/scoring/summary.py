"""A whole result file scored in one go: what `score` prints."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from medbench.scoring.intervals import RESAMPLES, bootstrap, resample_counts
from medbench.scoring.matching import CaseScore, aggregate, assigned_f1, score_case
from medbench.scoring.novelty import lexical_novelty
from medbench.scoring.redundancy import MEASURES
from medbench.scoring.text import normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from medbench.scoring.rouge import Profile


def score_cases(
    references: Iterable[tuple[str, Sequence[str]]], outputs: Mapping[str, Sequence[str]], profile: Profile
) -> dict[str, CaseScore]:
    """Score every case of `references` (case id, insights) by its raw outputs; absent ones with 0."""
    return {case_id: score_case(texts, outputs.get(case_id), profile) for case_id, texts in references}


def summary(
    scores: Mapping[str, CaseScore], outputs: Mapping[str, Sequence[str]], profile: Profile, seed: int
) -> dict[str, Any]:
    """Totals, intervals, novelty, redundancy and cases, ready for JSON.

    What is undefined is None, with its reason beside it. Raises InvalidInput without cases.
    """
    cases = list(scores.values())
    return {
        "profile": profile,
        "seed": seed,
        **asdict(aggregate(cases)),
        "assigned_f1": assigned_f1([case.matrix for case in cases]),
        "ci": _intervals(cases, seed),
        "novelty": lexical_novelty([case.matrix for case in cases])._asdict(),
        "redundancy": _redundancy(scores, outputs),
        "cases": [
            {
                "case_id": case_id,
                "n_gt": case.n_references,
                "n_pred": case.n_outputs,
                "recall": case.recall,
                "precision": case.precision,
                "f1": case.f1,
            }
            for case_id, case in scores.items()
        ],
    }


def run_of(scores: Mapping[str, CaseScore]) -> list[tuple[float, float]]:
    """(recall, precision) of every case: what `testing` compares."""
    return [(case.recall, case.precision) for case in scores.values()]


def _intervals(cases: Sequence[CaseScore], seed: int) -> dict[str, Any]:
    counts = resample_counts(len(cases), seed=seed, resamples=RESAMPLES)
    found = bootstrap([case.recall for case in cases], [case.precision for case in cases], counts)
    return asdict(found) | {"reason": found.reason or None}


def _redundancy(scores: Mapping[str, CaseScore], outputs: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Over all outputs that are scored; `reasons` names what is undefined and why."""
    texts = [normalise(outputs[case_id][i]) for case_id, case in scores.items() for i in case.kept]
    found = {name: measure(texts) for name, measure in MEASURES.items()}
    reasons = {name: measure.reason for name, measure in found.items() if measure.reason}
    return {name: measure.value for name, measure in found.items()} | {"reasons": reasons}
