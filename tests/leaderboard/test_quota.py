"""How many submissions a day counts, what is free, and when the next slot opens."""

import datetime as dt
import threading

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone

from leaderboard.models import Submission
from leaderboard.services import evaluations
from leaderboard.services.quota import quota_of
from leaderboard.services.submissions import ResultsRefused, submit
from medbench.errors import TooOften
from medbench.jobs.models import Job
from tests.leaderboard.build import make_board
from tests.leaderboard.results import as_bytes
from tests.people import signed_in

GOOD = as_bytes(**{"C-1": ["Margins are negative."]})


@pytest.fixture(autouse=True)
def two_a_day(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    settings.SUBMISSIONS_PER_DAY = 2


@pytest.mark.django_db
def test_the_third_submission_of_a_day_is_refused_until_midnight_utc(team, rosa):
    board = make_board(team)
    submit(board, GOOD, "a.json", rosa)
    kept = submit(board, GOOD, "b.json", rosa, idempotency_key="b")
    with pytest.raises(TooOften, match=r"You made 2 of 2 submissions today.*00:00 UTC") as refusal:
        submit(board, GOOD, "c.json", rosa)
    assert refusal.value.code == "quota_used"
    assert 0 < refusal.value.wait_s <= 24 * 3600
    assert submit(board, GOOD, "b.json", rosa, idempotency_key="b") == kept  # asked again, not made again
    Submission.objects.update(created_at=timezone.now() - dt.timedelta(days=1))
    submit(board, GOOD, "c.json", rosa)


@pytest.mark.django_db
def test_refused_files_cancelled_evaluations_and_platform_faults_are_free(team, rosa):
    board = make_board(team)
    with pytest.raises(ResultsRefused):
        submit(board, b"{}", "bad.json", rosa)
    cancelled = submit(board, GOOD, "a.json", rosa)
    evaluations.cancel(cancelled, rosa)
    failed = submit(board, GOOD, "b.json", rosa)
    Job.objects.filter(pk=failed.evaluations.get().job_id).update(state=Job.State.FAILED)
    assert quota_of(rosa, board).left == 2
    submit(board, GOOD, "c.json", rosa)
    submit(board, GOOD, "d.json", rosa)
    with pytest.raises(TooOften):  # cancelling does not save a slot for later
        evaluations.run_again(cancelled, rosa)
    evaluations.run_again(failed, rosa)  # the fault was ours


@pytest.mark.django_db
def test_cancelling_without_end_is_not_free(team, rosa):
    board = make_board(team)
    for number in range(10):
        evaluations.cancel(submit(board, GOOD, f"{number}.json", rosa), rosa)
    with pytest.raises(TooOften, match="You uploaded 10 files today"):
        submit(board, GOOD, "x.json", rosa)


@pytest.mark.django_db
def test_the_curator_of_a_benchmark_has_no_limit_on_its_boards(team, ada):
    board = make_board(team)
    for number in range(3):
        submit(board, GOOD, f"{number}.json", ada)


@pytest.mark.django_db
def test_a_script_reads_code_and_time_of_the_refusal(team, rosa, settings):
    settings.SUBMISSIONS_PER_DAY = 1
    board = make_board(team)
    client = signed_in(rosa)

    def post():
        form = {"file": SimpleUploadedFile("a.json", GOOD), "board": str(board.pk)}
        return client.post("/api/v1/submissions/", form)

    assert post().status_code == 201
    refused = post()
    assert (refused.status_code, refused.json()["code"]) == (429, "quota_used")
    assert 0 < int(refused["Retry-After"]) <= 24 * 3600
    page = client.get("/submit/").content.decode()
    assert "Nothing left today" in page
    assert Submission.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_ten_at_the_same_moment_get_no_slot_too_many(team, rosa):
    board = make_board(team)
    answers = []
    start = threading.Barrier(10)

    def one(number):
        start.wait()
        try:
            answers.append(submit(board, GOOD, f"{number}.json", rosa).number)
        except TooOften as refusal:
            answers.append(refusal.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, answers)) == ["1", "2", *["quota_used"] * 8]
    assert Submission.objects.count() == 2
