"""Evidence in reports."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medbench.formats.spans import Span, find_span, nearest_passage

REPORT = "😐 DIAGNOSIS:\r\n\tInvasive  ductal\ncarcinoma, grade 2.\u00a0Margins are negative.\n"


@pytest.mark.parametrize(
    ("evidence", "quote"),
    [
        ("Invasive  ductal\ncarcinoma", "Invasive  ductal\ncarcinoma"),
        ("Invasive ductal carcinoma, grade 2. Margins", "Invasive  ductal\ncarcinoma, grade 2.\u00a0Margins"),
        ("\n DIAGNOSIS: Invasive\t", "DIAGNOSIS:\r\n\tInvasive"),
        ("uctal carcin", "uctal\ncarcin"),
        ("negative.", "negative."),
    ],
)
def test_evidence_is_found_verbatim_or_with_white_space_folded(evidence, quote):
    span = find_span(REPORT, evidence)
    assert span == Span(REPORT.index(quote), REPORT.index(quote) + len(quote), quote)
    assert REPORT[span.start : span.end] == quote


@pytest.mark.parametrize(
    "evidence", ["", " \n", "Margins are positive.", "invasive ductal", "Invasiveductal"]
)
def test_other_words_are_not_found(evidence):
    assert find_span(REPORT, evidence) is None


def test_verbatim_goes_before_folded():
    text = "a  b then a b"
    assert find_span(text, "a b").start == text.rindex("a b")


@given(st.text("ab \n\t", max_size=40), st.data())
def test_what_was_cut_out_is_found_again(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    cut = text[start:end]
    span = find_span(text, " \n".join(cut.split()))
    if cut.strip():
        assert text[span.start : span.end] == span.quote
        assert span.quote.split() == cut.split()
    else:
        assert span is None


def test_the_nearest_passage_shares_most_words():
    span = nearest_passage(REPORT, "The margins were negative")
    assert "Margins are negative." in span.quote
    assert REPORT[span.start : span.end] == span.quote
    assert nearest_passage(REPORT, "quite unrelated") is None
    assert nearest_passage("", "anything") is None
    assert nearest_passage(REPORT, "— … —") is None


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcde"), max_size=8))
def test_no_window_of_the_report_shares_more(words, evidence):
    span = nearest_passage(" ".join(words), " ".join(evidence))
    length = min(len(evidence), len(words))

    def shared(window):
        return sum(min(window.count(word), evidence.count(word)) for word in set(window))

    best = max((shared(words[i : i + length]) for i in range(len(words) - length + 1)), default=0)
    assert (shared(span.quote.split()) if span else 0) == best


def test_a_whole_benchmark_is_anchored():
    """332 reports with 12 triplets each, none of them verbatim: the folded text is made once each."""
    rng = random.Random(1)
    words = [f"word{i}" for i in range(500)]
    for _ in range(332):
        report = [rng.choice(words) for _ in range(1_000)]
        text = "\n".join(report)
        for _ in range(12):
            at = rng.randrange(980)
            span = find_span(text, " ".join(report[at : at + 20]))
            assert span.quote.split() == report[at : at + 20]
