"""Variance components of ratings with holes: y = mean + item + rater + error by REML.

The likelihood is profiled over mean and error, and items are absorbed, so that a table is reduced
to a few sums over its items (raters x raters for every number of ratings of an item). Resamples of
items only weigh these sums: thousands of fits run side by side as one Newton iteration.
Source of the model: Bates et al. 2015, Journal of Statistical Software 67(1), section 3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LOWEST, HIGHEST = -25.0, 16.0  # of log(variance / error variance); at the lowest it is 0
LARGEST_STEP = 2.0
VANISHING = -9.0
CONVERGED = 1e-9
ROUNDS = 80
RESIDUE = 1e-12  # a residual sum of squares below this share of all squares is 0


class Sums(NamedTuple):
    """What the likelihood needs of F tables (or resamples) with k raters and M numbers of ratings.

    The last place of every matrix is the rating itself: entry (j, k) of `own` is the sum of rater
    j's ratings, entry (j, k) of `shared` the sum of the totals of the items that j rated.
    """

    sizes: Floats  # M: ratings of an item
    items: Floats  # F x M: items of that size
    own: Floats  # F x (k+1) x (k+1): sums over ratings
    shared: Floats  # F x M x (k+1) x (k+1): sums over items of products of their totals


class Components(NamedTuple):
    """Variances of F fits; NaN where the ratings do not tell them apart."""

    item: Floats
    rater: Floats
    error: Floats


def sums_of(ratings: Floats, weights: Floats) -> Sums:
    """The sums of items x raters (NaN = missing) under each row of `weights` (F x items)."""
    k = ratings.shape[1]
    rated = (~np.isnan(ratings)).astype(float)
    filled = np.nan_to_num(ratings)
    per_item = rated.sum(axis=1)
    totals = np.column_stack([rated, filled.sum(axis=1)])
    sizes = np.unique(per_item)
    own = np.zeros((len(weights), k + 1, k + 1))
    own[:, range(k), range(k)] = weights @ rated
    own[:, :k, k] = own[:, k, :k] = weights @ filled
    own[:, k, k] = weights @ (filled**2).sum(axis=1)
    shared = []
    for size in sizes:
        at = per_item == size
        products = (totals[at, :, None] * totals[at, None, :]).reshape(-1, (k + 1) ** 2)
        shared.append((weights[:, at] @ products).reshape(-1, k + 1, k + 1))
    items = np.column_stack([weights[:, per_item == size].sum(axis=1) for size in sizes])
    return Sums(sizes, items, own, np.stack(shared, axis=1))


def fit(sums: Sums, *, with_raters: bool = True) -> Components:
    """The components of largest restricted likelihood; without raters: of the one-way model."""
    at = np.zeros((len(sums.own), 2))
    if not with_raters:
        at[:, 1] = LOWEST
    free = np.array([True, with_raters])
    defined = _is_defined(sums, with_raters=with_raters)
    at[defined] = _climb(_of(sums, defined), at[defined], free)
    ratios = np.where(at <= LOWEST, 0, np.exp(at))
    error = np.full(len(at), np.nan)
    error[defined] = _error_variance(_of(sums, defined), at[defined])
    return Components(ratios[:, 0] * error, ratios[:, 1] * error, error)


def additive_effects(ratings: Floats) -> tuple[Floats, Floats] | None:
    """Items' and raters' effects (raters' sum to 0) if every rating is exactly their sum."""
    sums = sums_of(ratings, np.ones((1, len(ratings))))
    within = _within(sums)[0]
    raters = np.linalg.pinv(within[:-1, :-1], hermitian=True) @ within[:-1, -1]
    rest = ratings - raters
    items = np.nanmean(rest, axis=1)
    residue = np.nansum((rest - items[:, None]) ** 2)
    spread = np.nansum((ratings - np.nanmean(ratings)) ** 2)
    return (items, raters) if residue <= RESIDUE * spread else None


def _of(sums: Sums, at: NDArray[np.bool_]) -> Sums:
    return Sums(sums.sizes, sums.items[at], sums.own[at], sums.shared[at])


def _within(sums: Sums) -> Floats:
    """Sums of products around the items' own means: (k+1) x (k+1) for each fit."""
    return np.asarray(sums.own - np.einsum("m,fmij->fij", 1 / sums.sizes, sums.shared))


def _is_defined(sums: Sums, *, with_raters: bool) -> NDArray[np.bool_]:
    """Whether items have two ratings, and error is left when items (and raters) are known."""
    within = _within(sums)
    residue = within[:, -1, -1]
    if with_raters:
        solve = np.linalg.pinv(within[:, :-1, :-1], hermitian=True)
        residue = residue - np.einsum("fi,fij,fj->f", within[:, :-1, -1], solve, within[:, :-1, -1])
    least = RESIDUE * sums.own[:, -1, -1].max()  # of the same scale for all resamples of a table
    return np.asarray((sums.items[:, sums.sizes >= 2].sum(axis=1) > 0) & (residue > least))


class _Point(NamedTuple):
    """-2 log of the restricted likelihood (but for a constant) and its derivatives by the logs."""

    deviance: Floats  # F
    gradient: Floats  # F x 2
    hessian: Floats  # F x 2 x 2
    residue: Floats  # F: the weighted residual sum of squares


def _climb(sums: Sums, at: Floats, free: NDArray[np.bool_]) -> Floats:
    """Newton from `at` (F x 2 logs), each fit on its own: a step that leads uphill is shortened."""
    found = at.copy()
    active = np.arange(len(at))
    point = _evaluate(sums, at)
    best, step = point.deviance, _newton(point, at, free)
    for _ in range(ROUNDS):
        moved = (found[active] + step).clip(LOWEST, HIGHEST)
        point = _evaluate(sums, moved)
        better = point.deviance <= best + 1e-12 * np.abs(best)
        size = np.abs(moved - found[active]).max(axis=1)
        found[active[better]] = moved[better]
        best = np.where(better, point.deviance, best)
        step = np.where(better[:, None], _newton(point, moved, free), step / 4)
        going = size > CONVERGED
        if not going.any():
            break
        active, best, step, sums = active[going], best[going], step[going], _of(sums, going)
    return found


def _newton(point: _Point, at: Floats, free: NDArray[np.bool_]) -> Floats:
    """The Newton step downhill, bounded; along curves that bend the wrong way, downhill all the same."""
    stuck = (at <= LOWEST) & (point.gradient > 0) | (at >= HIGHEST) & (point.gradient < 0)
    moving = free & ~stuck
    gradient = np.where(moving, point.gradient, 0)
    hessian = np.where(moving[:, :, None] & moving[:, None, :], point.hessian, np.eye(2))
    bends, axes = np.linalg.eigh(hessian)
    along = np.einsum("fji,fj->fi", axes, gradient) / np.maximum(np.abs(bends), 1e-12)
    step = -np.einsum("fij,fj->fi", axes, along).clip(-LARGEST_STEP, LARGEST_STEP)
    # Towards 0 every step is 1; should 0 be too far, the way back is found.
    return np.where((step < 0) & (at + step < VANISHING), LOWEST - at, step)


def _error_variance(sums: Sums, at: Floats) -> Floats:
    return np.asarray(_evaluate(sums, at).residue / (_n(sums) - 1))


def _n(sums: Sums) -> Floats:
    """The number of ratings of each fit."""
    return np.asarray(sums.own[:, :-1, :-1].sum(axis=(1, 2)))


class _Equations(NamedTuple):
    """Normal equations H of raters, mean and ratings once items are absorbed: F x (k+2) x (k+2)."""

    h: Floats
    first: Floats  # F x 2 x (k+2) x (k+2): by each log
    second: Floats  # the same, twice by one log; by both it is 0


def _equations(sums: Sums, at: Floats) -> _Equations:
    ratio = np.exp(at[:, :1])
    grown = 1 + sums.sizes * ratio
    # How much of the squared total of an item is absorbed, and its derivatives by the log.
    absorbed = (ratio / grown, ratio / grown**2, ratio * (2 - grown) / grown**3)
    h, by_item, by_item_twice = (
        -_bordered(np.einsum("fm,fmij->fij", each, sums.shared)) for each in absorbed
    )
    k = sums.own.shape[-1] - 1
    precision = np.zeros_like(h)
    precision[:, range(k), range(k)] = np.exp(-at[:, 1:])
    h += _bordered(sums.own) + precision
    return _Equations(
        h, np.stack([by_item, -precision], axis=1), np.stack([by_item_twice, precision], axis=1)
    )


def _evaluate(sums: Sums, at: Floats) -> _Point:
    """The deviance where log(item / error variance), log(rater / error variance) are `at`.

    With H1 = H without the ratings: log|V| + log|x'V⁻¹x| = sum log(1 + m a) + k log(r) + log|H1|,
    and the residual sum of squares is |H| / |H1|. Here a and r are the two variance ratios.
    """
    h, first, second = _equations(sums, at)
    inverse, rest, residue = _solved(h)
    n = (_n(sums) - 1)[:, None]
    squares = _forms(rest, first)
    gradient = _traces(inverse, first) + n * squares
    spread = inverse[:, None] @ first
    pull = np.einsum("faij,fj->fai", first, rest)
    hessian = -np.einsum("faij,fbji->fab", spread, spread) - n[:, :, None] * (
        2 * np.einsum("fai,fij,fbj->fab", pull, inverse, pull) + squares[:, :, None] * squares[:, None]
    )
    hessian[:, [0, 1], [0, 1]] += _traces(inverse, second) + n * _forms(rest, second)
    grown = 1 + sums.sizes * np.exp(at[:, :1])
    share, k = 1 - 1 / grown, h.shape[-1] - 2
    gradient[:, 0] += (sums.items * share).sum(axis=1)
    gradient[:, 1] += k
    hessian[:, 0, 0] += (sums.items * share / grown).sum(axis=1)
    deviance = (sums.items * np.log(grown)).sum(axis=1) + k * at[:, 1] + n[:, 0] * np.log(residue)
    return _Point(deviance + np.linalg.slogdet(h[:, :-1, :-1])[1], gradient, hessian, residue)


def _solved(h: Floats) -> tuple[Floats, Floats, Floats]:
    """The inverse of H1 (padded with 0), the residual direction over its length, its square."""
    inverse = np.zeros_like(h)
    inverse[:, :-1, :-1] = np.linalg.inv(h[:, :-1, :-1])
    rest = -np.einsum("fij,fj->fi", inverse, h[:, :, -1])
    rest[:, -1] = 1
    residue = np.einsum("fi,fi->f", rest, h[:, :, -1])
    return inverse, rest / np.sqrt(residue)[:, None], residue


def _traces(inverse: Floats, matrices: Floats) -> Floats:
    return np.asarray(np.einsum("fij,faji->fa", inverse, matrices))


def _forms(vectors: Floats, matrices: Floats) -> Floats:
    return np.asarray(np.einsum("fi,faij,fj->fa", vectors, matrices, vectors))


def _bordered(sums: Floats) -> Floats:
    """F x (k+1) x (k+1) with the mean between raters and rating: every rating has just one rater."""
    k = sums.shape[-1] - 1
    border = np.zeros((k + 1, k + 2))
    border[:k, :k] = np.eye(k)
    border[:k, k] = 1
    border[k, k + 1] = 1
    return np.asarray(border.T @ sums @ border)
