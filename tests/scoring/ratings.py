"""Ratings tables for the tests of agreement."""

import numpy as np

from medbench.scoring.agreement import RatingsTable
from medbench.scoring.agreement.table import code

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def coded(rows, level="interval", order=None):
    """Items x annotators, None = missing, at a level."""
    return code(RatingsTable.from_matrix(rows), level, order)


def as_floats(rows):
    return np.array([[np.nan if rating is None else rating for rating in row] for row in rows], dtype=float)


def random_table(chance, *, holes=True, most_items=11):
    """A table of an odd shape: ties, few or many different ratings, and holes."""
    n, k = int(chance.integers(1, most_items)), int(chance.integers(1, 7))
    scale = chance.integers(0, 12, int(chance.integers(2, 7))) / chance.choice([1, 2, 4])
    empty = chance.random() * 0.7 if holes else 0
    rows = chance.choice(scale, (n, k)) + chance.integers(0, 3, (n, 1))
    return [[None if chance.random() < empty else float(rating) for rating in row] for row in rows]
