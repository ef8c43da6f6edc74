"""Every golden value of agreement, and every reference value of the published ratings tables."""

import csv
import json
from decimal import Decimal

import numpy as np
import pytest

from medbench.formats.ratings import read_ratings
from medbench.scoring.agreement import RatingsTable, summary
from medbench.scoring.agreement.alpha import alpha
from medbench.scoring.agreement.chance import cohen, percent_agreement
from medbench.scoring.agreement.icc import icc
from medbench.scoring.agreement.pairs import mean_pearson, pairs
from medbench.scoring.agreement.reml import fit, sums_of
from medbench.scoring.correlation import correlation
from medbench.scoring.humans import audit
from medbench.scoring.proportion import percent
from tests.scoring.ratings import as_floats, coded

SHROUT_FLEISS = {
    "ICC(1,1)": "ICC(1)",
    "ICC(2,1)": "ICC(A,1)",
    "ICC(3,1)": "ICC(C,1)",
    "ICC(1,k)": "ICC(k)",
    "ICC(2,k)": "ICC(A,k)",
    "ICC(3,k)": "ICC(C,k)",
}


def iccs(given):
    return icc(as_floats(given["ratings"]), resamples=200, seed=1).forms


def golden_icc(given):
    found = iccs(given)
    single = found["ICC(A,1)"]
    values = {form: estimate.value for form, estimate in found.items()}
    return values | {"ci95": single.ci and list(single.ci), "reason": single.reason}


def golden_reml(given):
    ratings = as_floats(given["ratings"])
    components = fit(sums_of(ratings, np.ones((1, len(ratings)))))
    complete = ratings[~np.isnan(ratings).any(axis=1)]
    return {form: estimate.value for form, estimate in iccs(given).items()} | {
        "var_item": components.item[0],
        "var_rater": components.rater[0],
        "var_resid": components.error[0],
        "listwise_ICC(A,1)": icc(complete, resamples=10, seed=1).forms["ICC(A,1)"].value,
    }


def golden_alpha(given):
    table = coded(np.array(given["data"], dtype=object).T.tolist(), given["level"])
    found = alpha(table, given["level"])
    return {
        "alpha": found.value,
        "percent_agreement": percent_agreement(table.counts),
        "reason": found.reason,
    }


def golden_correlation(given):
    x, y = (np.array(given[name], dtype=float) for name in "xy")
    return {
        "pearson": correlation("pearson", x, y).value,
        "spearman": correlation("spearman", x, y).value,
        "kendall_b": correlation("kendall", x, y).value,
        "reason": correlation("pearson", x, y).reason,
    }


def golden_pearson(given):
    table = coded(np.array(given["raters"]).T.tolist())
    return {"mean": mean_pearson(pairs(table, ["1", "2", "3"])).mean}


def golden_audit(given):
    counts = [given[name] for name in "ABC"]
    approval = audit(*counts).approval
    return {
        "pct": [percent(count, sum(counts)) for count in counts],
        "approval_pct": percent(sum(counts[:2]), sum(counts)),
        "wilson95": list(approval.ci),
    }


METRICS = {
    "icc": golden_icc,
    "icc_ci95": lambda given: {form: list(estimate.ci) for form, estimate in iccs(given).items()},
    "icc_reml": golden_reml,
    "krippendorff_alpha": golden_alpha,
    "correlation": golden_correlation,
    "mean_pairwise_pearson": golden_pearson,
    "audit": golden_audit,
}


def test_every_golden_value(testdata):
    cases = json.loads((testdata / "golden/golden_metrics.json").read_text())["cases"]
    groups = {"icc", "kripp", "corr", "audit"}
    seen = set()
    for case in cases:
        group = case["id"].split("-")[0]
        if group not in groups:
            continue
        found, expected = METRICS[case["metric"]](case["input"]), case["expected"]
        if not isinstance(expected, dict):
            expected = {next(iter(found)): expected}
        for name, value in expected.items():
            is_code = isinstance(value, str | None)
            wanted = value if is_code else pytest.approx(value, abs=max(case["tol"], 1e-9))
            assert found[name] == wanted, (case["id"], name)
        seen.add(case["metric"])
    assert seen == METRICS.keys()


