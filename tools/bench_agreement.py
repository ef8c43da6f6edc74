"""How fast agreement is at the size of MedInsightBench, against the packages that the field uses."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from measure import result, seconds

ITEMS, RATERS, RESAMPLES = 3_933, 5, 10_000
PEER_DRAWS = 60  # of their loop; the rest is extrapolated
LEVELS = ("nominal", "ordinal", "interval", "ratio")


def ratings() -> np.ndarray[Any, Any]:
    """Likert 1 to 10 around a truth, a tenth missing."""
    chance = np.random.default_rng(7)
    truth = chance.integers(1, 11, (ITEMS, 1))
    found = (truth + chance.normal(0, 1.5, (ITEMS, RATERS)).round()).clip(1, 10)
    found[chance.random(found.shape) < 0.1] = np.nan
    return found


def alpha_seconds() -> tuple[float, float]:
    """All four levels with their intervals: ours, and a loop over the krippendorff package."""
    import krippendorff

    from medbench.scoring.agreement import RatingsTable
    from medbench.scoring.agreement.alpha import alphas
    from medbench.scoring.agreement.table import code

    data = ratings()
    table = code(RatingsTable.from_matrix(data.tolist()), "ratio")

    def loop() -> None:
        chance = np.random.default_rng(1)
        for _ in range(PEER_DRAWS):
            drawn = data[chance.integers(0, ITEMS, ITEMS)].T
            for level in LEVELS:
                krippendorff.alpha(reliability_data=drawn, level_of_measurement=level)

    theirs = seconds(loop, times=1) * RESAMPLES / PEER_DRAWS
    return seconds(lambda: alphas(table, LEVELS, resamples=RESAMPLES, seed=1), times=3), theirs


def icc_seconds() -> tuple[float, float]:
    """Six forms with intervals of a complete table: ours, and pingouin's."""
    import pandas as pd
    import pingouin

    from medbench.scoring.agreement.icc import icc

    complete = np.nan_to_num(ratings(), nan=5.0)
    rows = [(item, rater, rating) for (item, rater), rating in np.ndenumerate(complete)]
    long = pd.DataFrame(rows, columns=["item", "rater", "rating"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = seconds(lambda: pingouin.intraclass_corr(long, "item", "rater", "rating"), times=5)
    icc(complete, resamples=1, seed=1)  # imports scipy.special
    return seconds(lambda: icc(complete, resamples=RESAMPLES, seed=1), times=20), theirs


def reml_seconds() -> float:
    """Six forms with 2,000 item resamples of the table with holes. No package of the field does it."""
    from medbench.scoring.agreement.icc import icc

    data = ratings()
    return seconds(lambda: icc(data, resamples=2_000, seed=1), times=1)


def results() -> dict[str, dict[str, float | str | bool | None]]:
    ours, theirs = alpha_seconds()
    of_icc = icc_seconds()
    return {
        "alpha_four_levels_10000_resamples": result(ours, "s", round(theirs / 100, 2), peer=theirs),
        "icc_six_forms_with_intervals": result(1_000 * of_icc[0], "ms", 20, peer=1_000 * of_icc[1]),
        "icc_by_reml_2000_resamples": result(reml_seconds(), "s", 30),
    }
