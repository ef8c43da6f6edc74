"""The outputs of a case beside its references: shared words, removed outputs, big and empty maps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.models import Output
from leaderboard.words import compare
from medbench.scoring.rouge import PROFILES, tokenise
from medbench.scoring.text import normalise
from tests.leaderboard.build import make_board, make_entry, score_cases
from tests.leaderboard.results import submitted
from tests.people import signed_in


def shared(pieces):
    return [piece.text for piece in pieces if piece.is_shared]


def test_shared_words_are_found_whatever_their_case_and_as_often_as_both_have_them():
    found = compare(
        "The margin of THE tumour is free.", "Margin free: the tumour, free margin!", "parity-ascii"
    )
    assert shared(found.reference) == ["The", "margin", "tumour", "free"]
    assert shared(found.output) == ["Margin", "free", "the", "tumour"]
    assert (found.n_shared, found.n_reference, found.n_output) == (4, 7, 6)


def test_letters_that_grow_in_lower_case_do_not_shift_the_marks():
    found = compare("İİ pT3 tumour", "ß İ tumour pT3", "parity-ascii")
    assert shared(found.reference) == ["İ", "pT3", "tumour"]  # its lower case begins with an i
    assert shared(found.output) == ["İ", "tumour", "pT3"]


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(PROFILES))
def test_the_pieces_are_the_text_and_the_marked_ones_are_its_words(reference, output, profile):
    reference, output = normalise(reference), normalise(output)
    found = compare(reference, output, profile)
    for text, pieces in ((reference, found.reference), (output, found.output)):
        assert "".join(piece.text for piece in pieces) == text
        words = tokenise(text, profile)
        for piece in shared(pieces):
            assert profile == "porter" or piece.lower() in words or tokenise(piece, profile)[0] in words
    if profile == "parity-ascii":
        assert len(shared(found.reference)) == len(shared(found.output)) == found.n_shared


def case_page(person, submission, case_id="C-1", query=""):
    case = submission.board.release.cases.get(case__case_id=case_id).case_id
    response = signed_in(person).get(f"/submissions/{submission.pk}/cases/{case}/{query}")
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.django_db
def test_removed_outputs_keep_their_place_and_say_why(team, rosa):
    outputs = ["Margins are negative.", "", "MARGINS are negative!", "6 cm", "\u200b \u00ad"]
    submission = submitted(team, rosa, **{"C-1": outputs})
    page = case_page(rosa, submission)
    assert "2 duplicates removed" not in page
    assert "1 duplicate removed" in page
    assert "2 empty removed" in page
    assert "Not scored</span>: repeats output 1" in page
    assert page.count("Not scored</span>: blank") == 2
    assert 'data-cell="1-4"' in page  # the fourth keeps its number
    assert 'data-cell="1-3"' not in page


@pytest.mark.django_db
def test_a_case_without_outputs_says_so_and_counts(team, rosa):
    submission = submitted(team, rosa, **{"C-1": ["6 cm"], "C-2": []})
    assert "No output for this case. It scores 0 and counts." in case_page(rosa, submission, "C-2")
    assert "The file does not name this case. It scores 0 and counts." in case_page(rosa, submission, "C-3")


@pytest.mark.django_db
def test_outputs_can_be_ordered_by_score_and_by_reference(team, rosa):
    outputs = ["Nothing in common", "Margins are negative.", "The tumour measures 6 cm."]
    submission = submitted(team, rosa, **{"C-1": outputs})

    def order(query):
        section = case_page(rosa, submission, query=query).split('class="output-list"')[1]
        return sorted(outputs, key=section.index)

    assert order("") == outputs
    assert order("?order=score")[2] == "Nothing in common"
    assert order("?order=reference") == [outputs[2], outputs[1], outputs[0]]
    assert order("?order=nonsense") == outputs


@pytest.mark.django_db
def test_more_than_forty_outputs_are_shown_page_by_page(team, rosa):
    evaluation = make_entry(make_board(team, n_cases=1), rosa)
    insights = [f"Output number {number}" for number in range(1, 46)]
    score_cases(evaluation, insights, np.full((3, 45), 0.5))
    assert Output.objects.count() == 45
    first = case_page(rosa, evaluation.submission)
    second = case_page(rosa, evaluation.submission, query="?columns=2")
    assert 'data-cell="1-40"' in first
    assert 'data-cell="1-41"' not in first
    assert 'data-cell="1-41"' in second
    assert 'data-cell="1-45"' in second
    for nonsense in ("0", "99", "x", "-1", "9" * 50):
        case_page(rosa, evaluation.submission, query=f"?columns={nonsense}")


@pytest.mark.django_db
def test_an_unfinished_submission_has_no_page_of_a_case(team, rosa):
    submission = submitted(team, rosa, work=False, **{"C-1": ["6 cm"]})
    case = submission.board.release.cases.first().case_id
    assert signed_in(rosa).get(f"/submissions/{submission.pk}/cases/{case}/").status_code == 404
