"""Real worker processes: killed, frozen, told to end. Run on the set-up that DATABASE_URL and
BROKER_URL name, SQLite without a broker by default."""

import random
import signal
import time
from collections import Counter

import pytest

from medbench import jobs
from medbench.jobs.models import Job, WorkerBeat
from tests.jobs.processes import wait_until

pytestmark = pytest.mark.worker
State = Job.State


def take_steps(count, steps=5, pause_s=0.1):
    return [jobs.services.enqueue("steps.take", {"steps": steps, "pause_s": pause_s}) for _ in range(count)]


def take_steps_unheard(count, steps=5, pause_s=0.1):
    """Rows whose ring got lost."""
    payload = {"steps": steps, "pause_s": pause_s}
    return [Job.objects.create(kind="steps.take", payload=payload, max_attempts=20) for _ in range(count)]


def states():
    return Counter(Job.objects.values_list("state", flat=True))


def all_over():
    return not states().keys() & {State.QUEUED, State.RUNNING}


def living(workers):
    """Those processes that live and work on a job."""
    for name in Job.objects.filter(state=State.RUNNING).values_list("worker", flat=True):
        worker = workers[int(name.rpartition(":")[2])]
        if worker.poll() is None:
            yield worker


def storm(processes, steps, *, seed, count, blows):
    """Two workers on `count` jobs of five steps, while at random moments one of them is killed, or
    frozen for longer than its leases and then woken."""
    chance = random.Random(seed)
    workers = {worker.pid: worker for worker in processes.start_workers(2)}
    take_steps(count // 2, pause_s=0.2)
    take_steps_unheard(count - count // 2, pause_s=0.2)
    for blow in range(blows):
        time.sleep(chance.uniform(0, 0.4))
        victim = wait_until(lambda: next(living(workers), None))
        if blow % 2:
            victim.send_signal(signal.SIGSTOP)
            time.sleep(2.5)
            victim.send_signal(signal.SIGCONT)
        else:
            victim.kill()
            replacement = processes.start_worker()
            workers[replacement.pid] = replacement
    wait_until(all_over)

    assert states() == {State.DONE: count}
    assert Counter(Job.objects.values_list("done", "total")) == {(5, 5): count}
    assert steps.count() == count * 5  # unique by job and number
    assert Job.objects.filter(attempt__gt=1).exists()  # the blows did hit


def test_killed_and_frozen_workers_lose_nothing_and_double_nothing(processes, steps):
    storm(processes, steps, seed=1, count=12, blows=3)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_many_killed_and_frozen_workers_lose_nothing_and_double_nothing(processes, steps, seed):
    storm(processes, steps, seed=seed, count=80, blows=8)


def test_attempts_that_wake_after_others_took_over_write_nothing(processes, steps, tmp_path):
    alarm = tmp_path / "alarm"
    for _ in range(4):
        jobs.services.enqueue("steps.oversleep", {"steps": 5, "alarm": str(alarm)})
    processes.start_workers(2)
    wait_until(all_over)
    alarm.touch()
    wait_until(lambda: processes.logs().count("attempt=1 stopped: Superseded") == 4)

    assert states() == {State.DONE: 4}
    assert Counter(Job.objects.values_list("attempt", "done")) == {(2, 5): 4}
    assert Counter(steps.values_list("attempt", "number")) == Counter(
        {(1, 1): 4, (1, 2): 4, (2, 3): 4, (2, 4): 4, (2, 5): 4}
    )


def test_cancelled_job_writes_nothing_more_and_frees_its_slot(processes, steps):
    processes.start_workers(command=("manage.py", "worker", "--concurrency=1"))
    (job,) = take_steps(1, steps=1000, pause_s=0.02)
    wait_until(lambda: steps.count() > 2)

    jobs.services.cancel(job)
    stored = steps.count()
    (other,) = take_steps(1, steps=1, pause_s=0)
    wait_until(Job.objects.filter(pk=other.pk, state=State.DONE).exists)

    assert steps.filter(job_id=job.pk).count() == stored
    job.refresh_from_db()
    assert (job.state, job.done, job.error_code) == (State.CANCELLED, stored, "")


def test_worker_told_to_end_hands_its_jobs_back(processes, steps):
    (worker,) = processes.start_workers()
    take_steps(3, steps=100)
    wait_until(lambda: steps.count() > 2)

    worker.send_signal(signal.SIGTERM)

    assert worker.wait() == 0
    assert not WorkerBeat.objects.exists()
    assert states() == {State.QUEUED: 3}
    # The attempt is not counted: the last number allowed goes up with it.
    assert Counter(Job.objects.values_list("attempt", "max_attempts")) == {(1, 21): 2, (0, 20): 1}
    stored = steps.count()
    assert stored == sum(Job.objects.values_list("done", flat=True))

    Job.objects.update(payload={"steps": 100, "pause_s": 0})
    processes.start_workers()
    wait_until(all_over)
    assert states() == {State.DONE: 3}
    assert steps.count() == 300
    assert steps.filter(attempt=2).count() == 200 - stored  # it went on where the first one ended
