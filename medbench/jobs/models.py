"""Background work as rows. The row is the job; a broker only rings the bell."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class Job(models.Model):
    """One piece of background work, written by `jobs.services` and nobody else.

    `attempt` is the fence: whoever works under an older number may no longer write anything.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=80)  # the name under which a function is registered
    payload = models.JSONField(default=dict)  # ids only, never objects or secrets
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    attempt = models.PositiveIntegerField(default=0)
    max_attempts = models.PositiveIntegerField(default=3)  # the last number that `attempt` may reach
    not_before = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)  # then a running job may be claimed anew
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=120, blank=True)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    stage = models.CharField(max_length=120, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    error_text = models.TextField(blank=True)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("created_at", "id")
        indexes = (
            # The sweep asks for queued rows in order and for running rows whose lease ran out.
            models.Index(fields=("state", "created_at"), name="job_state_created"),
            models.Index(fields=("state", "lease_until"), name="job_state_lease"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.id} ({self.state})"

    @property
    def is_over(self) -> bool:
        return self.state in (self.State.DONE, self.State.FAILED, self.State.CANCELLED)


class WorkerBeat(models.Model):
    """When a worker process last looked for work. Written by its sweep, gone when it ends cleanly."""

    worker = models.CharField(max_length=120, primary_key=True)
    slots = models.PositiveIntegerField()  # jobs it works on at a time
    swept_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.worker
