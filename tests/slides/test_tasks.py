"""Registration as a job."""

import shutil

import pytest

from medbench.jobs import attempt
from medbench.jobs import services as jobs
from medbench.jobs.models import Job
from medbench.slides import services
from medbench.slides.models import Slide
from tests.slide_files import CMU


def work_off():
    """Do what a worker does with the next job."""
    job = jobs.claim("tests")
    attempt.run(attempt.Attempt(job))
    job.refresh_from_db()
    return job


@pytest.fixture
def waiting(db, real, slide_dir):
    shutil.copyfile(real / CMU, slide_dir / CMU)
    return Slide.objects.create(file_name=CMU, path=CMU, refusal_code="file_missing", refusal_text="No file.")


def test_a_worker_registers_what_was_queued(waiting, ada):
    job = services.queue_registration(waiting, requested_by=ada)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.refusal_code, waiting.refusal_text) == ("registering", "", "")
    assert (job.requested_by, job.state) == (ada, "queued")
    assert work_off().state == "done"
    waiting.refresh_from_db()
    assert (waiting.state, waiting.width_px) == ("ready", 2220)


def test_a_refused_file_is_a_finished_job(waiting, slide_dir):
    (slide_dir / CMU).write_bytes(b"nothing")
    services.queue_registration(waiting)
    assert work_off().state == "done"
    waiting.refresh_from_db()
    assert (waiting.state, waiting.refusal_code) == ("pending", "unsupported_format")


def test_a_slide_deleted_meanwhile_is_no_failure(waiting):
    services.queue_registration(waiting)
    waiting.delete()
    assert work_off().state == "done"


def test_a_cancelled_registration_has_failed_and_wrote_nothing(waiting):
    job = services.queue_registration(waiting)
    claimed = jobs.claim("tests")
    jobs.cancel(job)
    attempt.run(attempt.Attempt(claimed))
    waiting.refresh_from_db()
    assert (waiting.state, waiting.refusal_code) == ("failed", "cancelled")
    assert (waiting.width_px, waiting.sha256) == (None, "")
    assert Job.objects.get().state == "cancelled"


def test_a_registration_that_failed_for_good_says_why_and_can_be_asked_for_again(waiting, ada):
    services.queue_registration(waiting)
    claimed = jobs.claim("tests")
    assert jobs.fail(claimed, "internal", "Something broke on our side.")
    waiting.refresh_from_db()
    assert (waiting.state, waiting.refusal_code) == ("failed", "internal")
    assert waiting.refusal_text == "Something broke on our side."
    services.queue_registration(waiting, requested_by=ada)
    assert work_off().state == "done"
    waiting.refresh_from_db()
    assert (waiting.state, waiting.refusal_code) == ("ready", "")
    log = [(each.what, each.person) for each in waiting.actions.order_by("pk")]
    assert log == [("queued", None), ("failed", None), ("queued", ada), ("registered", None)]


def test_asked_for_twice_it_is_queued_once(waiting):
    assert services.queue_registration(waiting) == services.queue_registration(waiting)
    assert Job.objects.count() == 1


def test_an_older_job_that_is_cancelled_leaves_a_newer_one_alone(waiting):
    older = services.queue_registration(waiting)
    jobs.cancel(older)
    newer = services.queue_registration(waiting)
    services.registration_given_up(older)
    waiting.refresh_from_db()
    assert (waiting.state, waiting.job) == ("registering", newer)
