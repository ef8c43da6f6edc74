"""How often a 95 % interval of 50 items holds the coefficient of the population they came from."""

import numpy as np
import pytest

from medbench.scoring.agreement.alpha import alphas
from medbench.scoring.agreement.icc import icc
from medbench.scoring.agreement.table import Coded

ITEMS, RATERS = 50, 5
EASY, HARD = 0.95, 0.6  # how often a rater sees the truth; else the rating is drawn at random
SHARES = (0.5, 0.3, 0.2)
LEVELS = ("nominal", "ordinal", "interval")
ALPHA = (EASY**2 + HARD**2) / 2  # two ratings are equal by truth so often, else as two at random
ITEM, RATER, ERROR = 1.0, 0.2, 0.5  # variances


def ratings_by_truth(chance):
    truth = chance.choice(3, (ITEMS, 1), p=SHARES)
    sees = chance.random((ITEMS, RATERS)) < chance.choice([EASY, HARD], (ITEMS, 1))
    codes = np.where(sees, truth, chance.choice(3, (ITEMS, RATERS), p=SHARES))
    return Coded(codes, ("1", "2", "3"), np.array([1.0, 2.0, 3.0]), "ordinal", is_ordered=True)


def alpha_coverage(simulations, resamples):
    chance = np.random.default_rng(20_111)
    hits = dict.fromkeys(LEVELS, 0)
    for seed in range(simulations):
        found = alphas(ratings_by_truth(chance), LEVELS, resamples=resamples, seed=seed)
        for level, estimate in found.items():
            hits[level] += estimate.ci[0] <= ALPHA <= estimate.ci[1]
    return {level: times / simulations for level, times in hits.items()}


def icc_coverage(simulations):
    chance = np.random.default_rng(1_996)
    hits = 0
    for _ in range(simulations):
        ratings = (
            chance.normal(0, ITEM**0.5, (ITEMS, 1))
            + chance.normal(0, RATER**0.5, (1, RATERS))
            + chance.normal(0, ERROR**0.5, (ITEMS, RATERS))
        )
        low, high = icc(ratings, resamples=1, seed=1).forms["ICC(A,1)"].ci
        hits += low <= ITEM / (ITEM + RATER + ERROR) <= high
    return hits / simulations


def test_intervals_cover_the_population():
    for coverage in (*alpha_coverage(1_000, 400).values(), icc_coverage(1_000)):
        assert 0.92 <= coverage <= 0.97


@pytest.mark.long
def test_intervals_cover_the_population_in_many_samples():
    for coverage in (*alpha_coverage(4_000, 2_000).values(), icc_coverage(10_000)):
        assert 0.92 <= coverage <= 0.97
