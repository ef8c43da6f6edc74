"""A board with its uncertainty: intervals, places in every resample, who cannot be told apart.

All entries meet the same resamples of cases (D9), so that one matrix product answers everything.
Resampled places show uncertainty and are no test; groups come from paired tests with Holm's
correction over the family "the leader against the rest" (D11). Judge noise and the sampling of the
systems are in none of these numbers. Source: metrics_spec section 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from medbench.scoring.intervals import RESAMPLES
from medbench.scoring.testing import Runs, holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from medbench.scoring.intervals import Interval

ALPHA = 0.05
SAME = 9  # decimals: scores that agree this far share a place
ROWS = 2_000_000  # numbers sorted at a time, to bound memory


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of a board. Differences are this entry minus the reference.

    `group` counts from 1: nobody in it can be told apart from the best of it. For fewer than 10
    cases there is no interval and no resampled rank; `reason` says so.
    """

    f1: float
    interval: Interval | None
    rank: int  # equal scores share the better one
    rank_median: int | None
    rank_interval: tuple[int, int] | None
    p_first: float | None  # share of resamples with nobody better
    difference: float
    difference_interval: Interval | None
    p: float | None  # against the reference; None for the reference itself
    p_holm: float | None
    group: int
    reason: str = ""


def resamples_for(n_entries: int) -> int:
    """So many resamples that a board of this size can tell anybody apart: the smallest p, one in so
    many, must pass Holm's correction for all entries. 10,000 are enough for 250."""
    return max(RESAMPLES, ceil(2 * n_entries / ALPHA))


def rank_entries(
    runs: Sequence[ArrayLike],
    counts: NDArray[np.float64],
    *,
    reference: int | None = None,
    seed: int = 0,
) -> list[Place]:
    """The places of all runs (cases x 2, see `testing`), in the order given.

    `counts` are the `resample_counts` of the cases, as many as `resamples_for` says. `reference` is the
    index of the run that all are tested against, by default the leader.
    """
    if not runs:
        return []
    board = Runs(runs, counts, seed=seed)
    everybody = range(len(runs))
    chosen = max(everybody, key=board.scores.__getitem__) if reference is None else reference
    p, adjusted = _against(board, chosen, everybody)
    groups = _groups(board)
    ranks = _ranks(np.round([board.scores], SAME))[0]
    drawn = _ranks(board.resampled)
    return [
        Place(
            f1=board.scores[i],
            interval=board.interval(board.resampled[:, i]),
            rank=int(ranks[i]),
            rank_median=None if board.reason else _rank_at(drawn[:, i], 0.5),
            rank_interval=None
            if board.reason
            else (_rank_at(drawn[:, i], 0.025), _rank_at(drawn[:, i], 0.975)),
            p_first=None if board.reason else float((drawn[:, i] == 1).mean()),
            difference=board.scores[i] - board.scores[chosen],
            difference_interval=board.interval(board.resampled[:, i] - board.resampled[:, chosen]),
            p=p.get(i),
            p_holm=adjusted.get(i),
            group=groups[i],
            reason=board.reason,
        )
        for i in everybody
    ]


def _against(board: Runs, reference: int, family: Sequence[int]) -> tuple[dict[int, float], dict[int, float]]:
    """The p and Holm's p of each member of the family but the reference, by index."""
    rest = [i for i in family if i != reference]
    p = [board.p(reference, i) for i in rest]
    return dict(zip(rest, p, strict=True)), dict(zip(rest, holm(p), strict=True))


def _groups(board: Runs) -> dict[int, int]:
    """Group by index: the leader and all that the tests do not set apart from it, then the same among
    those that are left."""
    left = sorted(range(len(board.scores)), key=board.scores.__getitem__, reverse=True)
    groups: dict[int, int] = {}
    number = 0
    while left:
        number += 1
        _, adjusted = _against(board, left[0], left)
        groups |= {i: number for i in left if i == left[0] or adjusted[i] >= ALPHA}
        left = [i for i in left if i not in groups]
    return groups


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int32]:
    """1 + how many in the row are strictly better, for each row of scores."""
    n_rows, n_entries = scores.shape
    ranks = np.empty(scores.shape, np.int32)
    step = max(ROWS // n_entries, 1)
    for start in range(0, n_rows, step):
        rows = scores[start : start + step]
        order = np.argsort(-rows, axis=1)
        sorted_ = np.take_along_axis(rows, order, axis=1)
        is_new = np.ones(rows.shape, dtype=bool)
        is_new[:, 1:] = sorted_[:, 1:] < sorted_[:, :-1]
        first = np.maximum.accumulate(np.where(is_new, np.arange(1, n_entries + 1), 0), axis=1)
        np.put_along_axis(ranks[start : start + step], order, first.astype(np.int32), axis=1)
    return ranks


def _rank_at(ranks: NDArray[np.int32], share: float) -> int:
    """A rank that was drawn, not one between two."""
    return int(np.quantile(ranks, share, method="inverted_cdf"))
