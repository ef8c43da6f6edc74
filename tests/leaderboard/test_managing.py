"""Withdrawing, visibility, running again by page, the API's reads, admin and home."""

import csv
import io

import pytest
from django.test import Client

from leaderboard.models import Floor, Submission
from leaderboard.services import submissions
from medbench.errors import Conflict, InvalidInput, NotAllowed
from medbench.jobs.models import Job
from tests.leaderboard.build import make_board, make_entry, make_evaluation, make_submission
from tests.leaderboard.results import submitted, work_off
from tests.people import make_person, signed_in

pytestmark = pytest.mark.django_db


def test_a_submission_is_withdrawn_after_a_question_and_leaves_its_board(team, ada, rosa, bruno):
    submission = submitted(team, rosa, **{"C-1": ["6 cm"]})
    path = f"/submissions/{submission.pk}/withdraw/"
    assert "for good" in signed_in(rosa).get(path).content.decode()
    assert signed_in(bruno).post(path).status_code == 403
    assert signed_in(rosa).post(path).status_code == 302
    board = signed_in(ada).get(f"/boards/{submission.board_id}/?beside=none").content.decode()
    assert "ReAct" not in board
    for person, status in ((rosa, 200), (ada, 200), (bruno, 404)):
        assert signed_in(person).get(f"/submissions/{submission.pk}/").status_code == status
    submission.refresh_from_db()
    with pytest.raises(Conflict):
        submissions.set_visibility(submission, "public", rosa)
    when = submission.withdrawn_at
    submissions.withdraw(submission, rosa)
    submission.refresh_from_db()
    assert submission.withdrawn_at == when


def test_visibility_is_changed_by_the_submitter_and_curators(team, ada, rosa, bruno):
    submission = submitted(team, rosa, **{"C-1": ["6 cm"]})
    signed_in(rosa).post(f"/submissions/{submission.pk}/visibility/", {"visibility": "private"})
    board = f"/boards/{submission.board_id}/?beside=none"
    assert "ReAct" not in signed_in(bruno).get(board).content.decode()
    submissions.set_visibility(submission, "public", ada)
    assert "ReAct" in signed_in(bruno).get(board).content.decode()
    with pytest.raises(NotAllowed):
        submissions.set_visibility(submission, "private", bruno)
    with pytest.raises(InvalidInput):
        submissions.set_visibility(submission, "everyone", rosa)


def test_a_cancelled_evaluation_is_run_again_by_page(team, rosa):
    submission = submitted(team, rosa, work=False, **{"C-1": ["6 cm"]})
    client = signed_in(rosa)
    client.post(f"/submissions/{submission.pk}/cancel/")
    assert "Cancelled" in client.get(f"/submissions/{submission.pk}/").content.decode()
    assert client.post(f"/submissions/{submission.pk}/cancel/").status_code == 409
    client.post(f"/submissions/{submission.pk}/run-again/")
    work_off()
    assert "Score again" in client.get(f"/submissions/{submission.pk}/").content.decode()


def test_the_api_says_how_far_a_submission_is_and_what_it_scores(team, rosa):
    submission = submitted(team, rosa, work=False, **{"C-1": ["All 30 lymph nodes are free of tumour."]})
    client = signed_in(rosa)
    waiting = client.get(f"/api/v1/submissions/{submission.pk}/").json()
    assert (waiting["status"], waiting["done"], waiting["total"]) == ("queued", 0, 3)
    assert waiting["scores"] is waiting["error"] is None
    work_off()
    done = client.get(f"/api/v1/submissions/{submission.pk}/").json()
    assert (done["status"], done["stage"], done["done"]) == ("done", "Rank", 3)
    assert done["scores"]["f1"] == pytest.approx(submission.evaluations.get().f1)
    assert done["scores"]["ci"] is None
    assert done["scores"]["ci_reason"] == "too_few_cases"
    assert done["scores"]["n_missing_cases"] == 2
    listed = client.get("/api/v1/submissions/").json()
    assert [each["id"] for each in listed["results"]] == [str(submission.pk)]
    job = submission.evaluations.get().job
    Job.objects.filter(pk=job.pk).update(state="failed", error_code="broke", error_text="The disk is full.")
    failed = client.get(f"/api/v1/submissions/{submission.pk}/").json()
    assert failed["error"] == {"code": "broke", "message": "The disk is full."}


