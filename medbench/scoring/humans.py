"""Humans beside machines: novelty against an audit, data quality, and redundancy of a data set.

These are the numbers behind Figures 2, 3, 5 and 8 and Table 7 of the MedInsightBench paper.
Source: metrics_spec sections 3, 6.5 and 8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from medbench.scoring.correlation import KINDS, TOO_FEW_POINTS, Correlations, correlation, correlations
from medbench.scoring.estimate import Estimate, resample_weights, with_interval
from medbench.scoring.proportion import wilson
from medbench.scoring.redundancy import MEASURES, MEASURES_WITHIN, Measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Audit(NamedTuple):
    """Insights sorted by experts: A true clinical novelty, B relevant but known, C trivial.

    Shares of all that were sorted, and `approval` = A or B, each with Wilson's interval.
    """

    n: int
    a: Estimate
    b: Estimate
    c: Estimate
    approval: Estimate


class Quality(NamedTuple):
    """One criterion of data quality on the `n_items` that both rated; means have item intervals."""

    n_items: int
    human: Estimate
    machine: Estimate
    difference: Estimate  # machine less human
    correlations: Correlations


def audit(a: int, b: int, c: int) -> Audit:
    n = a + b + c
    return Audit(n, wilson(a, n), wilson(b, n), wilson(c, n), wilson(a + b, n))


def novelty_against_audits(
    automated: Mapping[str, float | None], audits: Mapping[str, Audit]
) -> dict[str, Any]:
    """Automated novelty of each audited system beside the experts' approval.

    `{systems: [{system, automated, approval, n, difference}], n_systems, pearson, spearman,
    kendall}`; the correlations are over systems with both and have no interval: a system's audit is
    one number.
    """
    rows: list[dict[str, Any]] = []
    points: list[tuple[float, float]] = []
    for system, found in audits.items():
        novelty, approval = automated.get(system), found.approval
        gap = None
        if novelty is not None and approval.value is not None:
            points.append((novelty, approval.value))
            gap = novelty - approval.value
        row = {"system": system, "automated": novelty, "approval": approval._asdict(), "n": found.n}
        rows.append({**row, "difference": gap})
    x, y = np.array(points, dtype=float).reshape(-1, 2).T
    kinds: dict[str, Any] = {kind: correlation(kind, x, y)._asdict() for kind in KINDS}
    return {"systems": rows, "n_systems": len(points), **kinds}


def quality(human: Floats, machine: Floats, *, resamples: int, seed: int) -> Quality:
    """Human ratings (items x raters, NaN = missing) beside the machine's (items).

    A human score is the mean over the raters of an item. Below 2 items there are no intervals.
    """
    rated = ~np.isnan(human).all(axis=1) & ~np.isnan(machine)
    theirs, ours = np.nanmean(human[rated], axis=1), machine[rated]
    n = len(ours)
    together = correlations("case", ours[None], theirs[None], resamples=resamples, seed=seed)
    columns = np.stack([theirs, ours, ours - theirs])
    if n < 2:
        alone = [Estimate(float(each[0]) if n else None, None, TOO_FEW_POINTS) for each in columns]
        return Quality(n, alone[0], alone[1], alone[2], together)
    draws = resample_weights(np.ones(n, dtype=np.intp), resamples=resamples, seed=seed)
    drawn = np.concatenate([weights @ columns.T / n for weights in draws])
    means = [with_interval(float(each.mean()), drawn[:, i]) for i, each in enumerate(columns)]
    return Quality(n, means[0], means[1], means[2], together)


def redundancy(cases: Sequence[Sequence[str]]) -> dict[str, dict[str, Measure]]:
    """How much the texts (questions, or insights) of a data set repeat one another.

    `{corpus, within_case}`, each `{tfidf_cosine, self_bleu, distinct_2}`: over all texts, and over
    those of a case alone.
    """
    texts = [text for case in cases for text in case]
    return {
        "corpus": {name: measure(texts) for name, measure in MEASURES.items()},
        "within_case": {name: measure(cases) for name, measure in MEASURES_WITHIN.items()},
    }
