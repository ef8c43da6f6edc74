"""What is judged: benchmarks, their cases with slide and report, goals, triplets, and releases.

A case, a triplet and a benchmark are things that live on; report, goal and triplet *versions* are
immutable texts. A release is a frozen list of such versions: scores always belong to a release.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from medbench.accounts.models import Team, User
from medbench.accounts.permissions import teams_where
from medbench.slides.models import Slide


class Category(models.TextChoices):
    """The six insight categories of MedInsightBench (appendix B.2)."""

    DESCRIPTIVE = "descriptive", "Descriptive"
    DIAGNOSTIC = "diagnostic", "Diagnostic"
    PREDICTIVE = "predictive", "Predictive"
    PRESCRIPTIVE = "prescriptive", "Prescriptive"
    EVALUATIVE = "evaluative", "Evaluative"
    EXPLORATORY = "exploratory", "Exploratory"


class Split(models.TextChoices):
    OPEN = "open", "Open"
    HELD_OUT = "heldout", "Held-out"  # its references have no address for anyone but curators


class BenchmarkQuerySet(models.QuerySet["Benchmark"]):
    def where(self, person: User, action: str) -> BenchmarkQuerySet:
        """The benchmarks in whose team `person` may do `action`."""
        return self.filter(team__in=Team.objects.filter(teams_where(person, action)))


class Benchmark(models.Model):
    """A named collection of cases with its own team. Found by `name` in files and commands."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    licence = models.TextField(blank=True)
    citation = models.TextField(blank=True)
    team = models.OneToOneField(Team, models.PROTECT, related_name="benchmark")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BenchmarkQuerySet.as_manager()

    class Meta:
        ordering = ("title", "name")

    def __str__(self) -> str:
        return self.title


class Case(models.Model):
    """One case of the working copy. Its fields may change until a release copies them."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="cases")
    case_id = models.CharField(max_length=120)  # the name in files, unique in the benchmark
    position = models.PositiveIntegerField()
    project = models.CharField(max_length=120, blank=True)
    site = models.CharField(max_length=200, blank=True)
    difficulty = models.PositiveSmallIntegerField()
    split = models.CharField(max_length=8, choices=Split, default=Split.OPEN)
    slide = models.ForeignKey(Slide, models.PROTECT, null=True, blank=True, related_name="cases")
    # What the working copy shows now; the versions themselves never change.
    report = models.ForeignKey("Report", models.PROTECT, null=True, blank=True, related_name="+")
    goal = models.ForeignKey("Goal", models.PROTECT, null=True, blank=True, related_name="+")
    retired_at = models.DateTimeField(null=True, blank=True)  # left out of the working copy

    class Meta:
        ordering = ("position", "case_id")
        constraints = (
            models.UniqueConstraint(fields=("benchmark", "case_id"), name="case_id_once"),
            models.CheckConstraint(condition=Q(difficulty__range=(1, 4)), name="difficulty_1_to_4"),
        )

    def __str__(self) -> str:
        return self.case_id


class Report(models.Model):
    """One immutable version of a case's pathology report, as text."""

    case = models.ForeignKey(Case, models.CASCADE, related_name="report_versions")
    version = models.PositiveIntegerField()
    text = models.TextField()  # exactly as given: spans count its code points
    source_name = models.CharField(max_length=255, blank=True)  # path in the bundle; "" = inline
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("case", "version"), name="report_version_once"),)

    def __str__(self) -> str:
        return f"{self.case} report v{self.version}"


class Goal(models.Model):
    """One immutable version of a case's analysis goal."""

    case = models.ForeignKey(Case, models.CASCADE, related_name="goal_versions")
    version = models.PositiveIntegerField()
    text = models.TextField()
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("case", "version"), name="goal_version_once"),)

    def __str__(self) -> str:
        return f"{self.case} goal v{self.version}"