def test_standings_are_the_same_as_json_and_csv(team, ada, rosa):
    board = make_board(team)
    make_entry(board, rosa, '=HYPERLINK("x")', 0.6, ci=[0.5, 0.7])
    make_entry(board, ada, "ReAct", 0.6)
    make_evaluation(make_submission(board, rosa, "waits"))
    Floor.objects.create(
        board=board,
        kind="other_case",
        recall=0.1,
        precision=0.1,
        f1=0.1,
        mean_case_f1=0.1,
        n_cases=3,
        n_outputs=9,
        ci_reason="too_few_cases",
    )
    path = f"/api/v1/boards/{board.pk}/standings"
    body = signed_in(rosa).get(f"{path}/").json()
    assert [(each["rank"], each["f1"]) for each in body["standings"]] == [(1, 0.6), (1, 0.6)]
    assert [each["method"] for each in body["not_ranked"]] == ["waits"]
    assert [each["kind"] for each in body["floors"]] == ["other_case"]
    rows = list(csv.DictReader(io.StringIO(signed_in(rosa).get(f"{path}.csv").content.decode())))
    assert [(row["group"], row["rank"]) for row in rows] == [
        ("ranked", "1"),
        ("ranked", "1"),
        ("unscored", ""),
        ("floor", ""),
    ]
    assert rows[0]["method"].startswith("'=")
    assert (rows[0]["f1_low"], rows[0]["f1_high"], rows[0]["f1_ci_reason"]) == ("0.5", "0.7", "")
    assert (rows[1]["f1_low"], rows[1]["f1_ci_reason"]) == ("", "too_few_cases")
    assert (rows[2]["f1"], rows[2]["status"]) == ("", "queued")
    assert signed_in(make_person("fay")).get(f"{path}.csv").status_code == 404


def test_boards_are_listed_by_the_api_for_visitors_too(team, rosa, client):
    board = make_board(team)
    assert client.get("/api/v1/boards/").json()["results"] == []
    team.open_to_researchers = True
    team.save()
    listed = client.get("/api/v1/boards/").json()["results"]
    assert [(each["id"], each["benchmark"], each["release"]) for each in listed] == [
        (str(board.pk), "colon", 1)
    ]


def test_a_curator_opens_a_board_by_page_and_nobody_else_does(team, ada, rosa):
    release = make_board(team).release
    assert "Open a board" not in signed_in(rosa).get("/boards/").content.decode()
    assert signed_in(rosa).get("/boards/new/").status_code == 404
    client = signed_in(ada)
    assert "Open a board" in client.get("/boards/").content.decode()
    assert release.benchmark.title in client.get("/boards/new/").content.decode()
    empty = client.post("/boards/new/", {"release": release.pk, "split": "heldout"})
    assert "has no case in its held-out split" in empty.content.decode()
    opened = client.post("/boards/new/", {"release": release.pk, "split": "open"})
    assert opened.status_code == 302
    assert client.get(opened.url).status_code == 200
    work_off()
    assert Floor.objects.count() == 2


def test_the_example_file_is_one_that_can_be_submitted(team, rosa):
    board = make_board(team)
    example = signed_in(rosa).get(f"/boards/{board.pk}/example.json")
    assert "attachment" in example["Content-Disposition"]
    answer = submissions.check_upload(board, example.content, rosa)
    assert answer.ok
    assert answer.warnings.counts == {"empty_case": 3}
    assert "medbench.results/1" in Client().get("/help/results/").content.decode()


def test_home_shows_what_failed_to_those_who_can_run_it_again(team, ada, rosa, bruno):
    make_evaluation(make_submission(make_board(team), rosa, "Fails"), state="failed")
    for person in (ada, rosa):
        assert "Evaluations that failed" in signed_in(person).get("/").content.decode()
    assert "Evaluations that failed" not in signed_in(bruno).get("/").content.decode()


def test_home_invites_researchers_and_leaves_annotators_alone(team, rosa, bruno):
    assert "Nothing submitted yet." in signed_in(rosa).get("/").content.decode()
    assert "Nothing submitted yet." not in signed_in(bruno).get("/").content.decode()
    assert Submission.objects.count() == 0


@pytest.mark.parametrize("name", ["evaluatorprofile", "board", "floor", "submission", "evaluation"])
def test_operators_can_look_at_everything_and_change_nothing(team, rosa, name):
    submitted(team, rosa, **{"C-1": ["6 cm"]})
    root = signed_in(make_person("root", is_superuser=True, is_staff=True))
    assert root.get(f"/admin/leaderboard/{name}/").status_code == 200
    assert root.get(f"/admin/leaderboard/{name}/add/").status_code == 403
