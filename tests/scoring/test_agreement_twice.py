"""Our coefficients against loops over the definitions, and against the packages that the field uses."""

import numpy as np
import pytest

from medbench.scoring.agreement import RatingsTable, summary
from medbench.scoring.agreement.alpha import alpha, alphas, pairable, patterns_of, resampled
from medbench.scoring.agreement.chance import ac, percent_agreement
from medbench.scoring.agreement.icc import icc
from medbench.scoring.agreement.pairs import pairs
from medbench.scoring.agreement.reml import fit, sums_of
from medbench.scoring.estimate import resample_weights
from tests.scoring import slow_agreement as slow
from tests.scoring.ratings import LEVELS, as_floats, coded, random_table

TABLES = 500
CLOSE = 1e-10


@pytest.fixture
def tables():
    chance = np.random.default_rng(20_251)
    return [random_table(chance) for _ in range(TABLES)]


def same(found, expected):
    return found == (None if expected is None else pytest.approx(expected, abs=CLOSE))


def test_alpha_and_agreement_equal_the_loops(tables):
    defined = 0
    for rows in tables:
        table = coded(rows)
        assert same(percent_agreement(table.counts), slow.percent_agreement(rows)), rows
        for level in LEVELS:
            assert same(alpha(table, level).value, slow.alpha(rows, level)), (level, rows)
            assert same(ac(table, level, resamples=2, seed=1).value, slow.ac(rows, level)), (level, rows)
        defined += alpha(table, "nominal").value is not None
    assert TABLES / 2 < defined < TABLES  # of both kinds


def test_pearson_equals_the_loop(tables):
    for rows in tables:
        names = [str(i) for i in range(len(rows[0]))]
        found = [pair.pearson for pair in pairs(coded(rows), names)]
        for r, expected in zip(found, slow.pair_pearsons(rows), strict=True):
            assert same(r, expected), rows


def test_icc_of_complete_tables_equals_shrout_and_fleiss():
    chance = np.random.default_rng(5)
    n_defined = 0
    for _ in range(TABLES):
        rows = random_table(chance, holes=False)
        found = icc(as_floats(rows), resamples=2, seed=1)
        assert found.method == "anova"
        values = {form: estimate.value for form, estimate in found.forms.items()}
        if None in values.values():
            continue
        n_defined += 1
        for form, expected in slow.iccs(rows).items():
            assert values[form] == pytest.approx(expected, abs=CLOSE, rel=CLOSE), (form, rows)
    assert n_defined > TABLES / 2


def test_reml_is_where_the_dense_likelihood_is_highest(tables):
    """Its slopes there are 0 (or lead to a variance below 0), and no ratios of a grid do better."""
    grid = [(a, b, 1.0) for a in (1e-4, 0.3, 100) for b in (1e-4, 0.3, 100)]
    n_seen = 0
    for rows in tables:
        ratings = as_floats(rows)
        ratings = ratings[~np.isnan(ratings).all(axis=1)]
        if not len(ratings) or np.nanmin(ratings) == np.nanmax(ratings):
            continue
        components = fit(sums_of(ratings, np.ones((1, len(ratings)))))
        variances = [float(each[0]) for each in components]
        if np.isnan(variances).any():  # nothing pairable, or ratings are exactly item plus rater
            continue
        dense = slow.Dense(rows)
        n_seen += 1
        for size, score in zip(variances, dense.scores(variances), strict=True):
            assert size == 0 or abs(score) < 1e-6, (rows, variances)
        best = dense.deviance(variances)
        for ratio in grid if n_seen % 4 == 0 else ():
            _, _, p = dense.projection(ratio)
            error = float(dense.y @ p @ dense.y) / (len(dense.y) - 1)
            assert dense.deviance([each * error for each in ratio]) > best - 1e-9, (rows, ratio)
    assert n_seen > TABLES / 3


