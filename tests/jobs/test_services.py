import datetime as dt
import threading
from collections import Counter

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from medbench import jobs
from medbench.jobs import queries
from medbench.jobs.models import Job, WorkerBeat

State = Job.State


@jobs.register("tests.nothing", back_off_s=10)
def do_nothing(attempt):
    pass


def enqueue(**fields):
    return jobs.services.enqueue("tests.nothing", {}, **fields)


def let_lease_run_out(job):
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - dt.timedelta(seconds=1))


@pytest.mark.django_db
def test_enqueued_job_waits_with_what_it_was_given(ada):
    job = jobs.services.enqueue("tests.nothing", {"case": 7}, requested_by=ada, total=12)

    job.refresh_from_db()
    assert (job.state, job.payload, job.requested_by, job.total) == (State.QUEUED, {"case": 7}, ada, 12)
    assert (job.attempt, job.max_attempts) == (0, 3)


@pytest.mark.django_db
def test_delayed_job_starts_when_its_time_has_come_or_somebody_hastens_it():
    job = enqueue(delay=dt.timedelta(hours=1))
    assert jobs.services.claim("worker") is None
    jobs.services.hasten(job)
    assert jobs.services.claim("worker") == job
    Job.objects.filter(pk=job.pk).update(not_before=timezone.now())
    jobs.services.hasten(job)  # it runs: nothing to hasten
    job.refresh_from_db()
    assert job.not_before is not None


@pytest.mark.django_db
def test_unregistered_work_cannot_be_enqueued():
    with pytest.raises(LookupError):
        jobs.services.enqueue("tests.forgotten", {})
    assert not Job.objects.exists()


def test_name_of_work_is_taken_once():
    with pytest.raises(ValueError, match="Two functions are registered"):
        jobs.register("tests.nothing")(do_nothing)


@pytest.mark.django_db(transaction=True)
def test_job_of_a_rolled_back_transaction_never_was():
    with transaction.atomic():
        enqueue()
        transaction.set_rollback(True)
    assert jobs.services.claim("worker") is None


@pytest.mark.django_db
def test_jobs_start_in_the_order_in_which_they_were_queued():
    first, second, third = enqueue(), enqueue(), enqueue()
    assert [queries.place_in_queue(job) for job in (first, second, third)] == [1, 2, 3]
    assert [jobs.services.claim("worker") for _ in range(4)] == [first, second, third, None]


@pytest.mark.django_db
def test_waiting_job_is_not_claimed_before_its_time():
    job = enqueue()
    Job.objects.update(not_before=timezone.now() + dt.timedelta(hours=1))
    assert jobs.services.claim("worker") is None
    Job.objects.update(not_before=timezone.now())
    assert jobs.services.claim("worker") == job


@pytest.mark.django_db
def test_pauses_between_attempts_grow():
    enqueue()
    pauses = []
    for _ in range(2):
        job = jobs.services.claim("worker")
        jobs.services.try_again(job, "away", "The provider does not answer.")
        job.refresh_from_db()
        pauses.append(round((job.not_before - timezone.now()).total_seconds()))
        assert (job.state, job.error_code, job.error_text) == (
            State.QUEUED,
            "away",
            "The provider does not answer.",
        )
        Job.objects.update(not_before=None)
    assert pauses == [10, 40]

    jobs.services.try_again(jobs.services.claim("worker"), "away", "The provider does not answer.")
    job.refresh_from_db()
    assert (job.state, job.error_code, job.attempt) == (State.FAILED, "away", 3)


@pytest.mark.django_db
def test_job_whose_last_worker_vanished_fails_in_plain_words():
    enqueue()
    for _ in range(3):
        job = jobs.services.claim("worker")
        let_lease_run_out(job)

    assert jobs.services.claim("worker") is None
    job.refresh_from_db()
    assert (job.state, job.error_code, job.attempt) == (State.FAILED, "attempts_exhausted", 3)
    assert job.error_text.startswith("The worker was stopped or got stuck in the middle of this work")


@pytest.mark.django_db
def test_hostile_words_fit_into_the_row():
    enqueue()
    job = jobs.services.claim("worker")
    jobs.services.renew(job, stage="Case \0" + 500 * "x")
    jobs.services.fail(job, 100 * "c", "File “\0<script>” is not JSON.")
    job.refresh_from_db()
    assert (job.stage[:6], len(job.stage), job.error_code) == ("Case \ufffd", 120, 60 * "c")
    assert job.error_text == "File “\ufffd<script>” is not JSON."


@pytest.mark.django_db(transaction=True)
def test_workers_that_claim_at_once_get_different_jobs():
    for _ in range(20):
        enqueue()
    claimed = []

    def claim_all():
        while job := jobs.services.claim("worker"):
            claimed.append(job.pk)
        connections.close_all()

    workers = [threading.Thread(target=claim_all) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert Counter(claimed) == dict.fromkeys(Job.objects.values_list("pk", flat=True), 1)
    assert set(Job.objects.values_list("attempt", flat=True)) == {1}


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one lock for all rows")
def test_job_locked_by_a_frozen_writer_does_not_hold_up_the_others():
    enqueue()
    second = enqueue()
    frozen = jobs.services.claim("worker")
    let_lease_run_out(frozen)
    claimed = []

    def claim_twice():
        claimed.extend(jobs.services.claim("other") for _ in range(2))
        connections.close_all()

    with transaction.atomic():
        Job.objects.select_for_update().get(pk=frozen.pk)
        other = threading.Thread(target=claim_twice)
        other.start()
        other.join(timeout=20)  # it would wait for the lock until this transaction ends
        assert claimed == [second, None]


@pytest.mark.django_db
def test_age_of_the_last_sweep_is_that_of_the_liveliest_worker():
    assert queries.last_sweep_age() is None
    for worker, age_s in (("one", 90), ("two", 3)):
        swept_at = timezone.now() - dt.timedelta(seconds=age_s)
        WorkerBeat.objects.create(worker=worker, slots=2, swept_at=swept_at)
    assert 3 <= queries.last_sweep_age().total_seconds() < 60


@pytest.mark.django_db
def test_health_is_that_of_the_sweep(client):
    assert client.get("/healthz").json()["checks"]["jobs"] == {
        "ok": False,
        "message": "No worker has looked for work in the last minute.",
    }
    WorkerBeat.objects.create(worker="one", slots=2, swept_at=timezone.now())
    checks = client.get("/healthz").json()["checks"]
    assert checks["jobs"]["ok"]
    assert 0 <= checks["jobs"]["age_s"] < 60
