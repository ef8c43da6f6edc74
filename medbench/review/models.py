"""The one door between what is judged and who judges it."""

from __future__ import annotations

import uuid

from django.db import models

from medbench.cases.models import Benchmark, Case, Frozen, FrozenQuerySet, Report
from medbench.slides.models import Slide


class ReviewItem(Frozen):
    """Something to be judged, frozen as it stood. Whoever owns the subject makes the row; studies,
    assignments and verdicts point only here. Made by `review.services`, never changed."""

    class Kind(models.TextChoices):
        TRIPLET = "triplet", "Triplet"
        GOAL = "goal", "Goal"
        REPORT = "report", "Image and report"
        CASE = "case", "Case"
        OUTPUT = "output", "Output"
        NOVELTY = "novelty", "Novelty"
        DIFFICULTY = "difficulty", "Difficulty"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="review_items")
    kind = models.CharField(max_length=12, choices=Kind)
    subject_id = models.CharField(max_length=64)  # id of the subject's version, opaque to judges
    payload = models.JSONField()  # what a judge is shown, frozen
    payload_sha256 = models.CharField(max_length=64)
    hides = models.JSONField(default=list)  # payload fields that stay hidden until the study closes
    case = models.ForeignKey(Case, models.PROTECT, null=True, blank=True, related_name="review_items")
    slide = models.ForeignKey(Slide, models.PROTECT, null=True, blank=True, related_name="+")
    report = models.ForeignKey(Report, models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = FrozenQuerySet.as_manager()

    class Meta:
        constraints = (
            # Asking twice about the same thing in the same wording is one item.
            models.UniqueConstraint(fields=("kind", "subject_id", "payload_sha256"), name="review_item_once"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_id}"


class ItemResult(Frozen):
    """What the judges of one study concluded about an item; its subject's owner reads this."""

    item = models.ForeignKey(ReviewItem, models.PROTECT, related_name="results")
    source = models.CharField(max_length=80)  # opaque name of the study that decided
    outcome = models.CharField(max_length=20)  # by kind; for triplets: verified, corrected, rejected
    detail = models.JSONField(default=dict)
    decided_at = models.DateTimeField(auto_now_add=True)

    objects = FrozenQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("item", "source"), name="item_result_once"),)

    def __str__(self) -> str:
        return f"{self.item}: {self.outcome}"