def test_icc_with_holes_are_shares_of_the_components(tables):
    n_seen = 0
    for rows in tables[:100]:
        ratings = as_floats(rows)
        ratings = ratings[~np.isnan(ratings).all(axis=1)]
        found = icc(ratings, resamples=1, seed=1)
        if found.method == "anova" or found.forms["ICC(A,1)"].value is None:
            continue
        item, rater, error = (float(each[0]) for each in fit(sums_of(ratings, np.ones((1, len(ratings))))))
        if np.isnan(error):
            continue
        n_seen += 1
        k = found.k
        single, consistency = item / (item + rater + error), item / (item + error)
        for form, value in {
            "ICC(A,1)": single,
            "ICC(A,k)": k * single / (1 + (k - 1) * single),
            "ICC(C,1)": consistency,
            "ICC(C,k)": k * consistency / (1 + (k - 1) * consistency),
        }.items():
            assert found.forms[form].value == pytest.approx(value, abs=1e-9), (form, rows)
    assert n_seen > 20


def test_reml_of_a_complete_table_is_the_analysis_of_variance():
    """Where no component is below 0."""
    chance = np.random.default_rng(8)
    n_seen = 0
    for _ in range(200):
        rows = as_floats(random_table(chance, holes=False))
        forms = icc(rows, resamples=1, seed=1).forms
        components = fit(sums_of(rows, np.ones((1, len(rows)))))
        item, rater, error = (float(each[0]) for each in components)
        if forms["ICC(A,1)"].value is None or not item or not rater or np.isnan(error):
            continue
        n_seen += 1
        assert forms["ICC(A,1)"].value == pytest.approx(item / (item + rater + error), abs=1e-8)
        assert forms["ICC(C,1)"].value == pytest.approx(item / (item + error), abs=1e-8)
    assert n_seen > 40


def expanded(rows, drawn):
    return [row for row, times in zip(rows, drawn, strict=True) for _ in range(int(times))]


@pytest.mark.parametrize("level", LEVELS)
def test_the_vectorised_bootstrap_equals_the_loop_on_the_same_resamples(level):
    chance = np.random.default_rng(2)
    for _ in range(20):
        rows = random_table(chance)
        table = coded(rows)
        counts = pairable(table.counts)
        if len(counts) < 2:
            continue
        patterns = patterns_of(counts)
        by_pattern = [rows[i] for i in first_rows(table.counts, patterns.counts)]
        (weights,) = resample_weights(patterns.times, resamples=15, seed=4)
        found = resampled(patterns, weights, [level], table.values)[level]
        for value, drawn in zip(found, weights, strict=True):
            expected = slow.alpha(expanded(by_pattern, drawn), level)
            assert np.isnan(value) if expected is None else value == pytest.approx(expected, abs=1e-12)


def first_rows(counts, patterns):
    """Where each pattern stands first."""
    return [int(np.flatnonzero((counts == pattern).all(axis=1))[0]) for pattern in patterns]


def test_resampled_reml_is_the_fit_of_the_resampled_table():
    rows = as_floats([[1, 2, None], [3, None, 3], [None, 5, 4], [2, 2, 3], [6, 5, None], [4, None, 1]])
    (weights,) = resample_weights(np.ones(len(rows), dtype=int), resamples=20, seed=1)
    together = fit(sums_of(rows, weights))
    for i, drawn in enumerate(weights):
        table = np.repeat(rows, drawn.astype(int), axis=0)
        alone = fit(sums_of(table, np.ones((1, len(table)))))
        for found, expected in zip(together, alone, strict=True):
            np.testing.assert_allclose(found[i], expected[0], atol=1e-7)


def test_drawing_patterns_draws_items():
    """Mean and variance of how often an item is drawn are those of drawing with replacement."""
    weights = np.concatenate(list(resample_weights(np.array([3, 1, 6]), resamples=4_000, seed=2)))
    assert np.all(weights.sum(axis=1) == 10)
    assert weights.mean(axis=0) == pytest.approx([3, 1, 6], abs=0.1)
    assert weights.var(axis=0) == pytest.approx([2.1, 0.9, 2.4], rel=0.1)


