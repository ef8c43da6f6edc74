"""Boards, submissions and outputs as pages."""

import pytest

from leaderboard import matrices
from medbench.cases.models import Split
from medbench.jobs.models import Job
from tests.leaderboard.build import (
    make_board,
    make_entry,
    make_evaluation,
    make_submission,
    score_cases,
)
from tests.people import signed_in

pytestmark = pytest.mark.django_db


def text_of(client, path, status=200):
    response = client.get(path)
    assert response.status_code == status, response.content.decode()[:2000]
    return response.content.decode()


def queries_of(django_assert_max_num_queries, person, path):
    with django_assert_max_num_queries(100) as counted:
        text_of(signed_in(person), path)
    return len(counted)


@pytest.mark.parametrize("path", ["/boards/", "/"])
def test_the_number_of_queries_does_not_grow_with_boards(
    path, team, rosa, django_assert_max_num_queries, make_team
):
    make_entry(make_board(team), rosa)
    one = queries_of(django_assert_max_num_queries, rosa, path)
    for number in (2, 3):
        make_entry(make_board(make_team(rosa), name=f"colon-{number}"), rosa)
    assert queries_of(django_assert_max_num_queries, rosa, path) == one


@pytest.mark.parametrize("path", ["board", "/submissions/", "/api/v1/submissions/", "standings", "csv"])
def test_the_number_of_queries_does_not_grow_with_submissions(
    path, team, rosa, django_assert_max_num_queries
):
    board = make_board(team)
    path = {
        "board": f"/boards/{board.pk}/",
        "standings": f"/api/v1/boards/{board.pk}/standings/",
        "csv": f"/api/v1/boards/{board.pk}/standings.csv",
    }.get(path, path)
    make_entry(board, rosa)
    one = queries_of(django_assert_max_num_queries, rosa, path)
    make_entry(board, rosa)
    make_entry(board, rosa)
    assert queries_of(django_assert_max_num_queries, rosa, path) == one


def test_the_number_of_queries_does_not_grow_with_cases(team, rosa, django_assert_max_num_queries, make_team):
    counts = []
    for n_cases in (1, 3):
        board = make_board(make_team(rosa), n_cases=n_cases, name=f"colon-{n_cases}")
        evaluation = score_cases(make_entry(board, rosa))
        counts.append(
            queries_of(django_assert_max_num_queries, rosa, f"/submissions/{evaluation.submission_id}/")
        )
    assert counts[0] == counts[1]


def test_a_board_shows_rank_score_and_the_reason_why_there_is_no_interval(team, rosa):
    board = make_board(team)
    make_entry(board, rosa, "Stepwise Reader", 0.634)
    page = text_of(signed_in(rosa), f"/boards/{board.pk}/")
    assert "Stepwise Reader" in page
    assert "0.634" in page
    assert "fewer than 10 cases" in page
    for word in ("NaN", "None", "undefined", "null"):
        assert word not in page


def test_a_visitor_reads_boards_of_open_teams_only(team, rosa, client):
    board = make_board(team)
    evaluation = score_cases(make_entry(board, rosa, "Open Method"))
    case = board.release.cases.first().case_id
    paths = [f"/boards/{board.pk}/", f"/submissions/{evaluation.submission_id}/"]
    for path in paths:
        text_of(client, path, 404)
    team.open_to_researchers = True
    team.save()
    for path in paths:
        assert "Open Method" in text_of(client, path)
    assert "Sign in" in text_of(client, paths[1])
    text_of(client, f"/submissions/{evaluation.submission_id}/cases/{case}/", 404)


def test_a_stranger_meets_the_same_404_for_what_is_hidden_and_what_is_not_there(team, rosa, eve):
    board = make_board(team)
    submission = make_entry(board, rosa).submission
    stranger = signed_in(eve)
    nothing = text_of(stranger, "/boards/00000000-0000-0000-0000-000000000000/", 404)
    for path in (f"/boards/{board.pk}/", f"/submissions/{submission.pk}/"):
        assert text_of(stranger, path, 404) == nothing


