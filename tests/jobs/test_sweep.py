"""The sweep inside this process: slots, leases of long steps, stuck work. Processes: test_workers.py."""

import threading

import pytest
from django.utils import timezone

from medbench import jobs
from medbench.jobs import queries
from medbench.jobs.attempt import Superseded
from medbench.jobs.models import Job, WorkerBeat
from medbench.jobs.sweep import Sweep
from tests.jobs.processes import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
State = Job.State


class Gate:
    """Where the work of these tests waits, and what became of it."""

    def __init__(self):
        self.open = threading.Event()
        self.reached = threading.Event()
        self.ended = []


@pytest.fixture
def gate(monkeypatch):
    gate = Gate()
    monkeypatch.setattr(f"{__name__}.current_gate", gate)
    yield gate
    gate.open.set()


current_gate = None


@jobs.register("tests.long_step", lease_s=0.3, max_attempts=1)
def wait_at_gate(attempt):
    gate = current_gate
    gate.reached.set()
    gate.open.wait()
    attempt.progress(done=1)


@jobs.register("tests.stuck", lease_s=0.3, step_s=0.6, max_attempts=1)
def hang_at_gate(attempt):
    gate = current_gate
    gate.reached.set()
    gate.open.wait()
    try:
        with attempt.writing():
            gate.ended.append("wrote")
    except Superseded:
        gate.ended.append("superseded")
        raise


@jobs.register("tests.short")
def return_at_once(attempt):
    pass


@pytest.fixture
def sweep(settings):
    """Starts sweeps, as two workers would."""
    settings.JOB_SWEEP_SECONDS = 0.05
    started = []

    def start(slots):
        started.append(Sweep())
        started[-1].start(slots)
        return started[-1]

    yield start
    if current_gate:
        current_gate.open.set()
    for each in started:
        each.end()
        each.join()


def is_in(job, state):
    return Job.objects.filter(pk=job.pk, state=state).exists


def test_lease_of_a_long_step_is_kept(sweep, gate):
    job = jobs.services.enqueue("tests.long_step", {})
    sweep(slots=1)
    gate.reached.wait()
    (first,) = Job.objects.values_list("lease_until", flat=True)
    sweep(slots=1)  # another worker, ready to take over

    wait_until(lambda: (Job.objects.get().lease_until - first).total_seconds() > 1)  # three leases later
    gate.open.set()

    wait_until(is_in(job, State.DONE))
    job.refresh_from_db()
    assert (job.attempt, job.done) == (1, 1)


def test_stuck_work_loses_its_lease_and_its_slot_and_cannot_write_later(sweep, gate):
    stuck = jobs.services.enqueue("tests.stuck", {})
    sweep(slots=1)
    gate.reached.wait()
    short = jobs.services.enqueue("tests.short", {})

    wait_until(is_in(short, State.DONE))
    wait_until(is_in(stuck, State.FAILED))
    gate.open.set()

    wait_until(lambda: gate.ended)
    assert gate.ended == ["superseded"]
    stuck.refresh_from_db()
    assert (stuck.error_code, stuck.attempt) == ("attempts_exhausted", 1)


def test_no_more_jobs_are_started_than_there_are_slots(sweep, gate):
    for _ in range(5):
        jobs.services.enqueue("tests.long_step", {})
    sweep(slots=2)
    wait_until(lambda: Job.objects.filter(state=State.RUNNING).count() == 2)
    started = timezone.now()
    wait_until(WorkerBeat.objects.filter(swept_at__gt=started).exists)  # it goes on looking
    assert Job.objects.filter(state=State.QUEUED, attempt=0).count() == 3
    gate.open.set()
    wait_until(lambda: Job.objects.filter(state=State.DONE).count() == 5)
    assert set(Job.objects.values_list("attempt", flat=True)) == {1}


def test_work_in_a_long_step_is_handed_back_when_the_worker_cannot_wait(sweep, gate, monkeypatch):
    monkeypatch.setattr("medbench.jobs.sweep.GRACE_S", 0.2)
    job = jobs.services.enqueue("tests.long_step", {})
    worker = sweep(slots=1)
    gate.reached.wait()

    worker.end()
    worker.join()
    job.refresh_from_db()
    assert (job.state, job.attempt, job.max_attempts) == (State.QUEUED, 1, 2)

    sweep(slots=1)
    wait_until(is_in(job, State.RUNNING))
    gate.open.set()
    wait_until(is_in(job, State.DONE))
    job.refresh_from_db()
    assert (job.attempt, job.done) == (2, 1)


def test_worker_shows_life_while_it_runs_and_is_gone_after(sweep):
    worker = sweep(slots=3)
    wait_until(lambda: WorkerBeat.objects.filter(worker=worker.worker, slots=3).exists())
    worker.end()
    worker.join()
    assert not WorkerBeat.objects.exists()
    assert queries.last_sweep_age() is None
