"""Expert verification: protocols, studies, who reads what, and what they said."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from medbench.accounts.models import Team
from medbench.cases.models import Benchmark, Frozen, FrozenQuerySet
from medbench.jobs.models import Job
from medbench.review.models import ReviewItem


class Protocol(models.Model):
    """A checklist or scale with its guidelines. A row is one version and never changes once a study
    has started with it; `definition` is validated by `annotation.protocols`."""

    key = models.SlugField(max_length=40)
    version = models.PositiveIntegerField()
    title = models.CharField(max_length=120)
    kind = models.CharField(max_length=12, choices=ReviewItem.Kind)  # what it can be asked about
    definition = models.JSONField()
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="protocols")  # None = built in
    source = models.ForeignKey("self", models.PROTECT, null=True, related_name="copies")  # of a copy
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("key", "-version")
        constraints = (models.UniqueConstraint(fields=("key", "version"), name="protocol_version_once"),)

    def __str__(self) -> str:
        return f"{self.title} v{self.version}"


class ProtocolAction(Frozen):
    """One line of the log of a team's protocol: what was changed, by whom. Append-only."""

    class What(models.TextChoices):
        COPIED = "copied", "Copied"
        CHANGED = "changed", "Changed"
        VERSION = "version", "New version"

    protocol = models.ForeignKey(Protocol, models.PROTECT, related_name="actions")
    what = models.CharField(max_length=8, choices=What)
    note = models.TextField()
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    objects = FrozenQuerySet.as_manager()

    class Meta:
        ordering = ("-at", "-pk")

    def __str__(self) -> str:
        return f"{self.get_what_display()}: {self.protocol}"


class Study(models.Model):
    """A protocol put to annotators over review items, n of them for each item."""

    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        CLOSED = "closed", "Closed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="studies")
    protocol = models.ForeignKey(Protocol, models.PROTECT, related_name="studies")
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=8, choices=State, default=State.DRAFT)
    annotators_per_item = models.PositiveSmallIntegerField(default=2)
    seed = models.PositiveIntegerField(default=1)  # of the stored order of each annotator
    guidelines = models.TextField(blank=True)  # beside the protocol's own
    due_at = models.DateTimeField(null=True, blank=True)
    # A further round: everybody reads what they read in `repeats` again, so many days after or later.
    repeats = models.ForeignKey("self", models.PROTECT, null=True, related_name="rounds")
    wash_out_days = models.PositiveSmallIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at",)
        verbose_name_plural = "studies"

    def __str__(self) -> str:
        return self.title


class StudyAnnotator(models.Model):
    """One annotator of a study."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="annotators")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="studies")
    mailed_at = models.DateTimeField(null=True)  # when they were told by mail that there is work

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "user"), name="study_annotator_once"),)

    def __str__(self) -> str:
        return f"{self.user} in {self.study}"


class StudyItem(models.Model):
    """One review item of a study. Items are only ever appended."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="items")
    item = models.ForeignKey(ReviewItem, models.PROTECT, related_name="in_studies")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(fields=("study", "item"), name="study_item_once"),
            models.UniqueConstraint(fields=("study", "position"), name="study_position_once"),
        )

    def __str__(self) -> str:
        return f"{self.study} item {self.position}"


class StudyAction(Frozen):
    """One line of the log of a study: what was done, by whom and why. Append-only."""

    class What(models.TextChoices):
        CREATED = "created", "Set up"
        STARTED = "started", "Started"
        PAUSED = "paused", "Paused"
        RESUMED = "resumed", "Resumed"
        CLOSED = "closed", "Closed"
        ITEMS = "items", "Items added"
        ANNOTATORS = "annotators", "Annotators added"
        CHANGED = "changed", "Set-up changed"
        DECIDED = "decided", "Item decided"
        IMPORTED = "imported", "Ratings imported"
        ANSWERED = "answered", "Verdict submitted"
        SKIPPED = "skipped", "Item skipped"

    study = models.ForeignKey(Study, models.CASCADE, related_name="actions")
    what = models.CharField(max_length=12, choices=What)
    note = models.TextField(blank=True)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    objects = FrozenQuerySet.as_manager()

    class Meta:
        ordering = ("-at", "-pk")

    def __str__(self) -> str:
        return f"{self.get_what_display()}: {self.study}"


