"""Annotators two by two, and each against the others."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from medbench.scoring.agreement.chance import cohen
from medbench.scoring.agreement.table import MISSING
from medbench.scoring.correlation import TOO_FEW_POINTS, correlation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medbench.scoring.agreement.table import Coded

NO_PAIR = "no_pair"
PERFECT_PAIR = "perfect_pair"


class Pair(NamedTuple):
    """Annotators `a` and `b` on the `n` items that both rated.

    `agreement` is the share of equal ratings, `kappa` Cohen's and `kappa_quadratic` that for
    ordered ratings, `bias` the mean of b less a. None where undefined; `reason` is why there is no
    Pearson.
    """

    a: str
    b: str
    n: int
    agreement: float | None
    kappa: float | None
    kappa_quadratic: float | None
    pearson: float | None
    bias: float | None
    reason: str | None


class PearsonMean(NamedTuple):
    """Over the pairs of annotators that have a Pearson; `n_excluded` have none.

    `fisher_mean` goes through Fisher's z; None with `perfect_pair` where z is infinite for some.
    """

    mean: float | None
    fisher_mean: float | None
    n_pairs: int
    n_excluded: int
    mean_abs_bias: float | None
    reason: str | None


def pairs(coded: Coded, annotators: Sequence[str]) -> list[Pair]:
    """Every two annotators, in the order of the table."""
    return [_pair(coded, annotators, i, j) for i, j in combinations(range(len(annotators)), 2)]


def mean_pearson(found: Sequence[Pair]) -> PearsonMean:
    """Mean pairwise Pearson with the mean through Fisher's z beside it, and the mean size of a bias."""
    rs = [pair.pearson for pair in found if pair.pearson is not None]
    biases = [abs(pair.bias) for pair in found if pair.bias is not None]
    bias = math.fsum(biases) / len(biases) if biases else None
    if not rs:
        return PearsonMean(None, None, 0, len(found), bias, NO_PAIR)
    mean = math.fsum(rs) / len(rs)
    if all(r == rs[0] for r in rs):
        fisher, reason = rs[0], None
    elif any(abs(r) == 1 for r in rs):
        fisher, reason = None, PERFECT_PAIR
    else:
        fisher, reason = math.tanh(math.fsum(map(math.atanh, rs)) / len(rs)), None
    return PearsonMean(mean, fisher, len(rs), len(found) - len(rs), bias, reason)


def against_others(coded: Coded, at: int) -> dict[str, Any]:
    """The annotator in column `at` beside everybody else, on the items that both rated.

    `agreement` counts every other's rating; `pearson` and `bias` (own less theirs) take the mean of
    the others.
    """
    own, others = coded.codes[:, at], np.delete(coded.codes, at, axis=1)
    both = (own != MISSING) & (others != MISSING).any(axis=1)
    theirs = others[both]
    equal = (theirs == own[both, None]).sum()
    found: dict[str, Any] = {
        "n_shared": int(both.sum()),
        "agreement": float(equal / (theirs != MISSING).sum()) if both.any() else None,
        "pearson": None,
        "bias": None,
        "reason": None,
    }
    if coded.numbers is not None and both.any():
        x, y = coded.numbers[both, at], np.nanmean(np.delete(coded.numbers, at, axis=1)[both], axis=1)
        r = correlation("pearson", x, y)
        found |= {"pearson": r.value, "bias": float(np.mean(x - y)), "reason": r.reason}
    return found


def _pair(coded: Coded, annotators: Sequence[str], i: int, j: int) -> Pair:
    both = (coded.codes[:, [i, j]] != MISSING).all(axis=1)
    n = int(both.sum())
    agreement = float(np.mean(coded.codes[both, i] == coded.codes[both, j])) if n else None
    kappa = cohen(coded, i, j)
    quadratic = cohen(coded, i, j, quadratic=True) if coded.is_ordered else None
    pair = Pair(annotators[i], annotators[j], n, agreement, kappa, quadratic, None, None, None)
    if coded.numbers is None or not n:
        return pair._replace(reason=None if n else TOO_FEW_POINTS)
    x, y = coded.numbers[both, i], coded.numbers[both, j]
    r = correlation("pearson", x, y)
    return pair._replace(pearson=r.value, bias=float(np.mean(y - x)), reason=r.reason)
