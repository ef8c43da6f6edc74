"""The page of one judged case: each judge's score and reason, unscored pairs, votes."""

import numpy as np
import pytest

from leaderboard.models import CaseScore
from tests.leaderboard.build import make_board, make_entry, score_cases
from tests.people import signed_in

pytestmark = pytest.mark.django_db

JUDGED = {
    "judges": ["Judge A", "Judge B"],
    "raw": [[[9, 2], [1, None], [3, 1]], [[8, 2], [1, 7], [3, 1]]],
    "expected": None,
    "why": [
        [["same finding", ""], ["", "timeout"], ["", ""]],
        [["yield not stated", ""], ["", ""], ["", ""]],
    ],
}
VOTED = {
    "voters": ["Voter 1", "Voter 2", "Voter 3"],
    "matched": [True, False],
    "votes": [
        {
            "position": 1,
            "decision": "correct",
            "reason": "",
            "votes": [
                {"vote": True, "why": "the image shows it"},
                {"vote": True, "why": ""},
                {"vote": None, "why": "timeout"},
            ],
        }
    ],
}


@pytest.fixture
def address(team, rosa):
    matrix = np.array([[0.85, 0.2], [0.1, np.nan], [0.3, 0.1]])
    evaluation = score_cases(make_entry(make_board(team, n_cases=1), rosa), matrix=np.nan_to_num(matrix))
    board = evaluation.submission.board
    profile = board.profile
    profile.metric, profile.config = "judges", profile.config | {"tau": 0.7}
    profile.save()
    CaseScore.objects.update(matrix=matrix.astype("<f8").tobytes(), judged=JUDGED, voted=VOTED)
    case = board.release.cases.get()
    return f"/submissions/{evaluation.submission_id}/cases/{case.case_id}/"


def test_each_judge_s_score_and_reason_stand_beside_the_pair(address, rosa):
    page = signed_in(rosa).get(f"{address}?pair=1-1").content.decode()
    for words in ("Judge A", "9 of 10", "same finding", "8 of 10", "yield not stated", "Judges, mean"):
        assert words in page
    unscored = signed_in(rosa).get(f"{address}?pair=2-2").content.decode()
    assert "timeout" in unscored
    assert "Reference 2, output 2: unscored" in unscored
    assert "nan" not in unscored.lower().replace("finance", "")


def test_the_map_shows_one_judge_or_shared_words_and_what_another_tau_would_match(address, rosa):
    client = signed_in(rosa)
    assert client.get(f"{address}?metric=judge-2").context["grid"].rows[1].cells[1].score == 0.7
    assert client.get(f"{address}?metric=words").context["grid"].rows[0].cells[0].score == 1.0
    matched = [cell.is_match for row in client.get(address).context["grid"].rows for cell in row.cells]
    assert matched == [True, False, False, False, False, False]
    page = client.get(f"{address}?tau=0.30")
    assert page.context["grid"].rows[2].cells[0].is_match
    assert "shown at 0.30, the board's is 0.70" in page.content.decode()
    assert "unscored" in client.get(f"{address}?view=table").content.decode()


def test_votes_stand_with_their_output_and_matched_ones_were_not_asked(address, rosa):
    page = signed_in(rosa).get(address).content.decode()
    for words in ("new, correct", "the image shows it", "no vote", "Novelty: not asked (matched)"):
        assert words in page
