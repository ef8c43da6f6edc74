"""Agreement by the definitions: pairs of ratings in loops, dense matrices. Slow, and written apart."""

from itertools import combinations, permutations
from math import fsum, log, sqrt

import numpy as np


def units_of(table):
    """The ratings of each item that has two or more; `table` is rows of numbers, None = missing."""
    units = [[rating for rating in row if rating is not None] for row in table]
    return [unit for unit in units if len(unit) >= 2]


def difference(level, values):
    """The squared difference of two ratings, given all pairable ones (the published sum for ordinal)."""
    ordered = sorted(set(values))
    n = {value: values.count(value) for value in ordered}

    def ordinal(a, b):
        low, high = min(a, b), max(a, b)
        return (fsum(n[each] for each in ordered if low <= each <= high) - (n[a] + n[b]) / 2) ** 2

    return {
        "nominal": lambda a, b: float(a != b),
        "ordinal": ordinal,
        "interval": lambda a, b: (a - b) ** 2,
        "ratio": lambda a, b: ((a - b) / (a + b)) ** 2 if a + b else 0.0,
    }[level]


def alpha(table, level):
    units = units_of(table)
    values = [value for unit in units for value in unit]
    if len(set(values)) < 2:
        return None
    d = difference(level, values)
    within = fsum(fsum(d(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    between = fsum(d(a, b) for a, b in permutations(values, 2)) / (len(values) - 1)
    return 1 - within / between


def percent_agreement(table):
    units = units_of(table)
    if not units:
        return None
    return fsum(
        sum(a == b for a, b in combinations(unit, 2)) / (len(unit) * (len(unit) - 1) / 2) for unit in units
    ) / len(units)


def weight(level, values, a, b):
    """Gwet's weights over the scale `values`."""
    low, high = min(values), max(values)
    if level == "ordinal":
        between = abs(values.index(a) - values.index(b)) + 1
        return 1 - between * (between - 1) / (len(values) * (len(values) - 1))
    if level == "interval":
        return 1 - ((a - b) / (high - low)) ** 2
    if level == "ratio":
        ends = (high - low) / (high + low)
        return 1 - (((a - b) / (a + b)) / ends) ** 2 if a + b else 1.0
    return float(a == b)


def ac(table, level):
    rated = [unit for unit in ([r for r in row if r is not None] for row in table) if unit]
    units = units_of(table)
    values = sorted({value for unit in rated for value in unit})
    if len({value for unit in units for value in unit}) < 2:
        return None
    observed = fsum(
        fsum(weight(level, values, a, b) for a, b in permutations(unit, 2)) / (len(unit) * (len(unit) - 1))
        for unit in units
    ) / len(units)
    share = [fsum(unit.count(value) / len(unit) for unit in rated) / len(rated) for value in values]
    weights = fsum(weight(level, values, a, b) for a in values for b in values)
    chance = weights / (len(values) * (len(values) - 1)) * fsum(p * (1 - p) for p in share)
    return (observed - chance) / (1 - chance)


def pearson(x, y):
    n = len(x)
    if n < 3:
        return None
    x_mean, y_mean = fsum(x) / n, fsum(y) / n
    xx = fsum((a - x_mean) ** 2 for a in x)
    yy = fsum((b - y_mean) ** 2 for b in y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        return None
    return fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)) / sqrt(xx * yy)


def pair_pearsons(table):
    """One for each two annotators, None where undefined."""
    columns = list(zip(*table, strict=True))
    found = []
    for a, b in combinations(columns, 2):
        shared = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
        found.append(pearson([x for x, _ in shared], [y for _, y in shared]))
    return found


def mean_squares(table):
    """MSR, MSC, MSE, MSW of a complete table from raw sums of squares."""
    n, k = len(table), len(table[0])
    ratings = [rating for row in table for rating in row]
    correction = fsum(ratings) ** 2 / (n * k)
    rows = fsum(fsum(row) ** 2 for row in table) / k - correction
    columns = fsum(fsum(column) ** 2 for column in zip(*table, strict=True)) / n - correction
    total = fsum(rating**2 for rating in ratings) - correction
    error = total - rows - columns
    return (
        rows / (n - 1),
        columns / (k - 1),
        error / ((n - 1) * (k - 1)),
        (total - rows) / (n * (k - 1)),
    )


def iccs(table):
    """Shrout & Fleiss 1979 in their own words: BMS, JMS, EMS, WMS."""
    n, k = len(table), len(table[0])
    bms, jms, ems, wms = mean_squares(table)
    return {
        "ICC(1)": (bms - wms) / (bms + (k - 1) * wms),
        "ICC(k)": (bms - wms) / bms,
        "ICC(A,1)": (bms - ems) / (bms + (k - 1) * ems + k * (jms - ems) / n),
        "ICC(A,k)": (bms - ems) / (bms + (jms - ems) / n),
        "ICC(C,1)": (bms - ems) / (bms + (k - 1) * ems),
        "ICC(C,k)": (bms - ems) / bms,
    }


class Dense:
    """The restricted likelihood of y = mean + item + rater + error with the whole covariance matrix."""

    def __init__(self, table):
        rows = [(i, j, r) for i, row in enumerate(table) for j, r in enumerate(row) if r is not None]
        item, rater, y = (np.array(each) for each in zip(*rows, strict=True))
        self.y = y.astype(float)
        self.parts = [np.equal.outer(item, item) * 1.0, np.equal.outer(rater, rater) * 1.0, np.eye(len(y))]

    def projection(self, variances):
        v = sum(size * part for size, part in zip(variances, self.parts, strict=True))
        inverse = np.linalg.inv(v)
        ones = inverse.sum(axis=1)
        return v, ones.sum(), inverse - np.outer(ones, ones) / ones.sum()

    def deviance(self, variances):
        v, information, p = self.projection(variances)
        return np.linalg.slogdet(v)[1] + log(information) + self.y @ p @ self.y

    def scores(self, variances):
        """The derivative of the deviance by the log of each variance."""
        _, _, p = self.projection(variances)
        residual = p @ self.y
        return [
            size * (np.trace(p @ part) - residual @ part @ residual)
            for size, part in zip(variances, self.parts, strict=True)
        ]
