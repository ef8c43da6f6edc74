"""Benchmarks of scoring at the size of MedInsightBench: the pair matrices and a whole board."""

from __future__ import annotations

import random

import numpy as np
from measure import CASES, result, seconds, sentence

PAIRED = 12  # references and outputs of a case
ENTRIES = 50
RESAMPLES = 10_000


def results() -> dict[str, dict[str, object]]:
    """`rouge1_pair_matrix` with and without stemming, and `bootstrap_board`."""
    ours, theirs = rouge_seconds(stem=False)
    stemmed, stemmed_theirs = rouge_seconds(stem=True)
    board, scipy_board = board_seconds()
    return {
        "rouge1_pair_matrix": result(ours, "s", theirs / 15, peer=theirs),
        "rouge1_pair_matrix_porter": result(stemmed, "s", stemmed_theirs / 15, peer=stemmed_theirs),
        "bootstrap_board": result(board, "s", 1, peer=scipy_board),
    }


def rouge_seconds(*, stem: bool) -> tuple[float, float]:
    """All pairs of 332 cases: ours, and rouge_score's from every tenth case."""
    from rouge_score.rouge_scorer import RougeScorer

    from medbench.scoring.rouge import pair_matrix

    chance = random.Random(7)
    cases = [
        tuple([sentence(chance, number) for number in range(PAIRED)] for _ in range(2)) for _ in range(CASES)
    ]
    scorer = RougeScorer(["rouge1"], use_stemmer=stem)
    profile = "porter" if stem else "parity-ascii"
    some = cases[::10]
    theirs = seconds(
        lambda: [
            [[scorer.score(r, o)["rouge1"].fmeasure for o in outputs] for r in references]
            for references, outputs in some
        ],
        times=1,
    )
    ours = seconds(lambda: [pair_matrix(references, outputs, profile) for references, outputs in cases])
    return ours, theirs * len(cases) / len(some)


def board_seconds() -> tuple[float, float]:
    """50 submissions: ours does intervals, places, P(first), tests and groups; SciPy's loop, from one
    of the 50, the intervals alone."""
    from scipy import stats

    from medbench.scoring.intervals import resample_counts
    from medbench.scoring.ranking import rank_entries

    rng = np.random.default_rng(7)
    runs = [rng.beta(3, 3, (CASES, 2)) for _ in range(ENTRIES)]

    def f1(recall: np.ndarray, precision: np.ndarray, axis: int) -> np.ndarray:
        r, p = recall.mean(axis=axis), precision.mean(axis=axis)
        return 2 * r * p / (r + p)

    def scipy_once() -> object:
        return stats.bootstrap(
            tuple(runs[0].T), f1, paired=True, n_resamples=RESAMPLES, method="percentile", rng=rng
        )

    ours = seconds(lambda: rank_entries(runs, resample_counts(CASES, seed=7, resamples=RESAMPLES)), times=3)
    return ours, seconds(scipy_once, times=3) * ENTRIES
