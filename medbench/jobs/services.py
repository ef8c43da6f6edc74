"""What can happen to a job: the one place where its row is written.

Every change is a conditional UPDATE whose count says who won, so any number of web processes and
workers may try at the same time. A worker's changes carry the number of its attempt: once the row
is on another attempt, or no longer running, they change nothing.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from medbench.errors import Conflict
from medbench.jobs import queries, registry
from medbench.jobs.models import Job

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from medbench.accounts.models import User

State = Job.State

MAY_BECOME: dict[State, frozenset[State]] = {
    State.QUEUED: frozenset({State.RUNNING, State.CANCELLED}),
    # Back to queued: handed back, or tried again later. Running anew: its lease had run out.
    State.RUNNING: frozenset({State.QUEUED, State.RUNNING, State.DONE, State.FAILED, State.CANCELLED}),
    State.DONE: frozenset(),
    State.FAILED: frozenset({State.QUEUED}),
    State.CANCELLED: frozenset({State.QUEUED}),
}


def _move(rows: QuerySet[Job], to: State, **fields: Any) -> bool:
    """Move those of `rows` that may become `to`; False where there was none."""
    origins = [state for state, targets in MAY_BECOME.items() if to in targets]
    return rows.filter(state__in=origins).update(state=to, **fields) > 0


def enqueue(
    kind: str,
    payload: dict[str, Any],
    *,
    requested_by: User | None = None,
    total: int = 0,
    delay: dt.timedelta | None = None,
) -> Job:
    """Queue work as part of the caller's transaction; workers hear of it when that commits.

    `payload` holds ids, never objects or secrets. `total` is the number of steps where it is known.
    With a `delay` it does not start before: one job can then answer for a burst of changes.
    Raises LookupError for a kind that nobody registered.
    """
    job = Job.objects.create(
        kind=kind,
        payload=payload,
        requested_by=requested_by,
        total=total,
        max_attempts=registry.known(kind).max_attempts,
        not_before=timezone.now() + delay if delay else None,
    )
    _ring_on_commit()
    return job


def hasten(job: Job) -> None:
    """Let a queued job start now, whatever its delay. One that runs or is over is left as it is."""
    if Job.objects.filter(pk=job.pk, state=State.QUEUED).update(not_before=None):
        _ring_on_commit()


def cancel(job: Job) -> None:
    """Stop a job. A running one stops at its next step; nothing of it is written any more.

    Raises Conflict where it is over already.
    """
    rows = Job.objects.filter(pk=job.pk)
    with transaction.atomic():
        moved = _move(rows, State.CANCELLED, finished_at=timezone.now(), lease_until=None, not_before=None)
        job.refresh_from_db()
        if moved:
            registry.find(job.kind).given_up(job)
    if not moved:
        raise Conflict(f"This work is over ({job.get_state_display().lower()}): nothing to cancel.")


def retry(job: Job) -> None:
    """Queue a failed or cancelled job anew, with as many attempts as a new one.

    Raises Conflict where it is neither.
    """
    moved = _move(
        Job.objects.filter(pk=job.pk, state__in=(State.FAILED, State.CANCELLED)),
        State.QUEUED,
        # The number of the attempt goes on, so that a forgotten worker stays fenced off.
        max_attempts=F("attempt") + registry.find(job.kind).max_attempts,
        error_code="",
        error_text="",
        finished_at=None,
    )
    job.refresh_from_db()
    if not moved:
        raise Conflict(f"This work is {job.get_state_display().lower()}: it cannot be run again.")
    _ring_on_commit()


def claim(worker: str) -> Job | None:
    """Start the next attempt of the oldest job that is due, None where none is.

    A job whose worker vanished in its last attempt fails instead.
    """
    now = timezone.now()
    while queries.due(now).exists():  # a look without a lock: an idle worker disturbs nobody
        with transaction.atomic():
            # A row locked by a frozen writer is passed over; SQLite has one lock for all and waits.
            job = queries.due(now).select_for_update(skip_locked=True).first()
            if job is None:
                return None
            if job.state == State.RUNNING and job.attempt >= job.max_attempts:
                fail(job, "attempts_exhausted", _EXHAUSTED)
            elif _start(job, worker, now):
                job.refresh_from_db()
                return job
    return None


_EXHAUSTED = (
    "The worker was stopped or got stuck in the middle of this work, and no attempt is left. Run it again; "
    "if that ends the same way, tell whoever runs this site."
)


def _start(job: Job, worker: str, now: dt.datetime) -> bool:
    return _move(
        Job.objects.filter(pk=job.pk, state=job.state, attempt=job.attempt),
        State.RUNNING,
        attempt=job.attempt + 1,
        worker=worker[:120],
        started_at=now,
        done=0,
        stage="",
        error_code="",
        error_text="",
        not_before=None,
        **_lease(job),
    )


def renew(job: Job, **fields: Any) -> bool:
    """Keep the lease of a claimed job and note its progress; False where the claim is lost."""
    if "stage" in fields:
        fields["stage"] = _fit(fields["stage"], 120)
    return _held(job).update(**_lease(job), **fields) > 0


def finish(job: Job) -> bool:
    """Record that the work of a claimed job is done; False where the claim is lost."""
    return _move(_held(job), State.DONE, finished_at=timezone.now(), lease_until=None)


def fail(job: Job, code: str, text: str) -> bool:
    """Record why a claimed job cannot be done; False where the claim is lost."""
    now = timezone.now()
    with transaction.atomic():
        failed = _move(_held(job), State.FAILED, finished_at=now, lease_until=None, **_error(code, text))
        if failed:
            job.refresh_from_db()
            registry.find(job.kind).given_up(job)
    return failed


def try_again(job: Job, code: str, text: str) -> bool:
    """Queue a claimed job for another attempt after a pause, or fail it where this was the last.

    False where the claim is lost.
    """
    if job.attempt >= job.max_attempts:
        return fail(job, code, text)
    pause = dt.timedelta(seconds=registry.find(job.kind).pause_s(job.attempt))
    not_before = timezone.now() + pause
    return _move(_held(job), State.QUEUED, not_before=not_before, lease_until=None, **_error(code, text))


def hand_back(job: Job) -> bool:
    """Give a claimed job to another worker at once, because this one ends; the attempt is not counted.

    False where the claim is lost.
    """
    moved = _move(_held(job), State.QUEUED, max_attempts=F("max_attempts") + 1, lease_until=None)
    if moved:
        _ring_on_commit()
    return moved


def _held(job: Job) -> QuerySet[Job]:
    """The row of a claimed job, as long as the claim holds."""
    return Job.objects.filter(pk=job.pk, attempt=job.attempt, state=State.RUNNING)


def _lease(job: Job) -> dict[str, dt.datetime]:
    now = timezone.now()
    return {"heartbeat_at": now, "lease_until": now + dt.timedelta(seconds=registry.find(job.kind).lease_s)}


def _error(code: str, text: str) -> dict[str, str]:
    return {"error_code": _fit(code, 60), "error_text": _fit(text, 2000)}


def _fit(text: str, length: int) -> str:
    """Words may quote a file: PostgreSQL stores no null character and nothing too long."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:length]


def _ring_on_commit() -> None:
    """Wake the workers. Without a broker they look by themselves, several times a second."""
    if not settings.EMBEDDED_WORKER:
        from medbench.celery import ring  # Celery takes 0.2 s to import; only a site with a broker pays

        transaction.on_commit(ring, robust=True)  # the row is safe, whatever the broker says
