"""Reads: which jobs wait, and whether anyone looks for them."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone

from medbench.jobs.models import Job, WorkerBeat

if TYPE_CHECKING:
    from django.db.models import QuerySet

AWAY = dt.timedelta(minutes=1)  # a worker that has not looked for work for so long counts as gone


def due(now: dt.datetime) -> QuerySet[Job]:
    """What a worker may claim at `now`, oldest first: queued jobs whose time has come, and running
    ones whose lease ran out."""
    waiting = Q(state=Job.State.QUEUED) & (Q(not_before=None) | Q(not_before__lte=now))
    return Job.objects.filter(waiting | Q(state=Job.State.RUNNING, lease_until__lt=now))


def place_in_queue(job: Job) -> int:
    """1 for the job that is claimed next."""
    return Job.objects.filter(state=Job.State.QUEUED, created_at__lt=job.created_at).count() + 1


def last_sweep_age() -> dt.timedelta | None:
    """How long ago any worker last looked for work; None where no worker runs."""
    last = WorkerBeat.objects.order_by("-swept_at").values_list("swept_at", flat=True).first()
    return timezone.now() - last if last else None
