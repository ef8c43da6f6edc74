"""Compare two result files case by case: is one better, or could it be the choice of cases?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.core.management.base import CommandError

from leaderboard.management.results_command import ResultsCommand, add_scoring_arguments, whole_number
from medbench.scoring.intervals import MOST_RESAMPLES, RESAMPLES, resample_counts, seed_of
from medbench.scoring.summary import run_of, score_cases
from medbench.scoring.testing import Runs

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from pathlib import Path

    from medbench.scoring.intervals import Interval
    from medbench.scoring.rouge import Profile

METHODS = {
    "paired_bootstrap": "paired bootstrap over cases",
    "swap_permutation": "random swaps of cases",
    "swap_enumeration": "every swap of cases",
}


class Command(ResultsCommand):
    help = "Compare two result files on the same references, paired over cases. Differences are A - B."
    files: ClassVar = ("file_a", "file_b")

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        add_scoring_arguments(parser)
        parser.add_argument("--b", type=whole_number, default=RESAMPLES, metavar="N", help="resamples")

    def handle(
        self,
        *_: Any,
        file_a: Path,
        file_b: Path,
        benchmark: str,
        profile: Profile,
        seed: int | None,
        b: int,
        json: bool,
        **__: Any,
    ) -> None:
        if not 1 <= b <= MOST_RESAMPLES:
            raise CommandError(f"--b is from 1 to {MOST_RESAMPLES:,}.", returncode=2)
        runs = []
        for file in (file_a, file_b):
            references, answer = self.checked(file, benchmark, as_json=json, profile=profile)
            assert answer.results
            runs.append(run_of(score_cases(references.insights.items(), answer.results.insights(), profile)))
            if not json:
                self.tell(answer.warnings)
        if seed is None:
            seed = seed_of(references.benchmark, references.version, profile, b)
        found = compared(Runs(runs, resample_counts(len(runs[0]), seed=seed, resamples=b), seed=seed))
        found |= {"profile": profile, "seed": seed, "resamples": b}
        if json:
            self.print_json(found)
        else:
            self.stdout.write(_as_text(found))


def compared(runs: Runs) -> dict[str, Any]:
    """The contract's answer for two runs; without intervals `reason` says why."""
    sides = {
        name: {"f1": runs.scores[i], "ci": runs.interval(runs.resampled[:, i])} for i, name in enumerate("ab")
    }
    found = runs.compare(0, 1)
    return sides | {
        "diff": found.difference,
        "ci": found.interval,
        "p": found.p,
        "n_cases": found.n_cases,
        "method": found.method,
        "reason": found.reason or None,
    }


def _as_text(found: dict[str, Any]) -> str:
    lines = [
        f"{name:<7}{value:>7.3f}{_interval(ci)}"
        for name, value, ci in (
            ("A  F1", found["a"]["f1"], found["a"]["ci"]),
            ("B  F1", found["b"]["f1"], found["b"]["ci"]),
            ("A - B", found["diff"], found["ci"]),
        )
    ]
    p = "p < 0.001" if found["p"] < 0.001 else f"p = {found['p']:.3f}"
    lines.append(f"{p}, {METHODS[found['method']]}, {found['n_cases']:,} cases")
    if found["reason"]:
        lines.append(f"No intervals: {found['reason']}")
    return "\n".join(lines)


def _interval(ci: Interval | None) -> str:
    return "  [{:.3f}, {:.3f}]".format(*ci) if ci else ""
