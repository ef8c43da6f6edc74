"""The one thread of a worker process that looks for due jobs, starts them and keeps them alive."""

from __future__ import annotations

import datetime as dt
import logging
import os
import socket
import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import Error as DatabaseProblem
from django.db import close_old_connections, connections
from django.db.models import Q
from django.utils import timezone

from medbench.jobs import services
from medbench.jobs.attempt import Attempt, run
from medbench.jobs.models import WorkerBeat

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

GRACE_S = 8.0  # for running steps when the worker is told to end; containers are killed after ten
BEAT_S = 2.0  # between two updates of the worker's own row


class Sweep:
    """Claims a job for every free slot, at every ring and every JOB_SWEEP_SECONDS.

    A job is claimed when its thread starts, so a long queue uses up neither leases nor attempts, and
    what other workers can do stays in the table for them. The broker is not needed for any of this.
    """

    def __init__(self) -> None:
        self.worker = f"{socket.gethostname()}:{os.getpid()}"
        self.slots = 1
        # A SimpleQueue because a signal handler rings it: unlike an Event it may interrupt itself.
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._running: set[Attempt] = set()
        self._ends_at: float | None = None
        self._beat_at = 0.0
        self._thread = threading.Thread(target=self._loop, name="sweep", daemon=True)

    def start(self, slots: int) -> None:
        """Begin to look for work, `slots` jobs at a time."""
        self.slots = slots
        self._thread.start()

    def ring(self) -> None:
        """Look now."""
        self._bell.put(None)

    def end(self) -> None:
        """Claim nothing more and hand back what runs, each job at its next step. Safe in a signal handler."""
        if self._ends_at is None:
            self._ends_at = time.monotonic() + GRACE_S
            self.ring()

    def join(self) -> None:
        """Wait until everything is handed back."""
        if self._thread.is_alive():
            self._thread.join()

    def _loop(self) -> None:
        while self._ends_at is None or (self._running and time.monotonic() < self._ends_at):
            self._try(self._turn)
            self._rest()
        self._try(self._leave)
        connections.close_all()

    def _try(self, step: Callable[[], None]) -> None:
        """The sweep outlives whatever happens in a step."""
        try:
            close_old_connections()
            step()
        except DatabaseProblem as problem:
            logger.warning("The database did not answer the sweep of %s: %s", self.worker, problem)
        except Exception:
            logger.exception("The sweep of %s stumbled", self.worker)

    def _turn(self) -> None:
        for attempt in tuple(self._running):
            if self._ends_at is not None:
                attempt.end_soon()
            if not attempt.beat():
                logger.warning("job=%s attempt=%s is stuck", attempt.job.pk, attempt.job.attempt)
                self._running.discard(attempt)
        while self._ends_at is None and len(self._running) < self.slots:
            job = services.claim(self.worker)
            if job is None:
                break
            self._begin(Attempt(job))
        self._show_life()

    def _begin(self, attempt: Attempt) -> None:
        self._running.add(attempt)
        threading.Thread(target=self._work, args=(attempt,), name=str(attempt.job.pk), daemon=True).start()

    def _work(self, attempt: Attempt) -> None:
        try:
            run(attempt)
        except DatabaseProblem as problem:  # nothing could be recorded: the lease runs out
            logger.warning("job=%s lost the database: %s", attempt.job.pk, problem)
        finally:
            connections.close_all()
            self._running.discard(attempt)
            self.ring()

    def _show_life(self) -> None:
        if time.monotonic() >= self._beat_at:
            self._beat_at = time.monotonic() + BEAT_S
            beat = {"slots": self.slots, "swept_at": timezone.now()}
            WorkerBeat.objects.update_or_create(worker=self.worker, defaults=beat)

    def _rest(self) -> None:
        """Sleep until the bell, the next look, or the next lease that wants renewing."""
        next_look_s = settings.JOB_SWEEP_SECONDS if self._ends_at is None else 0.1
        leases_s = [attempt.kind.lease_s for attempt in tuple(self._running)]
        with suppress(Empty):
            self._bell.get(timeout=min([next_look_s, *(lease_s / 6 for lease_s in leases_s)]))
            while True:  # many rings, one look
                self._bell.get_nowait()

    def _leave(self) -> None:
        for attempt in tuple(self._running):
            services.hand_back(attempt.job)
        killed = Q(swept_at__lt=timezone.now() - dt.timedelta(days=1))
        WorkerBeat.objects.filter(killed | Q(worker=self.worker)).delete()
