"""Score a result file: ROUGE-1 recall, precision and F1 as the boards have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from leaderboard.management.results_command import ResultsCommand, add_scoring_arguments
from medbench.formats.text import printable
from medbench.scoring.intervals import RESAMPLES, seed_of
from medbench.scoring.summary import score_cases, summary

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from pathlib import Path

    from medbench.scoring.rouge import Profile

LINE = 100  # characters of a name on a terminal


class Command(ResultsCommand):
    help = "Score a result file against the references of a bundle or of a benchmark of this site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add_scoring_arguments(parser)

    def handle(
        self, *_: Any, file: Path, benchmark: str, profile: Profile, seed: int | None, json: bool, **__: Any
    ) -> None:
        references, answer = self.checked(file, benchmark, as_json=json, profile=profile)
        assert answer.results
        insights = answer.results.insights()
        if seed is None:
            seed = seed_of(references.benchmark, references.version, profile, RESAMPLES)
        cases = tqdm(references.insights.items(), desc="Scoring", unit="case", disable=None, leave=False)
        found = {
            "benchmark": references.benchmark,
            "version": references.version,
            **summary(score_cases(cases, insights, profile), insights, profile, seed),
        }
        if json:
            self.print_json(found)
            return
        self.tell(answer.warnings)
        results = answer.results
        names = (results.method, results.backbone)
        self.stdout.write(" · ".join(printable(name, LINE) for name in names if name))
        self.stdout.write(_as_text(found))


def _as_text(found: dict[str, Any]) -> str:
    """The summary for people: the headline first, then what it is made of, then the cases."""
    return "\n".join([*_heading(found), "", *_headline(found), "", *_beside(found), "", *_cases(found)])


def _heading(found: dict[str, Any]) -> list[str]:
    name = f"{found['benchmark']}, version {found['version']} · ROUGE-1, {found['profile']}"
    cases = f"{found['n_cases']:,} cases, {found['n_missing_cases']:,} missing"
    return [
        f"{name} · {cases}, {found['n_empty_cases']:,} empty",
        f"Left out: {found['n_empty_removed']:,} blank, {found['n_duplicates_removed']:,} repeated insights",
    ]


def _headline(found: dict[str, Any]) -> list[str]:
    ci = found["ci"]
    without = f"  no interval: {ci['reason']}" if ci["reason"] else ""
    lines = []
    for name, key in (("F1", "f1"), ("Recall", "recall"), ("Precision", "precision")):
        interval = "  [{:.3f}, {:.3f}]".format(*ci[key]) if ci[key] else without
        lines.append(f"{name:<10}{found[key]:.3f}{interval}")
    return lines


def _beside(found: dict[str, Any]) -> list[str]:
    novelty = {name: _number(value) for name, value in found["novelty"].items() if name != "reason"}
    shares = f"original {novelty['original']}, innovation {novelty['innovation']}"
    repeats = found["redundancy"]
    cosine, bleu, distinct = (_number(repeats[name]) for name in ("tfidf_cosine", "self_bleu", "distinct_2"))
    pooled = f"recall {found['recall_micro']:.3f}, precision {found['precision_micro']:.3f}"
    return [
        f"Mean of the cases' F1 {found['mean_case_f1']:.3f} · pooled over insights: {pooled}",
        f"F1 where each output may answer one reference only: {found['assigned_f1']:.3f}",
        f"Novelty at tau {novelty['tau']}: {shares} ({found['novelty']['reason']}, never ranked)",
        f"Redundancy: TF-IDF cosine {cosine}, Self-BLEU {bleu}, Distinct-2 {distinct}",
    ]


def _cases(found: dict[str, Any]) -> list[str]:
    width = max(len("case"), *(len(case["case_id"]) for case in found["cases"]))
    lines = [f"{'case':<{width}}   ref   out  recall  precision     F1"]
    for case in found["cases"]:
        counts = f"{case['n_gt']:>6,}{case['n_pred']:>6,}"
        scores = f"{case['recall']:>8.3f}{case['precision']:>11.3f}{case['f1']:>7.3f}"
        lines.append(f"{case['case_id']:<{width}}{counts}{scores}")
    return lines


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
