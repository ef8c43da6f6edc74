"""Submitters are told when an evaluation ends or fails: on the site once, by mail where they want it."""

import pytest
from django.core import mail

from leaderboard.models import Notice
from leaderboard.services import evaluations, notices
from medbench import jobs
from medbench.jobs.models import Job
from tests.leaderboard.build import make_board, make_entry
from tests.leaderboard.results import submitted, work_off
from tests.people import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_files(tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def mailing(settings, rosa):
    settings.SENDS_MAIL = True
    settings.SITE_ADDRESS = "https://medbench.example"
    rosa.email = "rosa@lab.example"
    rosa.save()


def fail(submission):
    job = jobs.services.claim("test")
    assert job.pk == submission.evaluations.get().job_id
    jobs.services.fail(job, "unavailable", "The disk is full.")


def kinds(person):
    return [each.kind for each in Notice.objects.filter(person=person)]


def test_the_end_of_an_evaluation_stands_in_the_bar_until_it_is_read(team, rosa, bruno):
    assert "/notices/" not in signed_in(rosa).get("/boards/").content.decode()
    submission = submitted(team, rosa, **{"C-1": ["Margins are negative."]})
    client = signed_in(rosa)
    page = client.get("/notices/").content.decode()
    assert "1 unread of 1" in page
    assert f"/submissions/{submission.pk}/" in page
    assert client.post("/notices/read/").status_code == 302
    assert "0 unread of 1" in client.get("/notices/").content.decode()
    assert not Notice.objects.filter(person=bruno).exists()


def test_a_job_that_runs_twice_tells_once_and_a_second_failure_is_told_again(team, rosa):
    submission = submitted(team, rosa, work=False, **{"C-1": ["Margins are negative."]})
    fail(submission)
    assert kinds(rosa) == ["failed"]
    notices.read_all(rosa)
    evaluations.run_again(submission, rosa)
    fail(submission)
    assert Notice.objects.get().read_at is None
    assert "The disk is full." in signed_in(rosa).get("/notices/").content.decode()
    evaluations.run_again(submission, rosa)
    work_off()
    Job.objects.update(state=Job.State.QUEUED)
    work_off()
    assert sorted(kinds(rosa)) == ["failed", "finished"]


def test_whoever_cancels_is_not_told_of_it(team, rosa):
    submission = submitted(team, rosa, work=False, **{"C-1": ["Margins are negative."]})
    evaluations.cancel(submission, rosa)
    assert kinds(rosa) == []


def test_a_mail_goes_to_the_submitter_once_and_names_nobody(mailing, team, rosa):
    submission = submitted(team, rosa, **{"C-1": ["Margins are negative."]})
    Job.objects.update(state=Job.State.QUEUED)
    work_off()
    (message,) = mail.outbox
    assert message.to == ["rosa@lab.example"]
    assert f"https://medbench.example/submissions/{submission.pk}/" in message.body
    for secret in (submission.method, "Margins", str(submission.board.release)):
        assert secret not in message.subject + message.body


def test_no_mail_goes_to_whoever_turned_it_off(mailing, team, rosa):
    rosa.mail_about_work = False
    rosa.save()
    submitted(team, rosa, **{"C-1": ["Margins are negative."]})
    assert kinds(rosa) == ["finished"]
    assert not mail.outbox


def test_a_mail_that_the_server_refused_is_sent_later(mailing, team, rosa, monkeypatch):
    class Refusing:
        def send_messages(self, _messages):
            raise ConnectionRefusedError

    monkeypatch.setattr("django.core.mail.message.EmailMessage.get_connection", lambda *_: Refusing())
    submitted(team, rosa, **{"C-1": ["Margins are negative."]})
    assert Notice.objects.get().mailed_at is None
    monkeypatch.undo()
    Job.objects.filter(kind=notices.MAIL).update(not_before=None)
    work_off()
    assert len(mail.outbox) == 1
    assert Notice.objects.get().mailed_at


def test_three_notices_cost_the_queries_of_one(team, rosa, django_assert_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    board = make_board(team)
    notices.rescored([make_entry(board, rosa)])
    client = signed_in(rosa)
    client.get("/notices/")
    with CaptureQueriesContext(connection) as one:
        client.get("/notices/")
    notices.rescored([make_entry(board, rosa) for _ in range(2)])
    with django_assert_num_queries(len(one)):
        assert "3 unread of 3" in client.get("/notices/").content.decode()
