"""What is judged: benchmarks, their cases with slide and report, goals, triplets, and releases.

A case, a triplet and a benchmark are things that live on; report, goal and triplet *versions* are
immutable texts. A release is a frozen list of such versions: scores always belong to a release.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from medbench.accounts.models import Team, User
from medbench.accounts.permissions import teams_where
from medbench.errors import Conflict, InvalidInput
from medbench.jobs.models import Job
from medbench.slides.models import Slide

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import AnonymousUser

_FROZEN = "What is frozen never changes. Make a new version instead."
_Row = TypeVar("_Row", bound=models.Model)


class FrozenQuerySet(models.QuerySet[_Row]):
    """Rows that are written once: they cannot be changed or deleted, in bulk either."""

    def update(self, **_fields: Any) -> NoReturn:
        raise Conflict(_FROZEN)

    def delete(self) -> NoReturn:
        raise Conflict(_FROZEN)


class Frozen(models.Model):
    """A row that is written once. Each kind takes `FrozenQuerySet` for its `objects`."""

    class Meta:
        abstract = True

    def save(self, **options: Any) -> None:
        if not self._state.adding:
            raise Conflict(_FROZEN)
        super().save(**options)

    def delete(self, using: Any = None, keep_parents: bool = False) -> NoReturn:  # noqa: ARG002, FBT001, FBT002  # as in Model
        raise Conflict(_FROZEN)


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
    def where(self, person: User | AnonymousUser, action: str) -> BenchmarkQuerySet:
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


class Report(Frozen):
    """One immutable version of a case's pathology report, as text."""

    case = models.ForeignKey(Case, models.CASCADE, related_name="report_versions")
    version = models.PositiveIntegerField()
    text = models.TextField()  # exactly as given: spans count its code points
    source_name = models.CharField(max_length=255, blank=True)  # path in the bundle; "" = inline
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    objects = FrozenQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("case", "version"), name="report_version_once"),)

    def __str__(self) -> str:
        return f"{self.case} report v{self.version}"


class Goal(Frozen):
    """One immutable version of a case's analysis goal."""

    case = models.ForeignKey(Case, models.CASCADE, related_name="goal_versions")
    version = models.PositiveIntegerField()
    text = models.TextField()
    made_at = models.DateTimeField(auto_now_add=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    objects = FrozenQuerySet.as_manager()

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
    # Where experts saw it: slides.regions.Region as dicts. Like the state, of the current wording.
    regions = models.JSONField(default=list, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("position", "key")
        constraints = (models.UniqueConstraint(fields=("case", "key"), name="triplet_key_once"),)

    def __str__(self) -> str:
        return f"{self.case} triplet {self.key}"


class TripletVersionQuerySet(FrozenQuerySet["TripletVersion"]):
    def bulk_create(self, objs: Iterable[TripletVersion], *args: Any, **options: Any) -> list[TripletVersion]:
        versions = list(objs)
        for version in versions:
            version.check_span()
        return super().bulk_create(versions, *args, **options)


class TripletVersion(Frozen):
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

    objects = TripletVersionQuerySet.as_manager()

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

    def save(self, **options: Any) -> None:
        self.check_span()
        super().save(**options)

    def check_span(self) -> None:
        """Raise InvalidInput unless the span's slice of the report is the stored quote."""
        if not self.is_anchored:
            return
        if self.report is None or self.report.text[self.span_start : self.span_end] != self.quote:
            raise InvalidInput("The marked passage is not in this report version. Mark the passage again.")

    @property
    def is_anchored(self) -> bool:
        return self.span_start is not None


class ReleaseQuerySet(FrozenQuerySet["Release"]):
    def where(self, person: User | AnonymousUser, action: str) -> ReleaseQuerySet:
        """The releases in whose benchmark's team `person` may do `action`."""
        return self.filter(benchmark__team__in=Team.objects.filter(teams_where(person, action)))

    def holding(self, case: Case, *, held_out: bool) -> ReleaseQuerySet:
        """The releases that have `case`; unless `held_out` only those in which it is open."""
        rows = ReleaseCase.objects.filter(case=case)
        if not held_out:
            rows = rows.filter(split=Split.OPEN)
        return self.filter(pk__in=rows.values("release"))


class Release(Frozen):
    """A frozen, numbered version of a benchmark. Made whole by one service, never changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()  # 1, 2, 3 … in the order of freezing
    version = models.CharField(max_length=40)  # the label in files
    digest = models.CharField(max_length=64)  # SHA-256 of the canonical bundle content
    # The benchmark's own words at that time: they are part of the bundle.
    title = models.CharField(max_length=200, default="")
    description = models.TextField(blank=True)
    licence = models.TextField(blank=True)
    citation = models.TextField(blank=True)
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


class ReleaseCase(Frozen):
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

    objects = FrozenQuerySet.as_manager()

    class Meta:
        ordering = ("position",)
        constraints = (models.UniqueConstraint(fields=("release", "case"), name="release_case_once"),)

    def __str__(self) -> str:
        return f"{self.case} in {self.release}"


class ReleaseTriplet(Frozen):
    """One reference of a release: a triplet version in its place."""

    release_case = models.ForeignKey(ReleaseCase, models.CASCADE, related_name="triplets")
    version = models.ForeignKey(TripletVersion, models.PROTECT, related_name="in_releases")
    position = models.PositiveIntegerField()

    objects = FrozenQuerySet.as_manager()

    class Meta:
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(fields=("release_case", "version"), name="release_triplet_once"),
        )

    def __str__(self) -> str:
        return str(self.version)


class BundleUpload(models.Model):
    """One uploaded bundle on its way in: its first job checks it, its second one imports it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    file = models.FileField(upload_to="bundles/", max_length=200)  # deleted once imported
    file_name = models.CharField(max_length=255)
    dry_run = models.BooleanField(default=True)  # what `job` does: check only
    job = models.ForeignKey(Job, models.PROTECT, related_name="+")
    outcome = models.JSONField(null=True, blank=True)  # of `job`, as the command prints it
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.file_name


class Kit(models.Model):
    """The participants' download of a release: built once by a job, then served from the disk."""

    release = models.OneToOneField(Release, models.PROTECT, related_name="kit")
    job = models.ForeignKey(Job, models.PROTECT, related_name="+")
    file = models.FileField(upload_to="kits/", max_length=200, blank=True)  # "" until it is built
    size_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    built_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"Kit of {self.release}"
