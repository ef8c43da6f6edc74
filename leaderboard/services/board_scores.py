"""What every score of a board is made with: its references, its profile, its resamples."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from medbench.cases.queries import references
from medbench.scoring.intervals import RESAMPLES, bootstrap, resample_counts, seed_of
from medbench.scoring.matching import aggregate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaderboard.models import Board, Submission
    from medbench.scoring.matching import Scored
    from medbench.scoring.rouge import Profile


class References(NamedTuple):
    """The reference insights of one case, in the release's order."""

    pk: int  # of the ReleaseCase
    texts: list[str]


def references_of(board: Board) -> list[References]:
    """Every case of the board's split with its references, in order."""
    return [
        References(row.pk, [each.version.insight for each in row.triplets.all()])
        for row in references(board.release, board.split)
    ]


def outputs_by_case(submission: Submission) -> dict[int, list[str] | None]:
    """The raw insights of every case as uploaded; None for a case that the file does not name."""
    board = submission.board
    cases = board.release.cases.filter(split=board.split).values_list("pk", flat=True)
    found: dict[int, list[str]] = {pk: [] for pk in cases}
    for case, insight in submission.outputs.order_by("position").values_list("release_case", "insight"):
        found[case].append(insight)
    return {**found, **dict.fromkeys(submission.missing_cases)}


def word_profile(board: Board) -> Profile:
    """What is a word on this board."""
    profile: Profile = board.profile.config["tokeniser"]
    return profile


def seed_for(board: Board) -> int:
    """The seed that all intervals of a board share, so that entries meet the same resamples."""
    return seed_of(board.release.digest, board.profile.sha256, RESAMPLES)


SUMS = ("recall", "precision", "f1", "mean_case_f1", "n_cases", "n_outputs", "ci", "ci_reason")
COUNTS = ("n_missing_cases", "n_empty_cases", "n_empty_removed", "n_duplicates_removed")


def totals(board: Board, cases: Sequence[Scored]) -> dict[str, Any]:
    """The totals of all cases of a board's split with their 95 % intervals: the fields SUMS, which
    floors have too, and COUNTS."""
    sums = asdict(aggregate(cases))
    counts = resample_counts(len(cases), seed=seed_for(board))
    found = bootstrap([case.recall for case in cases], [case.precision for case in cases], counts)
    of_f1 = [case.f1 for case in cases]
    ci = {name: getattr(found, name) for name in ("recall", "precision", "f1")}
    ci["mean_case_f1"] = bootstrap(of_f1, of_f1, counts).recall  # of any mean over cases
    sums |= {
        "n_outputs": sum(case.n_outputs for case in cases),
        "ci": None if found.reason else ci,
        "ci_reason": found.reason,
    }
    return {name: sums[name] for name in SUMS + COUNTS}
