"""What a part of a method is worth: the whole against the same without the part.

As in Tables 3 and 5 of MedInsightBench: losses without one part, without two, and whether two parts
together are worth more than the sum of each (*interaction*). Every number is paired over cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from medbench.scoring.testing import Runs, holm

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from medbench.scoring.intervals import Interval
    from medbench.scoring.testing import Comparison

Parts = frozenset[str]


@dataclass(frozen=True, slots=True)
class Variant:
    """The method without some parts. `loss` is the whole method minus this one."""

    without: Parts
    recall: float
    precision: float
    f1: float
    recall_loss: float
    precision_loss: float
    loss: Comparison
    p_holm: float


@dataclass(frozen=True, slots=True)
class Interaction:
    """Above 0: together the parts are worth more than the sum of what each is worth alone."""

    parts: tuple[Parts, Parts]
    loss_of_both: float
    sum_of_losses: float
    interaction: float
    interval: Interval | None  # None for fewer than 10 cases


def ablation_table(
    whole: ArrayLike, variants: Mapping[Parts, ArrayLike], counts: NDArray[np.float64], *, seed: int = 0
) -> list[Variant]:
    """A row for each variant, in the order given; runs as in `testing`, on the same cases."""
    runs = Runs([whole, *variants.values()], counts, seed=seed)
    losses = [runs.compare(0, i) for i in range(1, len(runs.runs))]
    adjusted = holm([loss.p for loss in losses])
    means = [run.mean(axis=0).tolist() for run in runs.runs]
    recall, precision = means[0]
    return [
        Variant(without, r, p, score, recall - r, precision - p, loss, p_holm)
        for without, (r, p), score, loss, p_holm in zip(
            variants, means[1:], runs.scores[1:], losses, adjusted, strict=True
        )
    ]


def interactions(
    whole: ArrayLike, variants: Mapping[Parts, ArrayLike], counts: NDArray[np.float64]
) -> list[Interaction]:
    """Every two variants of which the variant without the parts of both is there, too."""
    runs = Runs([whole, *variants.values()], counts)
    index = {without: i for i, without in enumerate(variants, 1)}
    return [
        _interaction(runs, (one, other), index[one], index[other], index[one | other])
        for one, other in combinations(variants, 2)
        if not one & other and one | other in index
    ]


def _interaction(runs: Runs, parts: tuple[Parts, Parts], one: int, other: int, both: int) -> Interaction:
    scores, drawn = runs.scores, runs.resampled
    loss_of_both = scores[0] - scores[both]
    sum_of_losses = 2 * scores[0] - scores[one] - scores[other]
    # The loss of both minus the sum of losses; the whole method is in it once too often.
    resampled = drawn[:, one] + drawn[:, other] - drawn[:, both] - drawn[:, 0]
    return Interaction(
        parts, loss_of_both, sum_of_losses, loss_of_both - sum_of_losses, runs.interval(resampled)
    )