def test_others_do_not_see_a_private_submission(team, ada, rosa, bruno):
    submission = make_submission(make_board(team), rosa, visibility="private")
    make_evaluation(submission, 0.5)
    for person, status in ((rosa, 200), (ada, 200), (bruno, 404)):
        text_of(signed_in(person), f"/submissions/{submission.pk}/", status)
        assert signed_in(person).get(f"/api/v1/submissions/{submission.pk}/").status_code == status


def test_a_held_out_submission_shows_totals_and_no_case_to_anybody(team, ada, rosa):
    board = make_board(team, split=Split.HELD_OUT)
    evaluation = score_cases(make_entry(board, rosa, f1=0.321))
    case = board.release.cases.first().case_id
    for person in (rosa, ada):
        page = text_of(signed_in(person), f"/submissions/{evaluation.submission_id}/")
        assert "0.321" in page
        assert "held out" in page
        assert "C-1" not in page
        text_of(signed_in(person), f"/submissions/{evaluation.submission_id}/cases/{case}/", 404)


def test_cases_are_filtered_and_sorted(team, rosa):
    evaluation = score_cases(make_entry(make_board(team, sites=("Colon", "Liver")), rosa))
    evaluation.case_scores.filter(release_case__case__case_id="C-3").update(recall=0.9)
    path = f"/submissions/{evaluation.submission_id}/"
    liver = text_of(signed_in(rosa), f"{path}?site=Liver")
    assert "C-2" in liver
    assert "C-1" not in liver
    ordered = text_of(signed_in(rosa), f"{path}?sort=recall")
    assert ordered.index("C-3<") < ordered.index("C-1<")
    for nonsense in ("site=%00", "difficulty=4", "difficulty=x", "sort=nothing", "page=99"):
        assert "3 cases" in text_of(signed_in(rosa), f"{path}?{nonsense}")


def test_a_submission_polls_while_it_is_evaluated_and_stops_when_that_is_over(team, rosa):
    submission = make_submission(make_board(team), rosa)
    evaluation = make_evaluation(submission, state=Job.State.RUNNING)
    Job.objects.filter(pk=evaluation.job_id).update(stage="ROUGE-1", done=1, total=3)
    page = text_of(signed_in(rosa), f"/submissions/{submission.pk}/")
    assert "load delay:2s" in page
    assert "1 of 3" in page
    Job.objects.filter(pk=evaluation.job_id).update(
        state=Job.State.FAILED, error_code="broke", error_text="The disk is full."
    )
    page = text_of(signed_in(rosa), f"/submissions/{submission.pk}/")
    assert "load delay:2s" not in page
    assert "The disk is full." in page
    assert "Run again" in page


def test_the_pair_map_names_each_cell_and_the_table_holds_the_same_values(team, rosa):
    board = make_board(team, n_cases=1)
    evaluation = score_cases(make_entry(board, rosa))
    case = board.release.cases.first().case_id
    path = f"/submissions/{evaluation.submission_id}/cases/{case}/"
    page = text_of(signed_in(rosa), f"{path}?tau=0.70")
    assert 'aria-label="Reference 1, output 1: 1.000, best of both, matched"' in page
    assert 'aria-label="Reference 2, output 2: 0.500, best of both"' in page
    assert 'aria-label="Reference 1, output 2: 0.250"' in page
    assert 'aria-label="Reference 3, output 1: 0.125, best of the reference"' in page
    assert 'class="seq-8 is-match row-best column-best"' in page
    table = text_of(signed_in(rosa), f"{path}?view=table")
    for value in matrices.of_case(evaluation.case_scores.get()).flatten():
        assert f"{value:.3f}" in table


def test_a_pair_has_its_own_address(team, rosa):
    board = make_board(team, n_cases=1)
    evaluation = score_cases(make_entry(board, rosa))
    case = board.release.cases.first().case_id
    path = f"/submissions/{evaluation.submission_id}/cases/{case}/"
    assert "Reference 3, output 1</h2>" in text_of(signed_in(rosa), f"{path}?pair=3-1")
    for nothing in ("9-9", "x", "3-", "-1", "٣-١"):
        assert "Closest pair: reference 1, output 1" in text_of(signed_in(rosa), f"{path}?pair={nothing}")
