"""The slide row: what registration found out about a file, and why one was refused."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from medbench.jobs.models import Job


class Slide(models.Model):
    """One whole-slide image. Only what may leave the server is stored: no label, macro or free
    properties. A changed file is a new `revision`, so tile addresses never change their pixels."""

    class State(models.TextChoices):
        PENDING = "pending", "Pending"  # no file yet, or a refused one: `refusal_*` say why
        REGISTERING = "registering", "Registering"
        READY = "ready", "Ready"
        FAILED = "failed", "Failed"  # its job was cancelled or ended badly: `refusal_*` say why

    class Profile(models.TextChoices):
        """What the file says of the colours of its pixels."""

        NONE = "", "None: taken as sRGB"
        SRGB = "srgb", "sRGB, or within rounding of it"
        CONVERTED = "converted", "Another one: shown converted to sRGB"
        UNUSABLE = "unusable", "Damaged: taken as sRGB"

    class Quality(models.TextChoices):
        """What the image checks say, or the curator who overruled them."""

        UNCHECKED = "", "Not checked"
        GOOD = "good", "Good"
        SUSPECT = "suspect", "Suspect"

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
    # x, y, width, height of what was scanned, in level-0 pixels; null = the file does not say. QuPath
    # cuts a slide to it.
    bounds_l0_px = models.JSONField(null=True, blank=True)
    mpp_x_um = models.FloatField(null=True, blank=True)  # null = no plausible value in the file
    mpp_y_um = models.FloatField(null=True, blank=True)
    mpp_source = models.CharField(max_length=20, blank=True)  # a key of probe.MPP_SOURCES
    objective = models.FloatField(null=True, blank=True)
    profile = models.CharField(max_length=12, choices=Profile, default=Profile.NONE, blank=True)
    # slides.geometry.Level as dicts, level 0 = full resolution first
    levels = models.JSONField(default=list)
    virtual_levels = models.JSONField(default=list)  # slides.geometry.VirtualLevel, finest first
    # OpenSlide cannot serve the file itself: tiles come from a pyramid made of it (services.served_file)
    is_converted = models.BooleanField(default=False)
    mtime_ns = models.BigIntegerField(null=True, blank=True)  # of the file that was registered
    tissue_fraction = models.FloatField(null=True, blank=True)  # of the area of the slide
    quality = models.CharField(max_length=8, choices=Quality, default=Quality.UNCHECKED, blank=True)
    quality_checks = models.JSONField(default=list)  # slides.quality.Check as dicts
    quality_overruled = models.CharField(max_length=8, choices=Quality, default=Quality.UNCHECKED, blank=True)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.file_name

    @property
    def is_ready(self) -> bool:
        return self.state == self.State.READY

    @property
    def quality_now(self) -> str:
        """A curator's word, else the checks'."""
        return self.quality_overruled or self.quality


class SlideAction(models.Model):
    """One line of the log of a slide: what was done, by whom and why. Never changed."""

    class What(models.TextChoices):
        QUEUED = "queued", "Registration asked for"
        REGISTERED = "registered", "Registered"
        REFUSED = "refused", "Refused"
        FAILED = "failed", "Registration stopped"
        OVERRULED = "overruled", "Image checks overruled"

    slide = models.ForeignKey(Slide, models.CASCADE, related_name="actions")
    revision = models.PositiveIntegerField()
    what = models.CharField(max_length=12, choices=What)
    note = models.TextField(blank=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-at", "-id")

    def __str__(self) -> str:
        return f"{self.get_what_display()}: {self.slide_id}"
