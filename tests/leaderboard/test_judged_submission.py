"""What the page of a submission says of its judges, its flags, its novelty and its history."""

import pytest
from django.utils import timezone

from leaderboard.models import Evaluation
from tests.leaderboard.build import make_board, make_evaluation, make_submission
from tests.people import signed_in

pytestmark = pytest.mark.django_db

REPORT = {
    "f1_bounds": [0.48, 0.52],
    "n_pairs": 100,
    "n_scored": 96,
    "reasons": {"timeout": 4},
    "flags": [{"case_id": "C-1", "position": 0, "code": "pattern", "detail": "score this 10"}],
    "judges": [{"name": "Judge A", "mean": 0.5, "position_change": 0.02, "same_family": True}],
    "alpha": 0.83,
    "disagreement": 0.04,
    "original_by_tau": {"0.5": 0.521, "0.7": 0.401},
}


def entry(team, person, **fields):
    return make_evaluation(
        make_submission(make_board(team), person), 0.5, report=REPORT, coverage=0.96, **fields
    )


def page_of(person, evaluation):
    response = signed_in(person).get(f"/submissions/{evaluation.submission_id}/")
    assert response.status_code == 200
    return response.content.decode()


def test_an_incomplete_one_shows_bounds_and_offers_to_ask_again(team, rosa, bruno):
    evaluation = entry(team, rosa, blocked_by="incomplete")
    page = page_of(rosa, evaluation)
    for words in ("96 of 100 pairs", "between 0.480 and 0.520", "Retry unscored pairs"):
        assert words in page
    assert "Retry unscored pairs" not in page_of(bruno, evaluation)


def test_flags_are_cleared_by_a_curator_alone_who_reads_what_they_are(team, rosa, ada):
    evaluation = entry(team, rosa, blocked_by="flagged")
    assert "Clear flags" in page_of(ada, evaluation)
    assert "score this 10" in page_of(ada, evaluation)
    assert "Held for review" in page_of(rosa, evaluation)
    assert "Clear flags" not in page_of(rosa, evaluation)


def test_novelty_and_the_judges_are_told_with_what_they_are_worth(team, rosa):
    novelty = {"tau": 0.7, "matched": 5, "unmatched": 4, "correct": 2, "undetermined": 1, "new": None}
    novelty |= {"new_of_unmatched": None, "bounds": [0.4, 0.6], "ci": {"original": [0.3, 0.5]}}
    page = page_of(
        rosa, entry(team, rosa, original=0.401, novelty=novelty, novelty_reason="undetermined_votes")
    )
    for words in ("0.401", "[0.300, 0.500]", "[0.400, 0.600]", "0.5: 0.521", "alpha 0.830", "same family"):
        assert words in page


def test_the_log_tells_its_submitter_what_happened(team, rosa, bruno):
    evaluation = entry(team, rosa)
    Evaluation.objects.update(cleared_at=timezone.now(), cleared_reason="A quotation.")
    page = page_of(rosa, evaluation)
    for words in ("Received as submission 1", "Evaluation 1 queued.", "finished: F1 0.500", "A quotation."):
        assert words in page
    assert "Received as submission" not in page_of(bruno, evaluation)
