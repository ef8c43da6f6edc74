"""What counts as a rating, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from medbench.errors import InvalidInput
from medbench.scoring.agreement import RatingsTable, summary
from medbench.scoring.agreement.table import code
from tests.scoring.ratings import coded


def refused(work):
    with pytest.raises(InvalidInput) as refusal:
        work()
    return refusal.value.code, refusal.value.message


def test_items_and_annotators_keep_their_order():
    table = RatingsTable.from_rows([("b", "Chen", 1), ("a", "Bruno", 2), ("b", "Bruno", "")])
    assert (table.items, table.annotators) == (("b", "a"), ("Chen", "Bruno"))
    assert table.cells.tolist() == [[1.0, None], [None, 2.0]]


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, "", "  ", pd.NA, np.float32("nan")])
def test_missing_is_missing_however_it_is_written(missing):
    table = coded([[1, missing], [2, 2]])
    assert table.codes.tolist() == [[0, -1], [1, 1]]


def test_numbers_and_their_texts_are_one_rating():
    """A spreadsheet writes 1.0 in a column with holes and 1 in one without."""
    table = coded([["1", 1.0], ["2.0", "2"], [True, np.int64(2)]])
    assert table.labels == ("1", "2")
    assert table.codes.tolist() == [[0, 0], [1, 1], [0, 1]]
    assert coded([["1", "1.0"], ["a", "1"]], "nominal").labels == ("1", "1.0", "a")  # words, then


def test_the_word_nan_is_a_category_and_looks_missing():
    found = summary(RatingsTable.from_matrix([["nan", "nan"], ["x", "y"]]), level="nominal", b=20)
    assert found["labels"] == ["nan", "x", "y"]
    assert "looks_missing" in [warning["code"] for warning in found["warnings"]]


def test_nullable_integers_are_accepted():
    series = pd.array([1, None, 3], dtype="Int64")
    assert coded([[a, b] for a, b in zip(series, [1, 2, 3], strict=True)]).codes.tolist() == [
        [0, 0],
        [-1, 1],
        [2, 2],
    ]


def test_a_rating_twice_is_an_error():
    rows = [("t1", "Bruno", 1), ("t1", "Chen", 1), ("t1", "Bruno", 1)]
    kind, message = refused(lambda: RatingsTable.from_rows(rows))
    assert kind == "duplicate_rating"
    assert "“Bruno” rated “t1” twice" in message


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("rating", [float("inf"), -float("inf"), "1e999"])
def test_infinite_ratings_are_errors(level, rating):
    assert refused(lambda: coded([[rating, 1]], level))[0] == "infinite_rating"


def test_a_misspelt_level_names_the_choices():
    kind, message = refused(lambda: coded([[1, 2]], "intervall"))
    assert kind == "unknown_level"
    assert "nominal, ordinal, interval, ratio" in message


@pytest.mark.parametrize("level", ["interval", "ratio"])
def test_words_are_no_numbers(level):
    kind, message = refused(lambda: coded([["1", "two"], ["2", "3"]], level))
    assert kind == "not_a_number"
    assert "“two” of “1” by “2” is not a number" in message
    assert refused(lambda: coded([["-inf", "1"]], level))[0] == "infinite_rating"


def test_negative_ratings_have_no_ratio():
    assert refused(lambda: coded([[-1, 2]], "ratio"))[0] == "negative_rating"
    assert coded([[-1, 2]], "interval").labels == ("-1", "2")


def test_ordinal_words_need_their_order():
    rows = [["low", "high"], ["middle", "middle"]]
    assert refused(lambda: coded(rows, "ordinal"))[0] == "order_needed"
    table = coded(rows, "ordinal", ["low", "middle", "high"])
    assert table.codes.tolist() == [[0, 2], [1, 1]]


def test_the_order_decides_not_the_spelling():
    """Sorted as text, 10 would stand between 1 and 2, and high below low."""
    rows = [["low", "low"], ["middle", "high"], ["high", "high"], ["low", "middle"]]
    right = summary(RatingsTable.from_matrix(rows), level="ordinal", order=["low", "middle", "high"], b=20)
    wrong = summary(RatingsTable.from_matrix(rows), level="ordinal", order=["high", "low", "middle"], b=20)
    assert right["alpha"]["value"] > wrong["alpha"]["value"]
    assert coded([["10", "2"], ["1", "2"]], "ordinal").labels == ("1", "2", "10")


def test_an_order_holds_every_rating_once():
    rows = [["a", "b"]]
    assert refused(lambda: coded(rows, "ordinal", ["a", "c"])) == (
        "not_in_order",
        "The rating “b” of “1” by “2” is not in the order.",
    )
    assert refused(lambda: coded(rows, "ordinal", ["a", "b", "a"]))[0] == "bad_order"
    assert coded([["1", "3"]], "ordinal", ["1", "2.0", 3]).labels == ("1", "2", "3")


def test_labels_of_the_scale_that_nobody_gave_count_for_chance():
    rows = [[1, 1], [2, 2], [1, 2]]
    few = summary(RatingsTable.from_matrix(rows), level="nominal", b=20)
    many = summary(RatingsTable.from_matrix(rows), level="nominal", order=[1, 2, 3, 4], b=20)
    assert many["ac1"]["value"] > few["ac1"]["value"]
    assert many["alpha"] == few["alpha"]
    assert many["confusion"]["labels"] == ["1", "2", "3", "4"]


def test_a_measure_with_thousands_of_values_is_refused_clearly():
    rows = [[i / 7, i / 3] for i in range(600)]
    kind, message = refused(lambda: code(RatingsTable.from_matrix(rows), "interval"))
    assert kind == "too_many_ratings"
    assert "round them" in message


def test_the_table_of_some_annotators():
    table = RatingsTable.from_rows([("a", "Bruno", 1), ("a", "Chen", 2), ("a", "Dara", 3)])
    assert table.of(["Dara", "Bruno"]).cells.tolist() == [[3.0, 1.0]]
