"""The named statistics that predicates compute again from an artifact. Plain definitions, no models.

A statistic takes its columns by role, rows with a null in any of them left out, and its parameters;
it answers None where it is undefined. To add one: a function here and its line in `STATISTICS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

Roles = dict[str, list[Any]]
Parameters = dict[str, float]
Statistic = tuple[tuple[str, ...], "Callable[[Roles, Parameters], float | None]"]


def mean(roles: Roles, _: Parameters) -> float | None:
    """The mean of `value`."""
    values = _floats(roles["value"])
    return float(values.mean()) if len(values) else None


def weighted_mean(roles: Roles, _: Parameters) -> float | None:
    """The mean of `value`, each with its `weight`."""
    values, weights = _floats(roles["value"]), _floats(roles["weight"])
    return float((values * weights).sum() / weights.sum()) if weights.sum() > 0 else None


def median(roles: Roles, _: Parameters) -> float | None:
    """The median of `value`."""
    values = _floats(roles["value"])
    return float(np.median(values)) if len(values) else None


def percentile(roles: Roles, parameters: Parameters) -> float | None:
    """The percentile `q` (0 to 100) of `value`, linear between neighbours."""
    values = _floats(roles["value"])
    return float(np.percentile(values, parameters["q"])) if len(values) else None


def percent_at_least(roles: Roles, parameters: Parameters) -> float | None:
    """How many percent of `value` are `cut` or more; of a flag, with cut 1, how many are true."""
    values = _floats(roles["value"])
    return float(100 * (values >= parameters["cut"]).mean()) if len(values) else None


def percent_above(roles: Roles, parameters: Parameters) -> float | None:
    """How many percent of `value` are above `cut`."""
    values = _floats(roles["value"])
    return float(100 * (values > parameters["cut"]).mean()) if len(values) else None


def spearman(roles: Roles, _: Parameters) -> float | None:
    """Spearman's rho of `x` and `y`: Pearson's correlation of average ranks."""
    x, y = (ranks(roles[name]) for name in ("x", "y"))
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def odds_ratio(roles: Roles, _: Parameters) -> float | None:
    """The odds ratio of flags `exposed` and `event`, 0.5 added to all cells iff one of them is 0."""
    exposed, event = (_floats(roles[name]) > 0 for name in ("exposed", "event"))
    both, neither = float((exposed & event).sum()), float((~exposed & ~event).sum())
    exposed_only, event_only = float((exposed & ~event).sum()), float((~exposed & event).sum())
    if 0 in {both, neither, exposed_only, event_only}:
        both, neither, exposed_only, event_only = (
            each + 0.5 for each in (both, neither, exposed_only, event_only)
        )
    return both * neither / (exposed_only * event_only)


def concordance(roles: Roles, _: Parameters) -> float | None:
    """P(X1 > X0) and half of the ties, of `value` in the groups of the flag `group`; also AUROC."""
    return auroc(roles["group"], roles["value"])


def difference_of_mean_change(roles: Roles, _: Parameters) -> float | None:
    """Mean of `after` - `before` where the flag `group` is true, minus the mean where it is false."""
    change = _floats(roles["after"]) - _floats(roles["before"])
    group = _floats(roles["group"]) > 0
    if group.all() or not group.any():
        return None
    return float(change[group].mean() - change[~group].mean())


def auroc(labels: Sequence[Any], scores: Sequence[Any]) -> float | None:
    """The area under the ROC curve, ties counted half; None with one class only."""
    positive = _floats(labels) > 0
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if not n_positive or not n_negative:
        return None
    above = ranks(scores)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * n_negative))


def brier(labels: Sequence[Any], scores: Sequence[Any]) -> float | None:
    """The mean squared difference of scores and labels (0 or 1)."""
    if not labels:
        return None
    return float(((_floats(scores) - _floats(labels)) ** 2).mean())


def ranks(values: Sequence[Any]) -> NDArray[np.float64]:
    """Ranks from 1, equal values sharing their mean."""
    _, place, counts = np.unique(_floats(values), return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def _floats(values: Sequence[Any]) -> NDArray[np.float64]:
    return np.asarray(values, dtype=float)


# The roles of the columns each needs.
STATISTICS: Mapping[str, Statistic] = {
    "mean": (("value",), mean),
    "weighted_mean": (("value", "weight"), weighted_mean),
    "median": (("value",), median),
    "percentile": (("value",), percentile),
    "percent_at_least": (("value",), percent_at_least),
    "percent_above": (("value",), percent_above),
    "spearman": (("x", "y"), spearman),
    "odds_ratio": (("exposed", "event"), odds_ratio),
    "concordance": (("value", "group"), concordance),
    "difference_of_mean_change": (("before", "after", "group"), difference_of_mean_change),
}
