"""Everything that is said of the agreement on one question: what `agreement` prints and pages show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from medbench.scoring.agreement import reading
from medbench.scoring.agreement.alpha import alpha, alphas, differences, pairable, within_items
from medbench.scoring.agreement.chance import ac, kappas, percent_agreement
from medbench.scoring.agreement.icc import FORMS, Iccs, Method, icc
from medbench.scoring.agreement.pairs import against_others, mean_pearson, pairs
from medbench.scoring.agreement.table import LEVELS, MISSING, Coded, Level, Rating, RatingsTable, code
from medbench.scoring.agreement.warnings import warnings_about
from medbench.scoring.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

RESAMPLES = 2_000
MOST_LABELS = 50  # of a confusion table
TOO_MANY_LABELS = "too_many_labels"


def summary(
    table: RatingsTable,
    *,
    level: str,
    order: Sequence[Rating] | None = None,
    b: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Any]:
    """All coefficients with 95 % intervals, ready for JSON; undefined is None with a reason code.

    `order` are the ratings of the scale, lowest first: ordinal words need it; `b` resamples of
    items. An *estimate* below is `{value, ci: [low, high] | None, reason: code | None,
    undefined}`: the reason says why there is no value, or no interval; `undefined` is the share of
    resamples that have none. Raises InvalidInput as `table.code` does.

    - `level`, `labels` (ratings of the scale, in order), `b`, `seed`
    - `n_items` (with a rating), `n_items_without_ratings`, `n_annotators` (with a rating),
      `n_ratings`, `n_missing` (empty cells of those items and annotators), `n_pairable` (items
      with two ratings or more), `ratings_per_item` (harmonic mean)
    - `percent_agreement`: share of agreeing pairs of ratings, mean over pairable items
    - `alpha`: estimate and `reading` (`reliable` | `tentative` | `unreliable` | None, Krippendorff)
    - `alphas`: `{nominal, ordinal, interval, ratio}` of estimates; reasons `order_needed`,
      `not_numeric`, `negative_rating` where the ratings do not allow the level
    - `icc`: the six forms, each an estimate and `reading` (`poor` | `moderate` | `good` |
      `excellent` | None, Koo and Li), and `method` (`anova` | `reml`), `k` (ratings averaged in the
      k forms), `rater_means`: `{annotator: mean}`. Reasons `level_nominal`, `not_numeric`,
      `fewer_than_2_items`, `fewer_than_2_raters`, `no_pairable_units`, `no_variance`,
      `disconnected_design`, `unstable_denominator`
    - `pearson`: `{mean, fisher_mean, n_pairs, n_excluded, mean_abs_bias, reason}`
    - `ac1`: estimate; `ac2`: estimate with the weights of the level, None for nominal
    - `kappas`: `{fleiss, conger, brennan_prediger}`, for comparison with other papers
    - `pairs`: for every two annotators `{a, b, n, agreement, kappa, kappa_quadratic, pearson, bias,
      reason}`: `n` shared items, `agreement` on them, Cohen's kappas, `bias` = mean of b minus a;
      None where undefined
    - `confusion`: `{labels, counts, coincidences, reason}`: `counts[c][k]` pairs of ratings of one
      item (symmetric; the diagonal counts each pair once), `coincidences` as Krippendorff weighs
      them; both None with `too_many_labels` above 50 labels
    - `annotators`: `{annotator, n, mean, n_shared, agreement, pearson, bias, alpha_without, reason}`:
      `agreement` with all others pair by pair, `pearson` and `bias` against the mean of the others on
      the `n_shared` items, `alpha_without` = alpha of the study without this annotator
    - `items`: `{item, n, disagreement, gap}` of the items with a rating: `disagreement` in units of
      what chance would give (0 none, 1 as by chance; None below two ratings or without variation),
      `gap` = highest minus lowest rating, in steps of the scale where ratings are words, None for
      nominal ratings
    - `warnings`: `{code, message, ...}` with code `low_n`, `scale_shift`, `paradox`,
      `disconnected_design`, `unpaired_ratings`, `constant_annotator`, `looks_missing`
    """
    coded = code(table, level, order)
    rated = coded.codes != MISSING
    items = [item for item, any_ in zip(table.items, rated.any(axis=1), strict=True) if any_]
    names = [name for name, any_ in zip(table.annotators, rated.any(axis=0), strict=True) if any_]
    coded = coded.of(rated.any(axis=1), rated.any(axis=0))
    by_level = _alphas(coded, b, seed)
    ac1 = ac(coded, "nominal", resamples=b, seed=seed)
    iccs = _icc(coded, b, seed)
    two_by_two = pairs(coded, names)
    return {
        "level": coded.level,
        "labels": list(coded.labels),
        "b": b,
        "seed": seed,
        "n_items": len(items),
        "n_items_without_ratings": len(table.items) - len(items),
        "n_annotators": len(names),
        **_counts(coded),
        "percent_agreement": percent_agreement(coded.counts),
        "alpha": _read(by_level[coded.level], reading.krippendorff),
        "alphas": {name: found._asdict() for name, found in by_level.items()},
        "icc": _icc_as_dict(iccs, coded, names),
        "pearson": mean_pearson(two_by_two)._asdict(),
        "ac1": ac1._asdict(),
        "ac2": None if coded.level == "nominal" else ac(coded, coded.level, resamples=b, seed=seed)._asdict(),
        "kappas": kappas(coded),
        "pairs": [pair._asdict() for pair in two_by_two],
        "confusion": _confusion(coded),
        "annotators": [_annotator(coded, name, at) for at, name in enumerate(names)],
        "items": _items(coded, items),
        "warnings": list(warnings_about(coded, names, by_level[coded.level], ac1, iccs.forms)),
    }


def _counts(coded: Coded) -> dict[str, Any]:
    per_item = coded.counts.sum(axis=1)
    return {
        "n_ratings": int(per_item.sum()),
        "n_missing": int((coded.codes == MISSING).sum()),
        "n_pairable": int((per_item >= 2).sum()),
        "ratings_per_item": float(len(per_item) / (1 / per_item).sum()) if len(per_item) else None,
    }


def _alphas(coded: Coded, b: int, seed: int) -> dict[Level, Estimate]:
    reasons = {level: _reason_against(coded, level) for level in LEVELS}
    possible = [level for level in LEVELS if not reasons[level]]
    found = alphas(coded, possible, resamples=b, seed=seed)
    return {level: found.get(level) or Estimate(None, reason=reasons[level]) for level in LEVELS}


def _reason_against(coded: Coded, level: Level) -> str | None:
    """Why the ratings do not allow a level."""
    if level == "ordinal" and not coded.is_ordered:
        return "order_needed"
    if level in ("interval", "ratio") and coded.values is None:
        return "not_numeric"
    if level == "ratio" and coded.values is not None and (coded.values < 0).any():
        return "negative_rating"
    return None


def _icc(coded: Coded, b: int, seed: int) -> Iccs:
    if coded.numbers is None:
        reason = "level_nominal" if coded.level == "nominal" else "not_numeric"
        method: Method = "reml" if (coded.codes == MISSING).any() else "anova"
        return Iccs(dict.fromkeys(FORMS, Estimate(None, reason=reason)), method, coded.codes.shape[1])
    return icc(coded.numbers, resamples=b, seed=seed)


def _icc_as_dict(found: Iccs, coded: Coded, names: Sequence[str]) -> dict[str, Any]:
    means = None if coded.numbers is None else np.nanmean(coded.numbers, axis=0).tolist()
    return {form: _read(estimate, reading.koo_li) for form, estimate in found.forms.items()} | {
        "method": found.method,
        "k": found.k,
        "rater_means": None if means is None else dict(zip(names, means, strict=True)),
    }


def _read(found: Estimate, words: Callable[[float | None], str | None]) -> dict[str, Any]:
    return {**found._asdict(), "reading": words(found.value)}


def _confusion(coded: Coded) -> dict[str, Any]:
    labels = list(coded.labels)
    if len(labels) > MOST_LABELS:
        return {"labels": labels, "counts": None, "coincidences": None, "reason": TOO_MANY_LABELS}
    counts = pairable(coded.counts)
    ordered = counts.T @ counts - np.diag(counts.sum(axis=0))
    weighted = counts / (counts.sum(axis=1, keepdims=True) - 1)
    coincidences = weighted.T @ counts - np.diag(weighted.sum(axis=0))
    np.fill_diagonal(ordered, np.diag(ordered) / 2)
    return {
        "labels": labels,
        "counts": ordered.astype(int).tolist(),
        "coincidences": coincidences.tolist(),
        "reason": None,
    }


def _annotator(coded: Coded, name: str, at: int) -> dict[str, Any]:
    column = coded.codes[:, at] != MISSING
    return {
        "annotator": name,
        "n": int(column.sum()),
        "mean": None if coded.numbers is None else float(coded.numbers[column, at].mean()),
        **against_others(coded, at),
        "alpha_without": alpha(coded.without(at), coded.level).value,
    }


def _items(coded: Coded, items: Sequence[str]) -> list[dict[str, Any]]:
    per_item = coded.counts.sum(axis=1)
    disagreements = _disagreements(coded)
    gaps = _gaps(coded)
    return [
        {"item": item, "n": int(n), "disagreement": disagreement, "gap": gap}
        for item, n, disagreement, gap in zip(items, per_item, disagreements, gaps, strict=True)
    ]


def _disagreements(coded: Coded) -> list[float | None]:
    """The mean difference of an item's pairs over that of all pairs; they average to 1 - alpha or so."""
    counts = coded.counts
    per_item = counts.sum(axis=1)
    paired = per_item >= 2
    totals = counts[paired].sum(axis=0)
    if np.count_nonzero(totals) < 2:
        return [None] * len(counts)
    delta = differences(coded.level, coded.values, totals)
    expected = (totals @ delta @ totals) / (totals.sum() * (totals.sum() - 1))
    found = np.full(len(counts), np.nan)
    found[paired] = within_items(counts[paired], delta) / per_item[paired] / expected
    return [None if np.isnan(value) else value for value in found.tolist()]


def _gaps(coded: Coded) -> list[float | None]:
    if coded.level == "nominal" or not coded.codes.size:
        return [None] * len(coded.codes)
    numbers = coded.numbers
    if numbers is None:
        numbers = np.where(coded.codes == MISSING, np.nan, coded.codes)
    gaps: NDArray[np.float64] = np.nanmax(numbers, axis=1) - np.nanmin(numbers, axis=1)
    return list(gaps.tolist())
