"""Normal form of scored text (metrics_spec section 1)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medbench.formats.text import is_blank, is_storable, normalise, printable


@pytest.mark.parametrize(
    ("raw", "scored"),
    [
        ("  grade\t2 \r\n carcinoma ", "grade 2 carcinoma"),
        ("８．０ cm", "8.0 cm"),
        ("ﬁbrosis", "fibrosis"),
        ("carci\u00adnoma", "carcinoma"),  # soft hyphen
        ("mar\u200bgin\u2060s", "margins"),  # zero-width
        ("\u202enegative\u202c", "negative"),  # direction
        ("pos\U000e0041itive", "positive"),  # tag
        ("a\x0bb\x00c", "abc"),  # other controls
        ("e\u200d\u0301", "é"),  # an invisible character between a letter and its accent
        ("\u3000 \u00a0", ""),
        ("\u200b\ufeff", ""),
        ("β ≥ 2 µm", "β ≥ 2 μm"),
    ],
)
def test_invisible_characters_and_widths_do_not_count(raw, scored):
    assert normalise(raw) == scored


@given(st.text())
def test_normal_form_is_stable_and_clean(text):
    once = normalise(text)
    assert normalise(once) == once
    assert not {unicodedata.category(c) for c in once} & {"Cc", "Cf"}
    assert once == " ".join(once.split())


@given(st.text(st.sampled_from(" \t\u3000\u200b\x00\x1c\u2028a\u3164\u00a8")))
def test_blank_is_what_nothing_is_left_of(text):
    assert is_blank(text) == (normalise(text) == "")


@given(st.text(), st.sampled_from("\u200b\u00ad\u2060\ufeff\x07"))
def test_an_invisible_character_changes_nothing(text, invisible):
    assert normalise(invisible.join(text)) == normalise(text)


def test_text_that_a_database_refuses_is_known():
    assert is_storable("β 😐 \u202e")
    assert not is_storable("a\0b")
    assert not is_storable("half \ud83d pair")


def test_hostile_text_is_printable():
    shown = printable("\x1b[2J\ud800\u202e\nabc" + "x" * 500, 20)
    assert shown.isprintable()
    assert len(shown) == 20
    assert "abc" in shown