def test_reml_meets_lme4_to_the_last_printed_digit(testdata):
    """R psych::ICC with lmer, as quoted in the golden file."""
    rows = [[None, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = iccs({"ratings": rows})
    assert found["ICC(A,1)"].value == pytest.approx(0.29402229, abs=1e-6)
    assert found["ICC(C,1)"].value == pytest.approx(0.70458986, abs=1e-6)
    assert found["ICC(A,k)"].value == pytest.approx(0.62489233, abs=1e-6)
    rows[3][2] = rows[5][3] = None
    assert iccs({"ratings": rows})["ICC(A,1)"].value == pytest.approx(0.30532747, abs=2e-6)


@pytest.fixture
def tables(testdata):
    return testdata / "data/ratings"


def table_of(folder, name):
    if name == "wine_judges_long.csv":
        text = (folder / name).read_text().replace("Wine,Judge,Scores", "item,annotator,rating")
        return RatingsTable.from_rows(read_ratings(text.encode()))
    if "contingency" in name:
        return from_counts((folder / name).read_text().splitlines())
    return RatingsTable.from_rows(read_ratings((folder / name).read_bytes()))


def from_counts(lines):
    """A table of two annotators from how often they gave each pair of labels."""
    (_, *labels), *rows = csv.reader(lines)
    pairs_ = [
        (row[0], label)
        for row in rows
        for label, n in zip(labels, row[1:], strict=True)
        for _ in range(int(n))
    ]
    return RatingsTable.from_matrix(pairs_)


def light(found):
    kappas = [pair["kappa"] for pair in found["pairs"]]
    return sum(kappas) / len(kappas)


STATISTICS = {
    "Gwet AC1": lambda found: found["ac1"]["value"],
    "percent agreement": lambda found: found["percent_agreement"],
    "Fleiss kappa (generalised, missing values allowed)": lambda found: found["kappas"]["fleiss"],
    "Fleiss kappa (30 x 6)": lambda found: found["kappas"]["fleiss"],
    "Conger kappa": lambda found: found["kappas"]["conger"],
    "Cohen kappa": lambda found: found["kappas"]["conger"],
    "Brennan-Prediger": lambda found: found["kappas"]["brennan_prediger"],
    "Light kappa (mean pairwise Cohen)": light,
    "Cohen kappa rater1-rater2 unweighted": lambda found: found["pairs"][0]["kappa"],
    "Cohen kappa rater1-rater2 quadratic weights": lambda found: found["pairs"][0]["kappa_quadratic"],
    **{
        f"Krippendorff alpha {level}": lambda found, level=level: found["alphas"][level]["value"]
        for level in ("nominal", "ordinal", "interval", "ratio")
    },
    **{
        theirs: lambda found, ours=ours: found["icc"][ours]["value"] for theirs, ours in SHROUT_FLEISS.items()
    },
}


def published(text):
    """A printed number, within half a unit of its last digit."""
    digits = -Decimal(text).as_tuple().exponent
    return pytest.approx(float(text), abs=0.5 * 10**-digits + 1e-12)


def test_every_reference_value_of_the_ratings_tables(tables):
    found, n_checked = {}, 0
    for row in csv.DictReader((tables / "reference_values.csv").read_text().splitlines()):
        name = row["file"]
        if name.startswith("made_up"):
            continue
        if name not in found:
            words = "irr_diagnoses" in name or "contingency" in name
            found[name] = summary(table_of(tables, name), level="nominal" if words else "ordinal", b=10)
        value = STATISTICS[row["statistic"]](found[name])
        for number in filter(None, (row["published_value"], row["recomputed_value"])):
            assert value == published(number), (name, row["statistic"])
            n_checked += 1
    assert n_checked > 60


def test_without_variation_every_coefficient_is_undefined(tables):
    found = summary(table_of(tables, "made_up_no_variation.csv"), level="ordinal", b=10)
    assert found["percent_agreement"] == 1
    for coefficient in (*found["alphas"].values(), found["ac1"], found["ac2"]):
        assert coefficient == {"value": None, "ci": None, "reason": "no_variation", "undefined": 0}
    for form in SHROUT_FLEISS.values():
        assert (found["icc"][form]["value"], found["icc"][form]["reason"]) == (None, "no_variance")
    assert set(found["kappas"].values()) == {None}
    assert found["pearson"]["mean"] is None


def test_the_kappa_paradox_is_named_with_ac1_beside_it(tables):
    table = table_of(tables, "made_up_kappa_paradox.csv")
    found = summary(table, level="nominal", b=200)
    assert found["percent_agreement"] == pytest.approx(0.9)
    assert found["pairs"][0]["kappa"] == pytest.approx(-0.0526, abs=5e-5)
    assert found["alpha"]["value"] < 0
    assert found["ac1"]["value"] > 0.85
    (warning,) = found["warnings"]
    assert (warning["code"], warning["label"], warning["share"]) == ("paradox", "1", pytest.approx(0.95))


def test_letters_with_blanks_for_missing_are_read(tables):
    lines = (tables / "gwet_four_raters_letters_missing.csv").read_text().splitlines()
    data = "\n".join(line.split(",", 1)[1] for line in lines).encode()
    table = RatingsTable.from_rows(read_ratings(data))
    found = summary(table, level="nominal", b=10)
    assert (found["n_items"], found["n_ratings"], found["n_pairable"]) == (14, 49, 13)
    assert found["labels"] == list("abcde")


def test_cohen_by_hand():
    """3 of 5 equal; chance .4 x .4 + .6 x .6 = .52."""
    table = coded([[1, 1], [1, 2], [2, 1], [2, 2], [2, 2]], "nominal")
    assert cohen(table, 0, 1) == pytest.approx((0.6 - 0.52) / 0.48)
    assert cohen(coded([[1, None], [None, 2]], "nominal"), 0, 1) is None
