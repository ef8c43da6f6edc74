"""What the function that does the work can rely on, and how its end is recorded."""

import logging

import pytest
from django.db.models import F

from medbench import jobs
from medbench.errors import InvalidInput, Unavailable
from medbench.jobs.attempt import Attempt, Cancelled, HandedBack, Superseded, run
from medbench.jobs.models import Job
from medbench.jobs.registry import find

pytestmark = pytest.mark.django_db
State = Job.State


@jobs.register("tests.script", max_attempts=2)
def follow_script(attempt):
    """Does what the test says."""
    script(attempt)


def script(attempt):
    raise NotImplementedError


@pytest.fixture
def work(monkeypatch):
    """Runs one attempt at a new or given job, in which `does(attempt)` is the work."""

    def run_once(does, job=None):
        monkeypatch.setattr(f"{__name__}.script", does)
        job = job or jobs.services.enqueue("tests.script", {"case": 7})
        Job.objects.filter(pk=job.pk).update(not_before=F("created_at"))  # no pause
        run(Attempt(jobs.services.claim("worker")))
        job.refresh_from_db()
        return job

    return run_once


def test_work_is_done_when_its_function_returns(work):
    seen = []

    def does(attempt):
        seen.append(attempt.payload)
        attempt.progress(done=1, total=3, stage="Reading")

    job = work(does)
    assert seen == [{"case": 7}]
    assert (job.state, job.done, job.total, job.stage, job.error_code) == (State.DONE, 1, 3, "Reading", "")
    assert job.finished_at >= job.started_at


def test_progress_never_goes_down_and_keeps_what_is_not_said(work):
    def does(attempt):
        attempt.progress(done=5, total=9, stage="Scoring")
        attempt.progress(done=0)
        attempt.progress()

    job = work(does)
    assert (job.done, job.total, job.stage) == (5, 9, "Scoring")


def test_error_for_people_fails_the_job_at_once_in_its_own_words(work, caplog):
    def does(attempt):
        raise InvalidInput("Line 3 is not JSON.", code="bad_json")

    job = work(does)
    assert (job.state, job.attempt) == (State.FAILED, 1)
    assert (job.error_code, job.error_text) == ("bad_json", "Line 3 is not JSON.")
    assert not caplog.records


def test_what_does_not_work_now_is_tried_again_and_then_fails_in_its_own_words(work, caplog):
    def does(attempt):
        raise Unavailable("The provider does not answer.")

    job = work(does)
    assert (job.state, job.error_code) == (State.QUEUED, "unavailable")
    assert job.not_before > job.started_at
    job = work(does, job)
    assert (job.state, job.error_text) == (State.FAILED, "The provider does not answer.")
    assert not caplog.records


def test_surprise_is_tried_again_and_then_fails_without_a_word_of_the_inside(work, caplog):
    def does(attempt):
        raise FileNotFoundError("/secret/path")

    job = work(does)
    assert (job.state, job.error_code) == (State.QUEUED, "internal")
    job = work(does, job)
    assert (job.state, job.error_code) == (State.FAILED, "internal")
    assert job.error_text.startswith("Something broke on our side")
    for hidden in ("/secret/path", "FileNotFoundError", "Traceback"):
        assert hidden not in job.error_text
        assert hidden in caplog.text
    assert str(job.pk) in caplog.text


def test_new_attempt_starts_with_a_clean_row(work):
    def breaks(attempt):
        attempt.progress(done=7, stage="Reading")
        raise Unavailable("The provider does not answer.")

    def succeeds(attempt):
        pass

    job = work(breaks)
    assert (job.done, job.stage, job.error_code) == (7, "Reading", "unavailable")
    job = work(succeeds, job)
    assert (job.state, job.attempt) == (State.DONE, 2)
    assert (job.done, job.stage, job.error_code, job.error_text, job.not_before) == (0, "", "", "", None)


def test_unknown_work_fails_at_once_and_says_why():
    job = Job.objects.create(kind="tests.of_a_newer_version")
    run(Attempt(jobs.services.claim("worker")))
    job.refresh_from_db()
    assert (job.state, job.error_code) == (State.FAILED, "unknown_kind")
    assert job.error_text == (
        "The worker does not know the work “tests.of_a_newer_version”: it runs another version than the "
        "site. Restart the workers, then run this again."
    )
    jobs.services.retry(job)
    assert job.state == State.QUEUED


@pytest.mark.parametrize("shield", [True, False])
def test_cancelled_work_stops_at_its_next_step_whatever_it_catches(work, shield, caplog):
    caplog.set_level(logging.INFO)
    steps = []

    def does(attempt):
        for number in range(5):
            try:
                attempt.progress(done=number)
            except Exception:  # noqa: BLE001  # what a handler might do around a step
                steps.append("caught")
            steps.append(number)
            if number == 2:
                jobs.services.cancel(attempt.job)

    job = work(does)
    assert steps == [0, 1, 2]
    assert (job.state, job.done) == (State.CANCELLED, 2)
    assert "stopped: Cancelled" in caplog.text


def test_late_riser_can_neither_write_nor_end_the_job(work):
    late = []

    def oversleeps(attempt):
        """Its lease runs out and others take over; then it wakes."""
        Job.objects.filter(pk=attempt.job.pk).update(lease_until=attempt.job.started_at)
        late.append((attempt, Attempt(jobs.services.claim("other"))))

    job = work(oversleeps)  # returns, so that run() tries to record "done"
    ((old, new),) = late
    assert (job.state, job.attempt) == (State.RUNNING, 2)
    with pytest.raises(Superseded), old.writing():
        Job.objects.create(kind="written by the late riser")
    assert not Job.objects.filter(kind="written by the late riser").exists()
    with new.writing():
        Job.objects.create(kind="written by the new attempt")
    assert Job.objects.filter(kind="written by the new attempt").exists()


def test_step_that_breaks_inside_writing_leaves_nothing(work):
    def does(attempt):
        with attempt.writing():
            Job.objects.create(kind="half a step")
            attempt.progress(done=1)
            raise Unavailable("The provider does not answer.")

    job = work(does)
    assert not Job.objects.filter(kind="half a step").exists()
    assert job.done == 0


def test_work_of_a_deleted_job_stops(work):
    attempt = Attempt(jobs.services.claim("worker")) if jobs.services.enqueue("tests.script", {}) else None
    Job.objects.all().delete()
    with pytest.raises(Superseded):
        attempt.progress()


def test_work_is_handed_back_at_its_next_step_when_the_worker_ends(work):
    def does(attempt):
        attempt.end_soon()
        with pytest.raises(HandedBack), attempt.writing():
            Job.objects.create(kind="written at the last moment")
        attempt.progress()

    job = work(does)
    assert (job.state, job.attempt, job.max_attempts) == (State.QUEUED, 1, 3)
    assert job.not_before is None
    assert not Job.objects.filter(kind="written at the last moment").exists()


def test_cancelled_is_said_of_a_cancelled_job():
    job = jobs.services.enqueue("tests.script", {})
    attempt = Attempt(jobs.services.claim("worker"))
    jobs.services.cancel(job)
    with pytest.raises(Cancelled), attempt.writing():
        pass


def test_limits_of_a_kind_are_those_it_was_registered_with():
    kind = find("tests.script")
    assert (kind.lease_s, kind.step_s, kind.max_attempts) == (60, 600, 2)
    assert [kind.pause_s(failed) for failed in (1, 2, 3, 99)] == [5, 20, 80, 3600]