class Triplet(models.Model):
    """A (question, insight, evidence) triplet as it lives on through its versions."""

    class State(models.TextChoices):
        PROPOSED = "proposed", "Proposed"
        VERIFIED = "verified", "Verified"
        CORRECTED = "corrected", "Corrected"
        REJECTED = "rejected", "Rejected"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(Case, models.CASCADE, related_name="triplets")
    key = models.CharField(max_length=80)  # the id in files, unique in the case
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.PROPOSED)
    current = models.ForeignKey("TripletVersion", models.PROTECT, null=True, related_name="+")
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("position", "key")
        constraints = (models.UniqueConstraint(fields=("case", "key"), name="triplet_key_once"),)

    def __str__(self) -> str:
        return f"{self.case} triplet {self.key}"


class TripletVersion(models.Model):
    """One immutable wording of a triplet, anchored in one report version.

    `span_start` and `span_end` are code-point offsets into `report.text`, end exclusive; the text
    between them is stored as `quote` and checked on save. Both null = unanchored.
    """

    triplet = models.ForeignKey(Triplet, models.CASCADE, related_name="versions")
    version = models.PositiveIntegerField()
    category = models.CharField(max_length=12, choices=Category)
    question = models.TextField()
    insight = models.TextField()
    evidence = models.TextField(blank=True)
    confidence = models.JSONField(null=True, blank=True)  # as the bundle gives it
    report = models.ForeignKey(Report, models.PROTECT, null=True, blank=True, related_name="+")
    span_start = models.PositiveIntegerField(null=True, blank=True)
    span_end = models.PositiveIntegerField(null=True, blank=True)
    quote = models.TextField(blank=True)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("triplet", "version"), name="triplet_version_once"),
            models.CheckConstraint(
                condition=Q(span_start=None, span_end=None)
                | Q(span_start__lt=F("span_end"), report__isnull=False),
                name="span_whole_or_absent",
            ),
        )

    def __str__(self) -> str:
        return f"{self.triplet} v{self.version}"

    @property
    def is_anchored(self) -> bool:
        return self.span_start is not None


class ReleaseQuerySet(models.QuerySet["Release"]):
    def where(self, person: User, action: str) -> ReleaseQuerySet:
        """The releases in whose benchmark's team `person` may do `action`."""
        return self.filter(benchmark__team__in=Team.objects.filter(teams_where(person, action)))


class Release(models.Model):
    """A frozen, numbered version of a benchmark. Made whole by one service, never changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()  # 1, 2, 3 … in the order of freezing
    version = models.CharField(max_length=40)  # the label in files
    digest = models.CharField(max_length=64)  # SHA-256 of the canonical bundle content
    frozen_at = models.DateTimeField(auto_now_add=True)
    frozen_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering = ("benchmark", "-number")
        constraints = (
            models.UniqueConstraint(fields=("benchmark", "number"), name="release_number_once"),
            models.UniqueConstraint(fields=("benchmark", "version"), name="release_version_once"),
        )

    def __str__(self) -> str:
        return f"{self.benchmark}, release {self.number}"


class ReleaseCase(models.Model):
    """A case as one release has it: a copy of what may change, references to what cannot."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="cases")
    case = models.ForeignKey(Case, models.PROTECT, related_name="in_releases")
    position = models.PositiveIntegerField()
    project = models.CharField(max_length=120, blank=True)
    site = models.CharField(max_length=200, blank=True)
    difficulty = models.PositiveSmallIntegerField()
    split = models.CharField(max_length=8, choices=Split)
    slide = models.ForeignKey(Slide, models.PROTECT, null=True, blank=True, related_name="in_releases")
    report = models.ForeignKey(Report, models.PROTECT, null=True, blank=True, related_name="+")
    goal = models.ForeignKey(Goal, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ("position",)
        constraints = (models.UniqueConstraint(fields=("release", "case"), name="release_case_once"),)

    def __str__(self) -> str:
        return f"{self.case} in {self.release}"


class ReleaseTriplet(models.Model):
    """One reference of a release: a triplet version in its place."""

    release_case = models.ForeignKey(ReleaseCase, models.CASCADE, related_name="triplets")
    version = models.ForeignKey(TripletVersion, models.PROTECT, related_name="in_releases")
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(fields=("release_case", "version"), name="release_triplet_once"),
        )

    def __str__(self) -> str:
        return str(self.version)
