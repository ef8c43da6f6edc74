"""Submissions, their evaluation, and the boards that rank them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from medbench.cases.models import Release, ReleaseCase, Split
from medbench.jobs.models import Job


class EvaluatorProfile(models.Model):
    """The instrument: metric, judges, prompts and versions. `sha256` names it; never changed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = models.CharField(max_length=120)
    metric = models.CharField(max_length=20)  # "rouge1"
    config = models.JSONField()  # for rouge1: {"tokeniser": "parity-ascii"}
    sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.title


class Board(models.Model):
    """One release, one split of it, one evaluator profile."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    release = models.ForeignKey(Release, models.PROTECT, related_name="boards")
    profile = models.ForeignKey(EvaluatorProfile, models.PROTECT, related_name="boards")
    split = models.CharField(max_length=8, choices=Split, default=Split.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        # Of boards that open together the open split comes first: most files are for it.
        ordering = ("-release__frozen_at", "-split", "-created_at")
        constraints = (models.UniqueConstraint(fields=("release", "profile", "split"), name="board_once"),)

    def __str__(self) -> str:
        return f"{self.release} · {self.profile} · {self.get_split_display().lower()} split"


class Floor(models.Model):
    """What an answer without any insight scores on a board: shown beside the ranks, never ranked."""

    class Kind(models.TextChoices):
        OTHER_CASE = "other_case", "References of a random other case"
        FREQUENT_WORDS = "frequent_words", "Most frequent words of the references"

    board = models.ForeignKey(Board, models.CASCADE, related_name="floors")
    kind = models.CharField(max_length=20, choices=Kind)
    recall = models.FloatField()
    precision = models.FloatField()
    f1 = models.FloatField()
    mean_case_f1 = models.FloatField()
    n_cases = models.PositiveIntegerField()
    n_outputs = models.PositiveIntegerField()
    ci = models.JSONField(null=True, blank=True)  # as in Evaluation
    ci_reason = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ("-f1",)
        constraints = (models.UniqueConstraint(fields=("board", "kind"), name="floor_once"),)

    def __str__(self) -> str:
        return f"{self.get_kind_display()} on {self.board}"


class Submission(models.Model):
    """One uploaded result file that passed every check, with its outputs. Recorded whole or not
    at all; a private one is seen by its submitter and the curators."""

    class Visibility(models.TextChoices):
        PRIVATE = "private", "Private"
        PUBLIC = "public", "On the board"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    number = models.PositiveIntegerField(unique=True)  # "Submission 214"
    board = models.ForeignKey(Board, models.PROTECT, related_name="submissions")
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="submissions")
    method = models.CharField(max_length=200)
    backbone = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    url = models.URLField(max_length=500, blank=True)
    visibility = models.CharField(max_length=8, choices=Visibility, default=Visibility.PUBLIC)
    file = models.FileField(upload_to="submissions/", max_length=200)  # bytes as uploaded
    file_name = models.CharField(max_length=255)
    file_sha256 = models.CharField(max_length=64)
    warnings = models.JSONField(default=list)  # the validator's, as it answered
    missing_cases = models.JSONField(default=list)  # ids of the ReleaseCases that the file does not name
    idempotency_key = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(
                fields=("submitted_by", "idempotency_key"),
                condition=~Q(idempotency_key=""),
                name="submission_idempotent",
            ),
        )

    def __str__(self) -> str:
        return f"Submission {self.number}"


class Output(models.Model):
    """One generated insight, raw as uploaded. Scored text is normalised anew by `scoring`."""

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="outputs")
    release_case = models.ForeignKey(ReleaseCase, models.PROTECT, related_name="outputs")
    position = models.PositiveIntegerField()  # as uploaded, from 0
    insight = models.TextField()
    question = models.TextField(blank=True)
    evidence = models.TextField(blank=True)
    novel_rationale = models.TextField(blank=True)

    class Meta:
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(
                fields=("submission", "release_case", "position"), name="output_position_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.submission} {self.release_case} output {self.position}"


class Evaluation(models.Model):
    """One scoring of one submission by its board's profile. Re-scoring makes a new generation."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    submission = models.ForeignKey(Submission, models.CASCADE, related_name="evaluations")
    generation = models.PositiveIntegerField(default=1)
    job = models.OneToOneField(Job, models.PROTECT, related_name="+")
    software_version = models.CharField(max_length=40)
    seed = models.PositiveIntegerField(default=0)
    # Totals, written once when every case is scored; null until then.
    recall = models.FloatField(null=True, blank=True)
    precision = models.FloatField(null=True, blank=True)
    f1 = models.FloatField(null=True, blank=True)
    mean_case_f1 = models.FloatField(null=True, blank=True)
    n_cases = models.PositiveIntegerField(null=True, blank=True)
    n_missing_cases = models.PositiveIntegerField(null=True, blank=True)
    n_empty_cases = models.PositiveIntegerField(null=True, blank=True)
    n_empty_removed = models.PositiveIntegerField(null=True, blank=True)
    n_duplicates_removed = models.PositiveIntegerField(null=True, blank=True)
    n_outputs = models.PositiveIntegerField(null=True, blank=True)  # kept ones of all cases
    # 95 % intervals over cases: {"f1": [low, high], "recall": …, …}, or the reason why not.
    ci = models.JSONField(null=True, blank=True)
    ci_reason = models.CharField(max_length=40, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("submission", "generation"), name="generation_once"),)

    def __str__(self) -> str:
        return f"{self.submission}, generation {self.generation}"


class CaseScore(models.Model):
    """One case of one evaluation, with the whole pair matrix as one array."""

    evaluation = models.ForeignKey(Evaluation, models.CASCADE, related_name="case_scores")
    release_case = models.ForeignKey(ReleaseCase, models.PROTECT, related_name="scores")
    n_references = models.PositiveIntegerField()
    n_outputs = models.PositiveIntegerField()  # kept after empty and duplicate ones are removed
    n_empty_removed = models.PositiveIntegerField(default=0)
    n_duplicates_removed = models.PositiveIntegerField(default=0)
    is_missing = models.BooleanField(default=False)  # the file did not name the case
    recall = models.FloatField()
    precision = models.FloatField()
    f1 = models.FloatField()
    kept = models.JSONField(default=list)  # Output.position of each column of the matrix
    matrix = models.BinaryField()  # float64, little-endian, n_references x n_outputs, row by row

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("evaluation", "release_case"), name="case_score_once"),
        )

    def __str__(self) -> str:
        return f"{self.evaluation}: {self.release_case}"