class Assignment(models.Model):
    """One item in one annotator's order, made for every annotator and item when a study starts.

    An item has as many seats as it needs annotators. Whoever holds or has submitted it sits on one;
    the database refuses a second person on the same seat. A hold is a lease: it ends when the
    annotator submits or skips, or when it has run out and somebody else needs the seat.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        HELD = "held", "In hand"
        SKIPPED = "skipped", "Skipped"
        SUBMITTED = "submitted", "Submitted"
        RELEASED = "released", "Gone to another annotator"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    study_item = models.ForeignKey(StudyItem, models.CASCADE, related_name="assignments")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="assignments")
    position = models.PositiveIntegerField()  # in this annotator's own order, from 1
    number = models.PositiveIntegerField(null=True, blank=True)  # 12 = the twelfth item they were given
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    seat = models.PositiveSmallIntegerField(null=True, blank=True)  # from 1
    held_until = models.DateTimeField(null=True, blank=True)  # of a released item: when it went
    skip_reason = models.CharField(max_length=200, blank=True)
    not_before = models.DateTimeField(null=True)  # the end of the wash-out, in a further round
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(fields=("study_item", "annotator"), name="assignment_once"),
            models.UniqueConstraint(fields=("study_item", "seat"), name="seat_once"),
            models.CheckConstraint(
                condition=Q(state__in=("held", "submitted"), seat__isnull=False)
                | Q(state__in=("waiting", "skipped", "released"), seat__isnull=True),
                name="seated_while_held_or_submitted",
            ),
        )
        indexes = (
            # Every "next": this annotator's open items, in order.
            models.Index(fields=("annotator", "state", "position"), name="assignment_next"),
        )

    def __str__(self) -> str:
        return f"{self.annotator}: {self.study_item} ({self.state})"


class Verdict(models.Model):
    """An annotator's answers to one item as they stand now. What counts is the revision that was
    submitted last: changing an answer afterwards counts once it is submitted again."""

    assignment = models.OneToOneField(Assignment, models.PROTECT, related_name="verdict")
    answers = models.JSONField(default=dict)  # question key -> option; absent = not answered
    notes = models.JSONField(default=dict)  # question key -> what was added in words to its answer
    comment = models.TextField(blank=True)
    flagged = models.BooleanField(default=False)  # for the curator to look at; the verdict counts
    regions = models.JSONField(default=list)  # slides.regions.Region as dicts
    spans = models.JSONField(default=list)  # passages of the item's report: start, end, quote
    corrections = models.JSONField(default=dict)  # field of the item -> the whole text that is proposed
    # Seconds of active work in each visit of the page: the longest heard of, so that no save counts twice
    active_s = models.JSONField(default=dict)
    version = models.PositiveIntegerField(default=0)  # grows with each save; a stale save is refused
    saved_at = models.DateTimeField(auto_now=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    submitted_version = models.PositiveIntegerField(null=True, blank=True)  # of the revision that counts

    def __str__(self) -> str:
        return f"verdict on {self.assignment}"


class VerdictRevision(Frozen):
    """The history of a verdict, append-only: one row for every saved change."""

    verdict = models.ForeignKey(Verdict, models.PROTECT, related_name="revisions")
    version = models.PositiveIntegerField()
    answers = models.JSONField()
    notes = models.JSONField(default=dict)
    comment = models.TextField(blank=True)
    flagged = models.BooleanField(default=False)
    regions = models.JSONField(default=list)
    spans = models.JSONField(default=list)
    corrections = models.JSONField(default=dict)
    missing_tiles = models.PositiveIntegerField(default=0)  # of the slide, when it was submitted
    submitted = models.BooleanField(default=False)
    made_at = models.DateTimeField(auto_now_add=True)

    objects = FrozenQuerySet.as_manager()

    class Meta:
        ordering = ("version",)
        constraints = (models.UniqueConstraint(fields=("verdict", "version"), name="revision_once"),)

    def __str__(self) -> str:
        return f"{self.verdict} v{self.version}"


class OutsideRater(models.Model):
    """Somebody who judged items of a study elsewhere and is known from a file alone: a person or a
    model. No user, and apart from the annotators in every number."""

    class Kind(models.TextChoices):
        PERSON = "person", "Person"
        MODEL = "model", "Model"

    study = models.ForeignKey(Study, models.CASCADE, related_name="outside_raters")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=6, choices=Kind)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("kind", "name")
        constraints = (models.UniqueConstraint(fields=("study", "name"), name="outside_rater_once"),)

    def __str__(self) -> str:
        return self.name


class OutsideRating(Frozen):
    """One answer of an outside rater to one question about one item, as it was imported."""

    rater = models.ForeignKey(OutsideRater, models.CASCADE, related_name="ratings")
    study_item = models.ForeignKey(StudyItem, models.CASCADE, related_name="outside_ratings")
    question = models.CharField(max_length=40)
    value = models.CharField(max_length=40)  # of an option
    imported_at = models.DateTimeField(auto_now_add=True)

    objects = FrozenQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("rater", "study_item", "question"), name="outside_rating_once"),
        )

    def __str__(self) -> str:
        return f"{self.rater}: {self.question} = {self.value}"


class Agreement(models.Model):
    """How far the annotators of a study agree, before any adjudication, as one job found it.

    The newest generation of a software version takes the place of those before it: their numbers
    can be had again, since verdicts are append-only. `result` is what `annotation.agreement`
    computes and its pages print.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="agreements")
    generation = models.PositiveIntegerField()
    job = models.OneToOneField(Job, models.PROTECT, related_name="+")
    seed = models.PositiveIntegerField()
    resamples = models.PositiveIntegerField()
    software_version = models.CharField(max_length=40)
    # Written once, when it is computed.
    verdicts = models.CharField(max_length=40, blank=True)  # which: queries.state_of_verdicts
    result = models.JSONField(null=True, blank=True)
    computed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-generation",)
        constraints = (
            # Two who ask at once get one job.
            models.UniqueConstraint(fields=("study", "generation"), name="agreement_generation_once"),
        )

    def __str__(self) -> str:
        return f"agreement {self.generation} of {self.study}"
