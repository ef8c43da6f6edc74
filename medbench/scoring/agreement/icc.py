"""Intraclass correlations: six forms of McGraw and Wong, by analysis of variance or REML.

Source: metrics_spec section 6.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from medbench.scoring.agreement import anova, reml
from medbench.scoring.estimate import (
    DISCONNECTED,
    FEWER_THAN_2_ITEMS,
    FEWER_THAN_2_RATERS,
    NO_PAIRABLE_UNITS,
    NO_VARIANCE,
    Estimate,
    resample_weights,
    with_interval,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Form = Literal["ICC(1)", "ICC(k)", "ICC(A,1)", "ICC(A,k)", "ICC(C,1)", "ICC(C,k)"]
FORMS: tuple[Form, ...] = get_args(Form)
Method = Literal["anova", "reml"]
PERFECT = Estimate(1.0, (1.0, 1.0))


class Iccs(NamedTuple):
    """The forms, how they were estimated, and of how many ratings the k forms are the mean."""

    forms: dict[Form, Estimate]
    method: Method
    k: int


def icc(ratings: Floats, *, resamples: int, seed: int) -> Iccs:
    """All forms for items x raters of numbers, NaN where missing.

    Complete tables have the intervals of McGraw and Wong; tables with holes, and raters who differ
    by a constant, those of a bootstrap of items. Items and raters without a rating are left out; k
    is the number of raters that are left. Reasons: `fewer_than_2_items`, `fewer_than_2_raters`,
    `no_pairable_units`, `disconnected_design`, `no_variance`, `unstable_denominator`; for an
    interval alone also `undefined_interval`, `undefined_resamples`.
    """
    rated = ~np.isnan(ratings)
    ratings = ratings[rated.any(axis=1)][:, rated.any(axis=0)]
    rated = ~np.isnan(ratings)
    k = ratings.shape[1]
    method: Method = "anova" if rated.all() else "reml"
    reason = _reason_against(ratings, rated)
    if reason:
        return Iccs(dict.fromkeys(FORMS, Estimate(None, reason=reason)), method, k)
    ratings = (ratings - np.nanmean(ratings)) / np.nanstd(ratings)  # for rounding: no ICC changes
    if method == "anova":
        forms = _from_anova(ratings, resamples, seed)
    else:
        forms = _from_reml(ratings, resamples, seed)
    return Iccs(dict(zip(FORMS, forms, strict=True)), method, k)


def is_connected(rated: NDArray[np.bool_]) -> bool:
    """Whether every two raters (columns) are linked by shared items, if need be through others."""
    together = rated.T.astype(float) @ rated > 0
    reached = together[0]
    while not np.array_equal(wider := together[reached].any(axis=0), reached):
        reached = wider
    return bool(reached.all())


def _reason_against(ratings: Floats, rated: NDArray[np.bool_]) -> str | None:
    n, k = ratings.shape
    if n < 2:
        return FEWER_THAN_2_ITEMS
    if k < 2:
        return FEWER_THAN_2_RATERS
    if (rated.sum(axis=1) < 2).all():
        return NO_PAIRABLE_UNITS
    if not is_connected(rated):
        return DISCONNECTED
    paired = ratings[rated.sum(axis=1) >= 2]
    return NO_VARIANCE if np.nanmax(paired) == np.nanmin(paired) else None


def _from_anova(ratings: Floats, resamples: int, seed: int) -> tuple[Estimate, ...]:
    squares = anova.MeanSquares.of(ratings)
    if squares.error:
        agreement = anova.agreement(squares)
    elif squares.raters:
        agreement = _without_error(ratings.mean(axis=1), ratings.mean(axis=0), resamples, seed)
    else:
        agreement = PERFECT, PERFECT
    return *anova.one_way(squares), *agreement, *anova.consistency(squares)


def _from_reml(ratings: Floats, resamples: int, seed: int) -> tuple[Estimate, ...]:
    n, k = ratings.shape
    effects = reml.additive_effects(ratings)
    if effects and _is_same_for_all(*effects):
        return (PERFECT,) * len(FORMS)
    values = _ratios(reml.sums_of(ratings, np.ones((1, n))))
    times = np.ones(n, dtype=np.intp)
    draws = resample_weights(times, resamples=resamples, seed=seed, cells=k * (k + 2) ** 2)
    drawn = np.concatenate([_ratios(reml.sums_of(ratings, weights)) for weights in draws], axis=1)
    one_way, agreement, consistency = (_both(*each, k) for each in zip(values[:, 0], drawn, strict=True))
    if effects:
        agreement, consistency = _without_error(*effects, resamples, seed), (PERFECT, PERFECT)
    return *one_way, *agreement, *consistency


def _ratios(sums: reml.Sums) -> Floats:
    """ICC(1), ICC(A,1) and ICC(C,1) of each fit: 3 x fits."""
    items, everything = reml.fit(sums, with_raters=False), reml.fit(sums)
    return np.stack(
        [
            items.item / (items.item + items.error),
            everything.item / (everything.item + everything.rater + everything.error),
            everything.item / (everything.item + everything.error),
        ]
    )


def _is_same_for_all(items: Floats, raters: Floats) -> bool:
    """Whether no rater rates higher than another."""
    return bool(np.var(raters) <= reml.RESIDUE * np.var(items))


def _without_error(items: Floats, raters: Floats, resamples: int, seed: int) -> tuple[Estimate, Estimate]:
    """ICC(A,1) and ICC(A,k) where every rating is exactly the sum of an item's and a rater's effect."""
    n, k, spread = len(items), len(raters), float(np.var(raters, ddof=1))

    def single(weights: Floats) -> Floats:
        means = weights @ items / n
        between = (weights @ items**2 - n * means**2) / (n - 1)
        return np.asarray(between / (between + spread))

    draws = resample_weights(np.ones(n, dtype=np.intp), resamples=resamples, seed=seed)
    drawn = np.concatenate([single(weights) for weights in draws])
    return _both(single(np.ones((1, n)))[0], drawn, k)


def _both(value: float, drawn: Floats, k: int) -> tuple[Estimate, Estimate]:
    """The ICC of one rating and that of the mean of k, which rises with it (Spearman-Brown)."""
    if np.isnan(value):
        return Estimate(None, reason=NO_VARIANCE), Estimate(None, reason=NO_VARIANCE)
    single = with_interval(float(value), drawn)
    ci = single.ci and anova.interval_of_mean(single.ci, k)
    return single, single._replace(value=anova.spearman_brown(float(value), k), ci=ci)
