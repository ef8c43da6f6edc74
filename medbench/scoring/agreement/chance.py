"""Percent agreement, Gwet's AC1 and AC2, which stay sensible where nearly all ratings are equal, kappas.

Source: Gwet 2014, Handbook of Inter-Rater Reliability, 4th edition, chapters 4 and 5 (ratings with
holes; weights for ordinal, interval and ratio scales).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from medbench.scoring.agreement.alpha import differences, pairable, patterns_of
from medbench.scoring.agreement.table import MISSING
from medbench.scoring.estimate import (
    FEWER_THAN_2_ITEMS,
    NO_PAIRABLE_UNITS,
    NO_VARIATION,
    Estimate,
    resample_weights,
    with_interval,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from medbench.scoring.agreement.table import Coded, Level

    Floats = NDArray[np.float64]

ROUNDING = 1e-12


def percent_agreement(counts: Floats) -> float | None:
    """The share of agreeing pairs of ratings, averaged over the items with two ratings or more.

    `counts` is items x labels. None without such an item.
    """
    shares = _agreeing(counts, np.eye(counts.shape[1]))
    return float(np.nanmean(shares)) if np.isfinite(shares).any() else None


def ac(coded: Coded, level: Level, *, resamples: int, seed: int) -> Estimate:
    """Gwet's coefficient: AC1 for the nominal level, else AC2 with the weights of the level.

    Items with one rating tell how common the labels are. Labels of the scale count where nobody
    gave them. Reasons: `no_pairable_units`, `no_variation` (as for alpha: all equal is no evidence
    of anything), and for an interval those of alpha.
    """
    counts = coded.counts[coded.counts.sum(axis=1) > 0]
    paired = pairable(counts)
    if not len(paired):
        return Estimate(None, reason=NO_PAIRABLE_UNITS)
    if np.count_nonzero(paired.sum(axis=0)) < 2:
        return Estimate(None, reason=NO_VARIATION)
    weights = label_weights(level, coded.values, counts.shape[1])
    value = float(_coefficient(counts, np.ones((1, len(counts))), weights)[0])
    if len(counts) < 2:
        return Estimate(value, None, FEWER_THAN_2_ITEMS)
    patterns = patterns_of(counts)
    draws = resample_weights(patterns.times, resamples=resamples, seed=seed)
    return with_interval(
        value, np.concatenate([_coefficient(patterns.counts, drawn, weights) for drawn in draws])
    )


def kappas(coded: Coded) -> dict[str, float | None]:
    """The kappas that other papers print, for comparison: `fleiss`, `conger`, `brennan_prediger`.

    All take `percent_agreement` and differ in what chance would give; holes as in Gwet 2014,
    chapter 2. Conger's is Cohen's where there are two annotators. None where chance is certain, or
    nothing is pairable.
    """
    observed = percent_agreement(coded.counts)
    rated = coded.counts[coded.counts.sum(axis=1) > 0]
    if observed is None:
        return dict.fromkeys(("fleiss", "conger", "brennan_prediger"))
    common = (rated / rated.sum(axis=1, keepdims=True)).mean(axis=0)
    used = coded.codes[:, (coded.codes != MISSING).any(axis=0)]
    shares = np.stack([(used == label).sum(axis=0) for label in range(len(coded.labels))], axis=1)
    shares = shares / shares.sum(axis=1, keepdims=True)
    spread = shares.var(axis=0, ddof=1) / len(shares)
    by_chance = {
        "fleiss": (common**2).sum(),
        "conger": (shares.mean(axis=0) ** 2 - spread).sum(),
        "brennan_prediger": 1 / len(coded.labels),
    }
    return {name: above_chance(observed, float(chance)) for name, chance in by_chance.items()}


def cohen(coded: Coded, i: int, j: int, *, quadratic: bool = False) -> float | None:
    """Cohen's kappa of the annotators in columns i and j, plain or with weights by squared steps.

    Source: Cohen 1960, 1968. None without shared items, or where both gave one and the same rating.
    """
    both = (coded.codes[:, [i, j]] != MISSING).all(axis=1)
    if not both.any():
        return None
    steps, places = np.unique(coded.codes[both][:, [i, j]], return_inverse=True)
    table = np.zeros((len(steps), len(steps)))
    np.add.at(table, tuple(places.reshape(-1, 2).T), 1 / both.sum())
    apart = np.subtract.outer(steps, steps)
    loss = apart**2 if quadratic else apart != 0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    return above_chance(1 - float((table * loss).sum()), 1 - float((expected * loss).sum()))


def above_chance(observed: float, by_chance: float) -> float | None:
    """The agreement above chance as a share of what was left to agree on."""
    return None if 1 - by_chance < ROUNDING else (observed - by_chance) / (1 - by_chance)


def label_weights(level: Level, values: Floats | None, n_labels: int) -> Floats:
    """How far two labels agree (labels x labels): 1 on the diagonal, 0 at the ends of the scale."""
    if level == "ordinal":
        between = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels)))
        loss = between * (between + 1.0)
    else:
        loss = differences(level, values, np.zeros(n_labels))
    return np.asarray(1 - loss / loss.max())


def _agreeing(counts: Floats, weights: Floats) -> Floats:
    """The weighted share of agreeing pairs of each item, NaN below two ratings."""
    ratings = counts.sum(axis=1)
    agreeing = (counts * (counts @ weights - 1)).sum(axis=1)
    pairs = ratings * (ratings - 1)
    shares = np.full(len(counts), np.nan)
    np.divide(agreeing, pairs, out=shares, where=pairs > 0)
    return shares


def _coefficient(counts: Floats, drawn: Floats, weights: Floats) -> Floats:
    """The coefficient for each row of `drawn` (resamples x items); NaN without a pairable item."""
    shares = _agreeing(counts, weights)
    pairs = np.isfinite(shares)
    n_pairable = drawn @ pairs.astype(float)
    observed = np.full(len(drawn), np.nan)
    np.divide(drawn @ np.where(pairs, shares, 0), n_pairable, out=observed, where=n_pairable > 0)
    common = drawn @ (counts / counts.sum(axis=1, keepdims=True)) / drawn.sum(axis=1, keepdims=True)
    n_labels = counts.shape[1]
    by_chance = weights.sum() * (common * (1 - common)).sum(axis=1) / (n_labels * (n_labels - 1))
    return np.asarray((observed - by_chance) / (1 - by_chance))
