"""Correlation of automated scores with those of people: Pearson, Spearman, Kendall's tau-b.

At system level a point is a system (its mean over cases); at case level the correlation over cases
is taken within each system, then averaged. Intervals resample cases, the same for all systems.
Source: metrics_spec section 6.5.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from medbench.scoring.estimate import Estimate, resample_weights, with_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Kind = Literal["pearson", "spearman", "kendall"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Level = Literal["system", "case"]
FEWEST_POINTS = 3
TOO_FEW_POINTS = "too_few_points"
CONSTANT = "constant_input"
ROUNDING = 1e-12  # a correlation this near to 1 is 1, and a variance this small is 0


class Correlations(NamedTuple):
    """The three kinds at a level.

    `n_systems` and `n_cases` are those with both scores. At case level `n_skipped` systems have too
    few cases or a constant score; with ranks and without they are the same.
    """

    pearson: Estimate
    spearman: Estimate
    kendall: Estimate
    n_systems: int
    n_cases: int
    n_skipped: int


def correlation(kind: Kind, x: Floats, y: Floats) -> Estimate:
    """The correlation of two vectors. Reasons: `too_few_points` (below 3), `constant_input`."""
    if len(x) < FEWEST_POINTS:
        return Estimate(None, reason=TOO_FEW_POINTS)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return Estimate(None, reason=CONSTANT)
    value = float(_weighted(kind, _standard(x)[None], _standard(y)[None], np.ones((1, len(x))))[0])
    return Estimate(value if 1 - abs(value) > ROUNDING else math.copysign(1.0, value))


def correlations(
    level: Level, automated: Floats, human: Floats, *, resamples: int, seed: int
) -> Correlations:
    """All kinds at a level for systems x cases of scores, NaN where a case was not scored.

    Only cases with both scores of a system count for it. Reasons: those of `correlation`, and
    `undefined_resamples` for an interval.
    """
    both = ~(np.isnan(automated) | np.isnan(human))
    automated, human = np.where(both, automated, np.nan), np.where(both, human, np.nan)
    kept = both.any(axis=0)
    automated, human, both = automated[:, kept], human[:, kept], both[:, kept]
    found = {kind: _estimate(level, kind, automated, human, resamples=resamples, seed=seed) for kind in KINDS}
    undefined = sum(_within("pearson", *each).value is None for each in zip(automated, human, strict=True))
    return Correlations(
        **found,
        n_systems=int(both.any(axis=1).sum()),
        n_cases=both.shape[1],
        n_skipped=undefined if level == "case" else 0,
    )


def difference(
    level: Level, kind: Kind, first: Floats, second: Floats, human: Floats, *, resamples: int, seed: int
) -> Estimate:
    """How much better the first automated score goes with people than the second, on the same cases.

    All are systems x cases; cases without one of the three scores are left out for their system.
    """
    lost = np.isnan(first) | np.isnan(second) | np.isnan(human)
    first, second, human = (np.where(lost, np.nan, each) for each in (first, second, human))
    values = [_value(level, kind, each, human) for each in (first, second)]
    for value in values:
        if value.value is None:
            return value
    drawn = [_drawn(level, kind, each, human, resamples=resamples, seed=seed) for each in (first, second)]
    a, b = (value.value for value in values)
    assert a is not None
    assert b is not None
    return with_interval(a - b, drawn[0] - drawn[1])


def _estimate(
    level: Level, kind: Kind, automated: Floats, human: Floats, *, resamples: int, seed: int
) -> Estimate:
    found = _value(level, kind, automated, human)
    if found.value is None:
        return found
    return with_interval(found.value, _drawn(level, kind, automated, human, resamples=resamples, seed=seed))


def _value(level: Level, kind: Kind, automated: Floats, human: Floats) -> Estimate:
    if level == "system":
        rated = ~np.isnan(automated).all(axis=1)
        return correlation(kind, np.nanmean(automated[rated], axis=1), np.nanmean(human[rated], axis=1))
    found = [_within(kind, *each) for each in zip(automated, human, strict=True)]
    values = [each.value for each in found if each.value is not None]
    if not values:
        return Estimate(None, reason=found[0].reason if found else TOO_FEW_POINTS)
    return Estimate(math.fsum(values) / len(values))


def _within(kind: Kind, automated: Floats, human: Floats) -> Estimate:
    """The correlation over the cases of one system."""
    rated = ~np.isnan(automated)
    return correlation(kind, automated[rated], human[rated])


def _drawn(
    level: Level, kind: Kind, automated: Floats, human: Floats, *, resamples: int, seed: int
) -> Floats:
    """The correlation in each resample of cases; NaN where it is undefined."""
    n_systems, n_cases = automated.shape
    cells = n_systems**2 if level == "system" else n_cases
    draws = resample_weights(np.ones(n_cases, dtype=np.intp), resamples=resamples, seed=seed, cells=cells)
    resampled = _system_level if level == "system" else _case_level
    return np.concatenate([resampled(kind, automated, human, weights) for weights in draws])


def _system_level(kind: Kind, automated: Floats, human: Floats, weights: Floats) -> Floats:
    n = weights @ (~np.isnan(automated)).T.astype(float)
    x, y = (
        np.divide(weights @ np.nan_to_num(each).T, n, out=np.zeros_like(n), where=n > 0)
        for each in (automated, human)
    )
    return _weighted(kind, x, y, (n > 0).astype(float))


def _case_level(kind: Kind, automated: Floats, human: Floats, weights: Floats) -> Floats:
    """The mean over the systems in which the resample has a correlation."""
    total, n_defined = np.zeros((2, len(weights)))
    for x, y in zip(automated, human, strict=True):
        rated = ~np.isnan(x)
        if _within(kind, x, y).value is None:
            continue
        values = _weighted(kind, _standard(x[rated])[None], _standard(y[rated])[None], weights[:, rated])
        total += np.nan_to_num(values)
        n_defined += ~np.isnan(values)
    return _ratio(total, n_defined)


def _standard(values: Floats) -> Floats:
    """With mean 0 and spread 1, which changes no correlation and keeps digits."""
    return np.asarray((values - values.mean()) / values.std())


def _weighted(kind: Kind, x: Floats, y: Floats, weights: Floats) -> Floats:
    """The correlation in each row of `weights` (F x points); x and y are F x points or 1 x points.

    Ranks come from the signs of differences: that of a point is, but for a constant, the weight
    below it less the weight above it, so that ties share the middle rank.
    """
    if kind == "pearson":
        return _pearson(x, y, weights)
    signs_x, signs_y = (np.sign(each[:, :, None] - each[:, None, :]) for each in (x, y))
    if kind == "spearman":
        return _pearson(_pulled(weights, signs_x), _pulled(weights, signs_y), weights)
    pairs = (_pulled(weights, signs_x * signs_y) * weights).sum(axis=1)
    x_pairs, y_pairs = ((_pulled(weights, signs**2) * weights).sum(axis=1) for signs in (signs_x, signs_y))
    return _ratio(pairs, np.sqrt(x_pairs * y_pairs))


def _pulled(weights: Floats, signs: Floats) -> Floats:
    """The sum over points i of weight(i) * sign(i, j), for every j."""
    if len(signs) == 1:
        return np.asarray(weights @ signs[0])
    return np.asarray((weights[:, None] @ signs)[:, 0])


def _pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    n = weights.sum(axis=1, keepdims=True)
    x, y = (
        each - np.divide((weights * each).sum(axis=1, keepdims=True), n, out=np.zeros_like(n), where=n > 0)
        for each in (x, y)
    )
    x_spread, y_spread = (np.sqrt((weights * each**2).sum(axis=1)) for each in (x, y))
    return _ratio((weights * x * y).sum(axis=1), x_spread * y_spread)


def _ratio(above: Floats, below: Floats) -> Floats:
    """A correlation, NaN where nothing varies."""
    found = np.full(len(above), np.nan)
    np.divide(above, below, out=found, where=below > ROUNDING)
    return found.clip(-1, 1)
