"""Everything that is said of the agreement on one question: what `agreement` prints and pages show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medbench.scoring.agreement.table import Rating, RatingsTable, code

if TYPE_CHECKING:
    from collections.abc import Sequence

RESAMPLES = 2_000


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
    items. An *estimate* below is `{value, ci: [low, high] | None, reason: code | None}`: the
    reason says why there is no value, or no interval. Raises InvalidInput as `table.code` does.

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
    - `pairs`: for every two annotators `{a, b, n, agreement, pearson, bias, reason}`: `n` shared
      items, `agreement` on them, `bias` = mean of b minus a; None where undefined
    - `confusion`: `{labels, counts, coincidences, reason}`: `counts[c][k]` pairs of ratings of one
      item (symmetric; the diagonal counts each pair once), `coincidences` as Krippendorff weighs
      them; None with `too_many_labels` above 50 labels
    - `annotators`: `{annotator, n, mean, n_shared, agreement, pearson, bias, alpha_without, reason}`:
      `agreement` with all others pair by pair, `pearson` and `bias` against the mean of the others on
      the `n_shared` items, `alpha_without` = alpha of the study without this annotator
    - `items`: `{item, n, disagreement, gap}` of the items with a rating: `disagreement` in units of
      what chance would give (0 none, 1 as by chance; None below two ratings or without variation),
      `gap` = highest minus lowest rating, in steps of the scale where ratings are words
    - `warnings`: `{code, message, ...}` with code `low_n`, `scale_shift`, `paradox`,
      `disconnected_design`, `unpaired_ratings`, `constant_annotator`, `looks_missing`
    """
    coded = code(table, level, order)
    return {"level": level, "labels": list(coded.labels), "b": b, "seed": seed}
