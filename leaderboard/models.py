"""Submissions, their evaluation, and the boards that rank them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from medbench.cases.models import Release, ReleaseCase, Split
from medbench.jobs.models import Job


class Judge(models.Model):
    """A model that may judge or vote, with the key that opens it. The key is encrypted and never shown."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=120, unique=True)
    provider = models.CharField(max_length=20)  # one of medbench.evals.profiles.PROVIDERS
    model = models.CharField(max_length=200)
    base_url = models.URLField(max_length=500, blank=True)
    key_encrypted = models.BinaryField(blank=True, default=b"")
    key_set_at = models.DateTimeField(null=True, blank=True)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    # US dollars per million tokens, and what one evaluation may spend; null = not known, not limited.
    price_input = models.DecimalField(max_digits=9, decimal_places=4, null=True, blank=True)
    price_output = models.DecimalField(max_digits=9, decimal_places=4, null=True, blank=True)
    budget = models.DecimalField(max_digits=9, decimal_places=2, null=True, blank=True)
    last_check = models.JSONField(null=True, blank=True)  # of the test call: at, seconds, code, revision
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=("provider", "model", "base_url"), name="judge_once"),)

    def __str__(self) -> str:
        return self.name


class EvaluatorProfile(models.Model):
    """The instrument: metric, judges, prompts and versions. `sha256` names it; never changed. With
    judges it scores nothing before it passed its fixtures and was activated."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    title = models.CharField(max_length=120)
    metric = models.CharField(max_length=20)  # "rouge1" or "judges"
    # For rouge1: {"tokeniser": "parity-ascii"}; for judges: medbench.evals.profiles.EvaluatorProfile.
    config = models.JSONField()
    sha256 = models.CharField(max_length=64, unique=True)
    activation = models.JSONField(null=True, blank=True)  # what the fixtures found, newest check
    activated_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True, blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.title

    @property
    def is_active(self) -> bool:
        """Whether it may score and rank: words always, judges once they passed."""
        return self.metric == "rouge1" or self.activated_at is not None


class Board(models.Model):
    """One release, one split of it, one evaluator profile."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    release = models.ForeignKey(Release, models.PROTECT, related_name="boards")
    profile = models.ForeignKey(EvaluatorProfile, models.PROTECT, related_name="boards")
    split = models.CharField(max_length=8, choices=Split, default=Split.OPEN)
    # Novelty reads “unverified” until experts have sorted a sample of a submission's novel insights.
    requires_novelty_audit = models.BooleanField(default=False)
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


class Ranking(models.Model):
    """What the tests and resamples say of a board, computed in the background and stored whole."""

    board = models.OneToOneField(Board, models.CASCADE, related_name="ranking")
    # Evaluation id -> group, group_rank, low, high, p_first, p_holm: leaderboard.standings.Place
    places = models.JSONField(default=dict)
    ablations = models.JSONField(default=list)  # of each whole method that has variants
    resamples = models.PositiveIntegerField()
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"Ranking of {self.board}"


class Submission(models.Model):
    """One uploaded result file that passed every check, with its outputs. Recorded whole or not
    at all; a private one is seen by its submitter and the curators."""

    class Visibility(models.TextChoices):
        PRIVATE = "private", "Private"
        ANONYMOUS = "anonymous", "On the board, anonymous until a date"
        PUBLIC = "public", "On the board"

    class Kind(models.TextChoices):
        DIRECT = "direct", "Direct"
        AGENT = "agent", "Agent"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    number = models.PositiveIntegerField(unique=True)  # "Submission 214"
    board = models.ForeignKey(Board, models.PROTECT, related_name="submissions")
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="submissions")
    method = models.CharField(max_length=200)
    backbone = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    url = models.URLField(max_length=500, blank=True)
    kind = models.CharField(max_length=8, choices=Kind, blank=True)
    visibility = models.CharField(max_length=9, choices=Visibility, default=Visibility.PUBLIC)
    public_from = models.DateTimeField(null=True, blank=True)  # an anonymous one is named from then on
    # A new version takes the place of the old one on the board; both stay readable.
    replaces = models.OneToOneField("self", models.PROTECT, related_name="replaced_by", null=True, blank=True)
    # A variant of a whole method with parts taken away: ["ism", "wrm"].
    variant_of = models.ForeignKey("self", models.PROTECT, related_name="variants", null=True, blank=True)
    without = models.JSONField(default=list, blank=True)
    # Sums of the file's `usage` over its cases, null where it has none; whether we measured it.
    usage = models.JSONField(null=True, blank=True)
    is_usage_measured = models.BooleanField(default=False)
    verified_by = models.ForeignKey(  # a curator ran it again; null = self-reported
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True, blank=True
    )
    verified_at = models.DateTimeField(null=True, blank=True)
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


