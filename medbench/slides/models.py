"""The slide row: what registration found out about a file, and why one was refused."""

from __future__ import annotations

import uuid

from django.db import models


class Slide(models.Model):
    """One whole-slide image. Only what may leave the server is stored: no label, macro or free
    properties. A changed file is a new `revision`, so tile addresses never change their pixels."""

    class State(models.TextChoices):
        PENDING = "pending", "Pending"  # no file yet, or a refused one: `refusal_*` say why
        REGISTERING = "registering", "Registering"
        READY = "ready", "Ready"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    file_name = models.CharField(max_length=255)  # as the bundle names it; shown to curators only
    path = models.CharField(max_length=1024, blank=True)  # below MEDBENCH_SLIDE_DIR; "" = no file
    revision = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=12, choices=State, default=State.PENDING)
    refusal_code = models.CharField(max_length=60, blank=True)
    refusal_text = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    size_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    vendor = models.CharField(max_length=60, blank=True)
    width_px = models.PositiveIntegerField(null=True, blank=True)  # level 0
    height_px = models.PositiveIntegerField(null=True, blank=True)
    mpp_x_um = models.FloatField(null=True, blank=True)  # null = no plausible value in the file
    mpp_y_um = models.FloatField(null=True, blank=True)
    objective = models.FloatField(null=True, blank=True)
    # slides.geometry.Level as dicts, level 0 = full resolution first
    levels = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.file_name

    @property
    def is_ready(self) -> bool:
        return self.state == self.State.READY
