"""Whatever web processes and workers do to jobs, in whatever order, the rules of jobs.services hold.

Hypothesis plays several people and workers against the real table and a model of what may happen.
"""

import datetime as dt
from dataclasses import dataclass, field

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from medbench import jobs
from medbench.errors import Conflict
from medbench.jobs.attempt import Attempt, Cancelled, Superseded
from medbench.jobs.models import Job

State = Job.State
LIMIT = 2  # attempts


@jobs.register("tests.states", max_attempts=LIMIT)
def never_called(attempt):
    raise AssertionError("The machine plays the work itself.")


@dataclass
class Expected:
    """What the model believes of one job."""

    state: str = State.QUEUED
    attempt: int = 0  # also the only attempt that may write while the job runs
    tries: int = 0  # counted attempts since it was queued by a person
    is_due: bool = True
    done: int = 0
    written: list = field(default_factory=list)  # attempts that stored something, in order


class People(RuleBasedStateMachine):
    attempts = Bundle("attempts")

    def __init__(self):
        super().__init__()
        Job.objects.all().delete()
        self.expected = {}  # in the order of the queue

    def any_job(self, data):
        pk = data.draw(st.sampled_from(list(self.expected)))
        return Job.objects.get(pk=pk), self.expected[pk]

    # --- People ---

    @initialize()
    def start_with_a_job(self):
        self.enqueue()

    @rule()
    @precondition(lambda self: len(self.expected) < 3)  # few jobs, so that much happens to each
    def enqueue(self):
        job = jobs.services.enqueue("tests.states", {})
        self.expected[job.pk] = Expected()

    @rule(data=st.data())
    def cancel(self, data):
        job, expected = self.any_job(data)
        if expected.state in (State.QUEUED, State.RUNNING):
            jobs.services.cancel(job)
            expected.state = State.CANCELLED
        else:
            with pytest.raises(Conflict):
                jobs.services.cancel(job)

    @rule(data=st.data())
    def run_again(self, data):
        job, expected = self.any_job(data)
        if expected.state in (State.FAILED, State.CANCELLED):
            jobs.services.retry(job)
            expected.state, expected.tries, expected.is_due = State.QUEUED, 0, True
        else:
            with pytest.raises(Conflict):
                jobs.services.retry(job)

    # --- Time ---

    @rule()
    def leases_run_out_and_pauses_end(self):
        past = timezone.now() - dt.timedelta(seconds=1)
        Job.objects.filter(state=State.RUNNING).update(lease_until=past)
        Job.objects.exclude(state=State.RUNNING).update(not_before=past)
        for expected in self.expected.values():
            expected.is_due = True

    # --- Workers ---

    @rule(target=attempts, worker=st.sampled_from(["one", "two", "three"]))
    def claim(self, worker):
        job = jobs.services.claim(worker)
        for pk, expected in self.expected.items():
            if not expected.is_due or expected.state not in (State.QUEUED, State.RUNNING):
                continue
            if expected.state == State.RUNNING and expected.tries == LIMIT:
                expected.state = State.FAILED
                continue
            assert job.pk == pk  # the oldest that is due
            expected.state, expected.is_due, expected.done = State.RUNNING, False, 0
            expected.attempt += 1
            expected.tries += 1
            return Attempt(job)
        assert job is None
        return multiple()

    def is_current(self, attempt):
        expected = self.expected[attempt.job.pk]
        return expected.state == State.RUNNING and expected.attempt == attempt.job.attempt

    def stopped(self, attempt):
        state = self.expected[attempt.job.pk].state
        return Cancelled if state == State.CANCELLED else Superseded

    @rule(attempt=attempts, done=st.integers(0, 9))
    def progress(self, attempt, done):
        expected = self.expected[attempt.job.pk]
        if self.is_current(attempt):
            attempt.progress(done=done, total=9, stage="Steps")
            expected.done, expected.is_due = max(expected.done, done), False
        else:
            with pytest.raises(self.stopped(attempt)):
                attempt.progress(done=done)

    @rule(attempt=attempts)
    def write(self, attempt):
        if not self.is_current(attempt):
            with pytest.raises(self.stopped(attempt)), attempt.writing():
                raise AssertionError("An attempt that is not the current one could write.")
            return
        expected = self.expected[attempt.job.pk]
        with attempt.writing():
            expected.written.append(attempt.job.attempt)
        expected.is_due = False

    @rule(attempt=attempts)
    def finish(self, attempt):
        self.ends(attempt, jobs.services.finish(attempt.job), State.DONE)

    @rule(attempt=attempts)
    def fail(self, attempt):
        self.ends(attempt, jobs.services.fail(attempt.job, "wrong", "It is wrong."), State.FAILED)

    @rule(attempt=attempts)
    def try_again(self, attempt):
        is_last = self.expected[attempt.job.pk].tries == LIMIT
        moved = jobs.services.try_again(attempt.job, "away", "It is away.")
        self.ends(attempt, moved, State.FAILED if is_last else State.QUEUED)

    @rule(attempt=attempts)
    def hand_back(self, attempt):
        if self.ends(attempt, jobs.services.hand_back(attempt.job), State.QUEUED):
            expected = self.expected[attempt.job.pk]
            expected.tries -= 1
            expected.is_due = True

    def ends(self, attempt, moved, state):
        assert moved == self.is_current(attempt)
        if moved:
            expected = self.expected[attempt.job.pk]
            expected.state, expected.is_due = state, False
        return moved

    # --- What always holds ---

    @invariant()
    def rows_are_as_expected(self):
        rows = {job.pk: job for job in Job.objects.all()}
        assert rows.keys() == self.expected.keys()
        for pk, expected in self.expected.items():
            job = rows[pk]
            assert (job.state, job.attempt) == (expected.state, expected.attempt)
            if job.state == State.RUNNING:
                assert job.done == expected.done
            assert 0 <= expected.tries <= LIMIT
            assert job.max_attempts - job.attempt == LIMIT - expected.tries
            assert (job.lease_until is not None) == (job.state == State.RUNNING)
            assert (job.finished_at is not None) == job.is_over
            assert expected.written == sorted(expected.written)  # no attempt wrote after a later one


def play(*, examples, steps):
    run_state_machine_as_test(
        People,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.django_db
def test_jobs_obey_their_rules_in_any_order_of_events():
    play(examples=30, steps=40)


@pytest.mark.long
@pytest.mark.django_db
def test_jobs_obey_their_rules_in_any_order_of_events_for_long():
    play(examples=300, steps=60)