class Rescoring(models.Model):
    """A new generation of a whole board, built beside the one that is shown. The board switches at
    once when every submission has its evaluation."""

    board = models.ForeignKey(Board, models.CASCADE, related_name="rescorings")
    number = models.PositiveIntegerField()  # from 2: the first generation needed none
    reason = models.TextField()
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    switched_at = models.DateTimeField(null=True, blank=True)
    cancelled_at = models.DateTimeField(null=True, blank=True)
    changes = models.JSONField(null=True, blank=True)  # of ranks and scores, written at the switch

    class Meta:
        ordering = ("-number",)
        constraints = (models.UniqueConstraint(fields=("board", "number"), name="rescoring_once"),)

    def __str__(self) -> str:
        return f"{self.board}, generation {self.number}"


class Evaluation(models.Model):
    """One scoring of one submission by its board's profile. Re-scoring makes a new generation."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    submission = models.ForeignKey(Submission, models.CASCADE, related_name="evaluations")
    generation = models.PositiveIntegerField(default=1)
    # The re-scoring of the board that asked for it: not shown before the board switches.
    rescoring = models.ForeignKey(
        Rescoring, models.CASCADE, related_name="evaluations", null=True, blank=True
    )
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
    # Novelty; null with a reason where it was not voted on or is undetermined.
    original = models.FloatField(null=True, blank=True)
    innovation = models.FloatField(null=True, blank=True)
    novelty_reason = models.CharField(max_length=40, blank=True)
    novelty = models.JSONField(null=True, blank=True)  # counts, bounds, intervals, sensitivity to tau
    # Judges; null and empty for ROUGE-1. `medbench.evals.reports.Report` without its totals.
    report = models.JSONField(null=True, blank=True)
    coverage = models.FloatField(null=True, blank=True)  # scored pairs of all
    spent = models.DecimalField(max_digits=9, decimal_places=4, null=True, blank=True)  # US dollars
    # Why a finished evaluation is not ranked: incomplete, flagged, mixed_weighting; "" = it may be.
    blocked_by = models.CharField(max_length=20, blank=True)
    cleared_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True, blank=True
    )
    cleared_at = models.DateTimeField(null=True, blank=True)  # a curator looked at the flags
    cleared_reason = models.TextField(blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("submission", "generation"), name="generation_once"),)

    def __str__(self) -> str:
        return f"{self.submission}, generation {self.generation}"

    @property
    def f1_bounds(self) -> list[float] | None:
        """Where F1 lies whatever the unscored pairs are worth; None where every pair has a score."""
        return self.report.get("f1_bounds") if self.report and self.f1 is None else None


class Notice(models.Model):
    """What a submitter is told once: that an evaluation ended or failed, or a board was scored anew."""

    class Kind(models.TextChoices):
        FINISHED = "finished", "Scored"
        FAILED = "failed", "Failed"
        RESCORED = "rescored", "Board scored anew"

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=10, choices=Kind)
    evaluation = models.ForeignKey(Evaluation, models.CASCADE, related_name="notices")
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        constraints = (models.UniqueConstraint(fields=("person", "kind", "evaluation"), name="notice_once"),)
        indexes = (models.Index(fields=("person",), condition=Q(read_at=None), name="notice_unread"),)

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.evaluation}"


class CaseScore(models.Model):
    """One case of one evaluation, with the whole pair matrix as one array."""

    evaluation = models.ForeignKey(Evaluation, models.CASCADE, related_name="case_scores")
    release_case = models.ForeignKey(ReleaseCase, models.PROTECT, related_name="scores")
    n_references = models.PositiveIntegerField()
    n_outputs = models.PositiveIntegerField()  # kept after empty and duplicate ones are removed
    n_empty_removed = models.PositiveIntegerField(default=0)
    n_duplicates_removed = models.PositiveIntegerField(default=0)
    is_missing = models.BooleanField(default=False)  # the file did not name the case
    # Null while a pair of the case is unscored.
    recall = models.FloatField(null=True, blank=True)
    precision = models.FloatField(null=True, blank=True)
    f1 = models.FloatField(null=True, blank=True)
    kept = models.JSONField(default=list)  # Output.position of each column of the matrix
    # float64, little-endian, n_references x n_outputs, row by row; NaN = unscored
    matrix = models.BinaryField()
    judged = models.JSONField(null=True, blank=True)  # each judge's scores and reasons, pair by pair
    voted = models.JSONField(null=True, blank=True)  # the votes on each unmatched output

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("evaluation", "release_case"), name="case_score_once"),
        )

    def __str__(self) -> str:
        return f"{self.evaluation}: {self.release_case}"


class JudgeVerdict(models.Model):
    """One answer of one model to one question, by the digest of everything that was asked: asked and
    paid for once, whoever needs it."""

    key = models.CharField(max_length=64, primary_key=True)
    value = models.JSONField()  # medbench.evals.questions.Verdict
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.key
