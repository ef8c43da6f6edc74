"""Marked passages: every character once, in order, whatever overlaps."""

from hypothesis import given
from hypothesis import strategies as st

from medbench.cases.highlights import Segment, Span, excerpt, marked, segments


def test_a_passage_is_cut_out_by_code_points():
    assert segments("🔬🧫 size", [Span(4, 2, 7)]) == [Segment("🔬🧫"), Segment(" size", (4,), (4,))]


def test_overlapping_passages_share_their_piece():
    assert segments("abcdef", [Span(1, 0, 4), Span(2, 2, 6)]) == [
        Segment("ab", (1,), (1,)),
        Segment("cd", (1, 2), (2,)),
        Segment("ef", (2,), ()),
    ]


def test_the_same_passage_twice_is_one_piece():
    assert segments("ab", [Span(2, 0, 2), Span(1, 0, 2)]) == [Segment("ab", (1, 2), (1, 2))]


def test_a_text_without_passages_is_one_piece():
    assert segments("ab", []) == [Segment("ab")]
    assert segments("", []) == []


SPANS = st.lists(st.builds(Span, st.integers(1, 9), st.integers(0, 30), st.integers(0, 30)), max_size=6)


@given(st.text(max_size=25), SPANS)
def test_nothing_of_the_text_is_lost_or_doubled(text, spans):
    pieces = segments(text, spans)
    assert "".join(piece.text for piece in pieces) == text
    inside = [span for span in spans if span.start < span.end <= len(text)]
    for number in {span.number for span in inside}:
        covered = {i for span in inside if span.number == number for i in range(span.start, span.end)}
        marked_here, position = set(), 0
        for piece in pieces:
            if number in piece.numbers:
                marked_here |= set(range(position, position + len(piece.text)))
            position += len(piece.text)
        assert marked_here == covered


def test_an_excerpt_shows_the_surroundings_of_the_first_word():
    text = "x" * 100 + " lymph\nnodes: All 30 NODES are free " + "y" * 100
    pieces = excerpt(text, ["nodes"])
    assert "".join(piece.text for piece in pieces).startswith("… ")
    assert [piece.text for piece in pieces if piece.numbers] == ["nodes", "NODES"]
    assert "\n" not in "".join(piece.text for piece in pieces)


def test_an_excerpt_of_a_text_without_the_word_is_empty():
    assert excerpt("Margins: negative", ["nodes"]) == []


def test_signs_of_a_search_are_taken_literally():
    assert [piece.text for piece in marked("a.c (x) abc", ["a.c", "(x)"]) if piece.numbers] == ["a.c", "(x)"]
