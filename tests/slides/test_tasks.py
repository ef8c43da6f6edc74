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


def test_a_cancelled_registration_writes_nothing(waiting):
    job = services.queue_registration(waiting)
    claimed = jobs.claim("tests")
    jobs.cancel(job)
    attempt.run(attempt.Attempt(claimed))
    waiting.refresh_from_db()
    assert (waiting.state, waiting.width_px, waiting.sha256) == ("registering", None, "")
    assert Job.objects.get().state == "cancelled"
