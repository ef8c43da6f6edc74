"""What every coefficient answers, and the item bootstrap that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from medbench.scoring.intervals import CHUNK, Interval, percentiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

MOST_UNDEFINED = 0.05  # of the resamples, for an interval

FEWER_THAN_2_ITEMS = "fewer_than_2_items"
FEWER_THAN_2_RATERS = "fewer_than_2_raters"
NO_PAIRABLE_UNITS = "no_pairable_units"
NO_VARIATION = "no_variation"
NO_VARIANCE = "no_variance"
DISCONNECTED = "disconnected_design"
UNSTABLE = "unstable_denominator"
UNDEFINED_RESAMPLES = "undefined_resamples"


class Estimate(NamedTuple):
    """A coefficient and its 95 % interval.

    `reason` is a code for what is missing: why there is no value, or no interval for a value.
    `undefined` is the share of resamples without a value, which the interval leaves out.
    """

    value: float | None
    ci: Interval | None = None
    reason: str | None = None
    undefined: float = 0.0


def resample_weights(
    times: NDArray[np.intp], *, resamples: int, seed: int, cells: int = 1
) -> Iterator[NDArray[np.float64]]:
    """How often each pattern is drawn when items are drawn with replacement, in parts of the rows.

    `times` says how many items have each pattern; drawing patterns is the same as drawing items.
    `cells` is how many numbers the caller makes of each resample, to bound memory.
    """
    generator = np.random.default_rng(seed)
    n = int(times.sum())
    step = max(CHUNK // max(len(times), cells), 1)
    for start in range(0, resamples, step):
        yield generator.multinomial(n, times / n, size=min(step, resamples - start)).astype(float)


def with_interval(value: float, resampled: NDArray[np.float64]) -> Estimate:
    """The value with the middle 95 % of its resamples, of which NaN are the undefined ones."""
    missing = np.isnan(resampled)
    undefined = float(missing.mean())
    if undefined > MOST_UNDEFINED:
        return Estimate(value, None, UNDEFINED_RESAMPLES, undefined)
    return Estimate(value, percentiles(resampled[~missing]), undefined=undefined)
