"""One try at one job: what the function that does the work is given, and how its end is recorded."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from medbench.errors import MedBenchError, Unavailable
from medbench.jobs import registry, services
from medbench.jobs.models import Job

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)


class Stopped(BaseException):
    """The attempt must not go on. Not an Exception, for the reason of asyncio.CancelledError: no
    `except Exception` around a single step may swallow it."""


class Superseded(Stopped):
    """The job is on another attempt by now, or gone."""


class Cancelled(Stopped):
    """Someone cancelled the job."""


class HandedBack(Stopped):
    """The worker ends; another one goes on with the job."""


class Attempt:
    """One try at a job. Call `progress()` at every step, and store inside `writing()`.

    **How life is told from death.** Two clocks watch an attempt. The *lease* in the row (`lease_s`, a
    minute) is for other workers: when it runs out, they take the job over. The worker's sweep renews
    it from its own thread, so that a single step may take longer than a lease, while a killed or
    unplugged worker is noticed within one. But a thread that beats for another would also beat for one
    that hangs for ever. So the sweep believes in an attempt only for `step_s` (ten minutes) after its
    own last sign, which only the working thread itself can give: `progress()` or `writing()`. After
    that the sweep stops renewing, gives the slot away, and lets the lease run out.

    **Why a late riser does no harm.** A lease is a guess. Safety rests on the number of the attempt:
    `writing()` begins with an UPDATE of the job's row that matches only while the row is running under
    this number. It fails for whoever was superseded; for all others it locks the row (PostgreSQL) or
    the database (SQLite) until the caller's rows are committed, so that nobody can take over between
    the check and the write.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.payload: dict[str, Any] = job.payload
        self.kind = registry.find(job.kind)
        self._row = threading.RLock()  # held while this attempt has the row locked
        self._signed = self._renewed = time.monotonic()
        self._ends = False

    def progress(
        self, *, done: int | None = None, total: int | None = None, stage: str | None = None
    ) -> None:
        """Note how far the work is, and show that it lives; without arguments only the latter.

        `done` never goes down within an attempt. Not for use inside transactions other than
        `writing()`: the row stays locked until they end. Raises Superseded, Cancelled or HandedBack.
        """
        fields: dict[str, Any] = {}
        if done is not None:
            fields["done"] = Greatest(F("done"), done)
        if total is not None:
            fields["total"] = total
        if stage is not None:
            fields["stage"] = stage
        self._sign(**fields)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction in which only the current attempt can write; keep it well under a second.

        Raises Superseded, Cancelled or HandedBack before anything is written.
        """
        with self._row, transaction.atomic():
            self._sign()
            yield

    def _sign(self, **fields: Any) -> None:
        if self._ends:
            raise HandedBack
        with self._row:
            self._signed = self._renewed = time.monotonic()
            if not services.renew(self.job, **fields):
                raise self._reason()

    def _reason(self) -> Stopped:
        state = Job.objects.filter(pk=self.job.pk).values_list("state", flat=True).first()
        return Cancelled() if state == Job.State.CANCELLED else Superseded()

    def beat(self) -> bool:
        """Renew the lease when a third of it is gone; False when the attempt is too silent to be
        believed in."""
        now = time.monotonic()
        if now - self._signed > self.kind.step_s:
            return False
        # While it writes it has the row locked: nobody can claim it, and we must not wait for it.
        if now - self._renewed > self.kind.lease_s / 3 and self._row.acquire(blocking=False):
            try:
                self._renewed = now
                services.renew(self.job)
            finally:
                self._row.release()
        return True

    def end_soon(self) -> None:
        """Have the next `progress()` or `writing()` raise HandedBack."""
        self._ends = True


def run(attempt: Attempt) -> None:
    """Do the work of one attempt and record how it ended. A person's text goes into the row, a
    traceback only into the log."""
    job = attempt.job
    try:
        attempt.kind.work(attempt)
    except HandedBack:
        services.hand_back(job)
    except Stopped as reason:
        logger.info("job=%s attempt=%s stopped: %s", job.pk, job.attempt, type(reason).__name__)
    except Unavailable as error:
        services.try_again(job, error.code, error.message)
    except MedBenchError as error:
        services.fail(job, error.code, error.message)
    except Exception:
        logger.exception("job=%s kind=%s attempt=%s broke", job.pk, job.kind, job.attempt)
        services.try_again(job, "internal", _BROKEN)
    else:
        services.finish(job)


_BROKEN = (
    "Something broke on our side while this was worked on. If running it again ends the same way, tell "
    "whoever runs this site: the reason is in the worker's log."
)