def test_memory_is_bounded_by_drawing_in_parts(monkeypatch):
    monkeypatch.setattr("medbench.scoring.estimate.CHUNK", 30)
    parts = list(resample_weights(np.ones(10, dtype=int), resamples=8, seed=1, cells=15))
    assert [len(part) for part in parts] == [2, 2, 2, 2]
    rows = [[1, 2], [2, 2], [3, 1], [4, 4], [5, 4]]
    found = summary(RatingsTable.from_matrix(rows), level="ordinal", b=50)
    assert found["alpha"]["ci"]


def test_alpha_equals_the_krippendorff_package(tables):
    import krippendorff

    n_seen = 0
    for rows in tables[:120]:
        data = as_floats(rows).T
        for level in LEVELS:
            expected = slow.alpha(rows, level)
            if expected is None:
                continue
            n_seen += 1
            theirs = krippendorff.alpha(reliability_data=data, level_of_measurement=level)
            assert alpha(coded(rows), level).value == pytest.approx(theirs, abs=CLOSE)
    assert n_seen > 100


@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:pandas.errors.Pandas4Warning")
def test_icc_with_intervals_equals_pingouin():
    """Their intervals are rounded to two decimals."""
    import pandas as pd
    import pingouin

    names = {"ICC(1)": "ICC(1,1)", "ICC(k)": "ICC(1,k)"}
    chance = np.random.default_rng(4)
    for n, k in ((6, 4), (20, 2), (9, 5)):
        ratings = chance.normal(0, 1, (n, 1)) + chance.normal(0, 0.4, (1, k)) + chance.normal(0, 1, (n, k))
        long = pd.DataFrame(
            [(i, j, value) for (i, j), value in np.ndenumerate(ratings)], columns=["item", "rater", "y"]
        )
        theirs = pingouin.intraclass_corr(long, "item", "rater", "y").set_index("Type")
        for form, ours in icc(ratings, resamples=2, seed=1).forms.items():
            row = theirs.loc[names.get(form, form)]
            assert ours.value == pytest.approx(row["ICC"], abs=CLOSE)
            assert ours.ci == pytest.approx(tuple(row["CI95"]), abs=0.0051)


def test_reml_equals_statsmodels():
    """One group of all ratings, with components for items and raters."""
    import pandas as pd
    from statsmodels.regression.mixed_linear_model import MixedLM

    chance = np.random.default_rng(6)
    ratings = chance.normal(0, 2, (25, 1)) + chance.normal(0, 1, (1, 5)) + chance.normal(0, 1, (25, 5))
    ratings[chance.random(ratings.shape) < 0.3] = np.nan
    rows = [(i, j, v) for (i, j), v in np.ndenumerate(ratings) if not np.isnan(v)]
    data = pd.DataFrame(rows, columns=["item", "rater", "y"]).assign(all=1)
    model = MixedLM.from_formula(
        "y ~ 1", groups="all", vc_formula={"item": "0 + C(item)", "rater": "0 + C(rater)"}, data=data
    )
    theirs = model.fit(reml=True, method="lbfgs")
    ours = fit(sums_of(ratings, np.ones((1, len(ratings)))))
    assert ours.item[0] == pytest.approx(theirs.vcomp[0], rel=1e-4)
    assert ours.rater[0] == pytest.approx(theirs.vcomp[1], rel=1e-4)
    assert ours.error[0] == pytest.approx(theirs.scale, rel=1e-4)


def test_all_levels_share_their_resamples():
    table = coded([[1, 2], [2, 2], [3, 1], [4, 4], [5, 4], [2, 2]])
    together = alphas(table, LEVELS, resamples=300, seed=5)
    assert together.keys() == set(LEVELS)
    for level in LEVELS:
        assert alphas(table, [level], resamples=300, seed=5)[level] == together[level]
