"""Ratings tables in CSV: what is read, and what is refused with the line to mend."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medbench.formats import csv_text
from medbench.formats import ratings as ratings_module
from medbench.formats.problems import Refused
from medbench.formats.ratings import read_ratings

WIDE = "item,Bruno,Chen\nt1,4,5\nt2,,3\n"
LONG = "item,annotator,rating\nt1,Bruno,4\nt1,Chen,5\nt2,Bruno,\nt2,Chen,3\n"
ROWS = [("t1", "Bruno", "4"), ("t1", "Chen", "5"), ("t2", "Bruno", ""), ("t2", "Chen", "3")]


def read(text):
    return read_ratings(text.encode(), file="ratings.csv")


def problems(data):
    with pytest.raises(Refused) as refusal:
        read_ratings(data if isinstance(data, bytes) else data.encode(), file="ratings.csv")
    return [(problem.code, problem.line) for problem in refusal.value.problems]


def message(text):
    with pytest.raises(Refused) as refusal:
        read(text)
    return refusal.value.problems.shown[0].message


@pytest.mark.parametrize("text", [WIDE, LONG])
def test_both_forms_say_the_same(text):
    assert read(text) == ROWS


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + WIDE,
        WIDE.replace("\n", "\r\n"),
        WIDE.replace("item", "unit"),
        WIDE.replace("Bruno", " Bruno "),
        WIDE + "\n,,\n  \n",
        '"item","Bruno","Chen"\n"t1","4","5"\n"t2","","3"',
        LONG.replace("item,annotator,rating", "Item, Annotator ,RATING"),
    ],
)
def test_what_spreadsheets_do_is_read(text):
    assert read(text) == ROWS


def test_the_columns_of_a_long_table_stand_in_any_order():
    assert read("rating,item,annotator\n4,t1,Bruno\n") == [("t1", "Bruno", "4")]


def test_text_over_several_lines_counts_its_lines():
    text = 'item,annotator,rating\n"t\n1",Bruno,4\nt2,Bruno,5\nt2,Bruno,6\n'
    assert problems(text) == [("duplicate_rating", 5)]


def test_a_rating_twice_names_both_lines():
    assert problems(LONG + "t1,Chen,1\n") == [("duplicate_rating", 6)]
    assert message(LONG + "t1,Chen,1\n") == "“Chen” rated “t1” on line 3 already. Keep one of the two."
    assert problems(WIDE + "t1,1,1\n") == [("duplicate_rating", 4)]
    assert "“t1” stands on line 2 already" in message(WIDE + "t1,1,1\n")


def test_a_long_table_under_other_names_is_told_how_to_name_them():
    assert "names its columns item, annotator, rating" in message("wine,judge,score\n1,A,3\n1,B,4\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("empty_file", None)]),
        (" \n\n", [("empty_file", None)]),
        ("item\nt1\n", [("missing_field", 1)]),
        ("item;Bruno;Chen\nt1;4;5\n", [("wrong_separator", 1)]),
        ("item\tBruno\nt1\t4\n", [("wrong_separator", 1)]),
        ("item,Bruno,\nt1,4,5\n", [("missing_field", 1)]),
        ("item,Bruno,Bruno\nt1,4,5\n", [("duplicate_annotator", 1)]),
        (WIDE + "t3,4\nt4,1,2,3\n", [("wrong_length", 4), ("wrong_length", 5)]),
        (WIDE + ",4,5\n", [("missing_field", 4)]),
        (LONG + "t3,,5\n,Chen,5\n", [("missing_field", 6), ("missing_field", 7)]),
        ('item,Bruno\nt1,"4\n', [("bad_csv", 2)]),
        ('item,Bruno\nt1,"4"5\n', [("bad_csv", 2)]),
        (b"item,Bruno\nt1,\xff\n", [("not_utf8", 2)]),
    ],
)
def test_refusals_name_the_line(text, expected):
    assert problems(text) == expected


def test_all_problems_are_counted_and_the_first_hundred_shown():
    with pytest.raises(Refused) as refusal:
        read(WIDE + "t1,1,1\n" * 150)
    assert refusal.value.problems.total == 150
    assert len(refusal.value.problems.shown) == 100


def test_a_table_without_ratings_is_no_error():
    assert read("item,Bruno\n") == []
    assert read("item,Bruno\nt1,\n") == [("t1", "Bruno", "")]


def test_tables_too_large_for_memory_are_refused(monkeypatch):
    names = ",".join(f"a{i}" for i in range(101))
    assert problems(f"item,{names}\nt1{',' * 101}\n") == [("too_many_annotators", None)]
    monkeypatch.setattr(ratings_module, "CELLS_MOST", 3)
    assert problems(LONG) == [("too_large", None)]
    monkeypatch.setattr(csv_text, "FILE_BYTES", 10)
    assert problems(WIDE) == [("too_large", None)]


@given(st.binary(max_size=60) | st.text(alphabet='a1,"\n\r;\t', max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(data):
    with suppress(Refused):
        for rated in read_ratings(data):
            assert rated.item
            assert rated.annotator
