"""What `agreement` answers: counts, degenerate tables, warnings, pairs, annotators, items."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from medbench.scoring.agreement import RatingsTable, reading, summary
from medbench.scoring.agreement.icc import icc
from tests.scoring.ratings import as_floats

CONTRACT = {
    "n_items",
    "n_annotators",
    "n_ratings",
    "n_pairable",
    "percent_agreement",
    "alpha",
    "icc",
    "pearson",
}
FORMS = ("ICC(1)", "ICC(k)", "ICC(A,1)", "ICC(A,k)", "ICC(C,1)", "ICC(C,k)")
RATING = st.one_of(st.none(), st.integers(1, 4))
TABLES = st.integers(1, 4).flatmap(
    lambda k: st.lists(st.lists(RATING, min_size=k, max_size=k), min_size=1, max_size=8)
)


def of(rows, level="ordinal", b=100, **options):
    return summary(RatingsTable.from_matrix(rows), level=level, b=b, **options)


def codes(found):
    return [warning["code"] for warning in found["warnings"]]


@settings(max_examples=80)
@given(TABLES, st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_any_table_has_an_answer_in_json(rows, level):
    found = of(rows, level, b=20)
    assert json.loads(json.dumps(found, allow_nan=False)) == json.loads(json.dumps(found))
    assert found.keys() >= CONTRACT
    for each in (found["alpha"], *(found["icc"][form] for form in FORMS), found["ac1"]):
        assert (each["value"] is None) <= (each["reason"] is not None)
        assert each["ci"] is not None or each["reason"] is not None
        if each["ci"]:
            low, high = each["ci"]
            assert low <= high
        assert each["value"] is None or each["value"] <= 1


@settings(max_examples=30)
@given(TABLES, st.randoms(use_true_random=False))
def test_neither_the_order_of_items_nor_of_annotators_matters(rows, chance):
    shuffled = chance.sample(rows, len(rows))
    columns = chance.sample(range(len(rows[0])), len(rows[0]))
    shuffled = [[row[column] for column in columns] for row in shuffled]
    for level in ("nominal", "ordinal", "interval"):
        first, second = of(rows, level, b=2), of(shuffled, level, b=2)
        for path in (("alpha", "value"), ("percent_agreement",), ("ac1", "value"), ("pearson", "mean")):
            a, b = first, second
            for step in path:
                a, b = a[step], b[step]
            assert a == (None if b is None else pytest.approx(b, abs=1e-9))
        for form in FORMS:
            a, b = first["icc"][form]["value"], second["icc"][form]["value"]
            assert a == (None if b is None else pytest.approx(b, abs=1e-7))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=3, max_size=12))
def test_consistency_of_two_raters_is_never_above_their_pearson(rows):
    found = of(rows, "interval", b=2)
    r, consistency = found["pearson"]["mean"], found["icc"]["ICC(C,1)"]["value"]
    if r is not None and consistency is not None and r > 0:
        assert consistency <= r + 1e-9


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=2, max_size=10))
def test_the_mean_of_k_ratings_is_spearman_brown_of_one(rows):
    forms = of(rows, "interval", b=2)["icc"]
    for single, mean in (("ICC(1)", "ICC(k)"), ("ICC(A,1)", "ICC(A,k)"), ("ICC(C,1)", "ICC(C,k)")):
        r, mean_r = forms[single]["value"], forms[mean]["value"]
        if r is not None and mean_r is not None and 1 + 2 * r > 1e-6:
            assert mean_r == pytest.approx(3 * r / (1 + 2 * r), abs=1e-6, rel=1e-6)


@settings(max_examples=40)
@given(TABLES, st.integers(1, 9), st.integers(2, 9))
def test_interval_coefficients_do_not_depend_on_origin_and_unit(rows, shift, unit):
    moved = [[None if r is None else unit * r + shift for r in row] for row in rows]
    first, second = of(rows, "interval", b=5), of(moved, "interval", b=5)
    for form in FORMS:
        a, b = first["icc"][form]["value"], second["icc"][form]["value"]
        assert a == (None if b is None else pytest.approx(b, abs=1e-7))
    a, b = first["alpha"]["value"], second["alpha"]["value"]
    assert a == (None if b is None else pytest.approx(b, abs=1e-9))


def test_counts():
    found = of([[1, 2, None], [None, None, None], [3, None, None], [2, 2, 2]])
    assert (found["n_items"], found["n_items_without_ratings"]) == (3, 1)
    assert (found["n_annotators"], found["n_ratings"], found["n_missing"]) == (3, 6, 3)
    assert found["n_pairable"] == 2
    assert found["ratings_per_item"] == pytest.approx(3 / (1 / 2 + 1 + 1 / 3))
    assert found["percent_agreement"] == 0.5


def test_the_seed_decides_and_is_told():
    rows = [[1, 2], [2, 2], [3, 1], [4, 4], [5, 4], [2, 2]]
    assert of(rows, seed=3) == of(rows, seed=3)
    assert of(rows, seed=3)["alpha"]["ci"] != of(rows, seed=4)["alpha"]["ci"]
    assert (of(rows, seed=3)["seed"], of(rows, b=50)["b"]) == (3, 50)


def test_one_rater_agrees_with_nobody():
    found = of([[1], [2], [3]])
    assert found["alpha"]["reason"] == "no_pairable_units"
    assert found["percent_agreement"] is None
    assert {found["icc"][form]["reason"] for form in FORMS} == {"fewer_than_2_raters"}
    assert found["pearson"] == {
        "mean": None,
        "fisher_mean": None,
        "n_pairs": 0,
        "n_excluded": 0,
        "mean_abs_bias": None,
        "reason": "no_pair",
    }


def test_one_item_has_an_alpha_without_interval():
    found = of([[1, 2]], "nominal")
    assert found["alpha"]["value"] == 0
    assert (found["alpha"]["ci"], found["alpha"]["reason"]) == (None, "fewer_than_2_items")
    assert "low_n" in codes(found)
    assert of([[1, 2]])["icc"]["ICC(A,1)"]["reason"] == "fewer_than_2_items"


def test_perfect_agreement_with_variance_is_1_without_width():
    for rows in ([[1, 1], [2, 2], [3, 3]], [[1, 1, None], [2, None, 2], [None, 3, 3], [5, 5, 5]]):
        found = of(rows, "interval")
        for estimate in (found["alpha"], *(found["icc"][form] for form in FORMS)):
            assert (estimate["value"], list(estimate["ci"])) == (1, [1, 1])


def test_raters_apart_by_a_constant_are_consistent_and_do_not_agree():
    rows = [[item + shift for shift in (0, 1, 3)] for item in (1, 4, 2, 8, 5, 7)]
    holes = [[None if (i + j) % 4 == 3 else r for j, r in enumerate(row)] for i, row in enumerate(rows)]
    for table, method in ((rows, "anova"), (holes, "reml")):
        found = of(table, "interval", b=500)
        assert found["icc"]["method"] == method
        assert (found["icc"]["ICC(C,1)"]["value"], *found["icc"]["ICC(C,1)"]["ci"]) == (1, 1, 1)
        agreement = found["icc"]["ICC(A,1)"]
        item, rater = np.var((1, 4, 2, 8, 5, 7), ddof=1), np.var((0, 1, 3), ddof=1)
        assert agreement["value"] == pytest.approx(item / (item + rater))
        assert agreement["ci"][0] < agreement["value"] < agreement["ci"][1] < 1
        assert "scale_shift" in codes(found)
        (warning,) = (each for each in found["warnings"] if each["code"] == "scale_shift")
        assert warning["rater_means"] == found["icc"]["rater_means"]


def test_a_denominator_near_zero_gives_no_number():
    """pingouin 0.7 prints ICC(A,k) = 5.0 for such tables."""
    found = of([[1, 5], [5, 1], [2, 4], [4, 2], [3, 3]], "interval")["icc"]
    assert (found["ICC(A,k)"]["value"], found["ICC(A,k)"]["reason"]) == (None, "unstable_denominator")
    assert (found["ICC(k)"]["value"], found["ICC(k)"]["reason"]) == (None, "unstable_denominator")
    assert found["ICC(C,1)"]["value"] == pytest.approx(-1)


def test_raters_without_a_link_have_no_icc():
    found = of([[1, 2, None, None], [2, 2, None, None], [None, None, 3, 4], [None, None, 1, 2]], "interval")
    assert {found["icc"][form]["reason"] for form in FORMS} == {"disconnected_design"}
    assert "disconnected_design" in codes(found)
    assert found["alpha"]["value"] is not None


def test_a_difference_in_an_unpaired_cell_is_no_variation():
    found = of([[1, 1], [1, 1], [5, None]], "interval")
    assert found["percent_agreement"] == 1
    assert found["alpha"]["reason"] == "no_variation"
    assert found["icc"]["ICC(A,1)"]["reason"] == "no_variance"
    assert "unpaired_ratings" in codes(found)


def test_too_many_undefined_resamples_leave_no_interval():
    """One item in four differs: in (3/4)^4 of the resamples nothing varies."""
    found = of([[1, 1], [1, 1], [1, 1], [1, 2]], "nominal", b=500)
    assert found["alpha"]["value"] is not None
    assert (found["alpha"]["ci"], found["alpha"]["reason"]) == (None, "undefined_resamples")
    assert found["alpha"]["undefined"] == pytest.approx(0.75**4, abs=0.07)


def test_categories_have_no_icc_and_words_no_numbers():
    found = of([["a", "b"], ["b", "b"], ["c", "c"]], "nominal")
    assert {found["icc"][form]["reason"] for form in FORMS} == {"level_nominal"}
    assert [found["alphas"][level]["reason"] for level in ("ordinal", "interval", "ratio")] == [
        "order_needed",
        "not_numeric",
        "not_numeric",
    ]
    assert (found["ac2"], found["pearson"]["mean"], found["pairs"][0]["bias"]) == (None, None, None)
    ordered = of([["a", "b"], ["b", "b"], ["c", "a"]], "ordinal", order=["a", "b", "c"])
    assert ordered["alpha"]["value"] is not None
    assert ordered["icc"]["ICC(A,1)"]["reason"] == "not_numeric"
    assert [item["gap"] for item in ordered["items"]] == [1, 0, 2]
    assert of([[-1, 1], [0, 0]], "interval")["alphas"]["ratio"]["reason"] == "negative_rating"


def test_pairs_tell_agreement_and_bias():
    rows = [[1, 2, None], [2, 3, 2], [3, 4, 1], [4, 4, None]]
    found = of(rows, "interval")
    first, _, last = found["pairs"]
    assert (first["a"], first["b"], first["n"], first["agreement"], first["bias"]) == (
        "1",
        "2",
        4,
        0.25,
        0.75,
    )
    assert (last["a"], last["b"], last["n"], last["reason"]) == ("2", "3", 2, "too_few_points")
    assert found["pearson"]["n_excluded"] == 2
    assert found["pearson"]["mean_abs_bias"] == pytest.approx((0.75 + 1 + 2) / 3)


def test_the_mean_through_z_is_undefined_for_a_perfect_pair():
    found = of([[1, 1, 2], [2, 3, 4], [3, 2, 6]], "interval")["pearson"]
    assert found["mean"] == pytest.approx(2 / 3)
    assert (found["fisher_mean"], found["reason"]) == (None, "perfect_pair")
    found = of([[1, 1, 2], [2, 3, 4], [3, 2, 7], [5, 4, 1]], "interval")
    rs = [pair["pearson"] for pair in found["pairs"]]
    assert found["pearson"]["fisher_mean"] == pytest.approx(np.tanh(np.mean(np.arctanh(rs))))


def test_confusion_counts_pairs_and_coincidences_sum_to_ratings():
    confusion = of([[1, 2, 2], [1, 1, None], [3, None, None]], "nominal")["confusion"]
    assert confusion["labels"] == ["1", "2", "3"]
    assert confusion["counts"] == [[1, 2, 0], [2, 1, 0], [0, 0, 0]]
    assert confusion["coincidences"] == [[2, 1, 0], [1, 1, 0], [0, 0, 0]]
    many = of([[i, i + 1] for i in range(60)], "interval", b=2)["confusion"]
    assert (many["counts"], many["reason"]) == (None, "too_many_labels")


def test_an_annotator_beside_the_others():
    rows = [[1, 1, 1], [2, 2, 5], [3, 3, 1], [4, 4, 5], [1, 1, 4]]
    found = of(rows, "interval")
    odd = found["annotators"][2]
    assert (odd["annotator"], odd["n"], odd["n_shared"], odd["mean"]) == ("3", 5, 5, pytest.approx(3.2))
    assert odd["agreement"] == pytest.approx(2 / 10)
    assert odd["bias"] == pytest.approx(3.2 - 2.2)
    assert odd["alpha_without"] == 1
    assert found["annotators"][0]["alpha_without"] < found["alpha"]["value"]


def test_items_are_sortable_by_their_disagreement():
    items = of([[1, 1], [1, 4], [2, 3], [4, None]], "interval")["items"]
    assert [item["item"] for item in items] == ["1", "2", "3", "4"]
    assert [item["gap"] for item in items] == [0, 3, 1, 0]
    assert [item["n"] for item in items] == [2, 2, 2, 1]
    disagreements = [item["disagreement"] for item in items]
    assert disagreements[0] == 0 < disagreements[2] < disagreements[1]
    assert disagreements[3] is None
    mean = np.mean(disagreements[:3])
    assert mean == pytest.approx(1 - of([[1, 1], [1, 4], [2, 3]], "interval")["alpha"]["value"])


def test_a_rater_who_always_says_the_same_is_told():
    found = of([[3, i % 4] for i in range(40)], "interval", b=5)
    (warning,) = (each for each in found["warnings"] if each["code"] == "constant_annotator")
    assert warning["annotators"] == ["1"]
    assert "“" not in warning["message"]  # names are not for everybody
    assert "low_n" not in codes(found)


def test_readings_are_those_of_their_authors():
    assert [reading.krippendorff(value) for value in (None, 0.6669, 0.667, 0.7999, 0.8)] == [
        None,
        "unreliable",
        "tentative",
        "tentative",
        "reliable",
    ]
    assert [reading.koo_li(value) for value in (None, 0.49, 0.5, 0.75, 0.9, 0.91)] == [
        None,
        "poor",
        "moderate",
        "good",
        "good",
        "excellent",
    ]


def test_four_times_the_items_halve_the_interval():
    assert reading.more_items(50, (0.5, 0.9), 0.1) == 150
    assert reading.more_items(50, (0.5, 0.9), 0.3) == 0


def test_the_icc_of_a_large_offset_keeps_its_digits():
    rows = np.random.default_rng(1).normal(size=(30, 4))
    near, far = (icc(as_floats(rows + shift), resamples=2, seed=1).forms for shift in (0, 1e6))
    for form, estimate in near.items():
        assert far[form].value == pytest.approx(estimate.value, abs=1e-8)
