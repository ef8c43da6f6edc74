"""What the API says of boards and submissions. The same words as the pages."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rest_framework import serializers
from rest_framework.reverse import reverse

from leaderboard.models import Board, Evaluation, Floor, Submission
from leaderboard.permissions import is_hidden_from, submitter
from leaderboard.services.submissions import Details
from leaderboard.standings import n_answered

if TYPE_CHECKING:
    from leaderboard.permissions import Person
    from leaderboard.standings import Standing

SCORES = (
    "recall",
    "precision",
    "f1",
    "mean_case_f1",
    "ci",
    "ci_reason",
    "n_cases",
    "n_outputs",
)
COUNTS = ("n_missing_cases", "n_empty_cases", "n_empty_removed", "n_duplicates_removed")


class UploadSerializer(serializers.ModelSerializer[Submission]):
    """What a submission by script sends: multipart with file and board; the rest may replace what
    the file says."""

    file = serializers.FileField(allow_empty_file=True)
    board = serializers.UUIDField()
    method = serializers.CharField(max_length=200, required=False)
    replaces = serializers.UUIDField(required=False)
    variant_of = serializers.UUIDField(required=False)
    without = serializers.ListField(child=serializers.CharField(), required=False)

    class Meta:
        model = Submission
        fields = (
            "board",
            "file",
            "method",
            "backbone",
            "description",
            "url",
            "kind",
            "visibility",
            "public_from",
            "replaces",
            "variant_of",
            "without",
        )

    def details(self) -> Details:
        """The fields as the service takes them."""
        given = self.validated_data
        details = {name: given[name] for name in self.Meta.fields[2:] if name in given}
        return Details(**details | {"without": tuple(details.get("without", ()))})


class BoardSerializer(serializers.ModelSerializer[Board]):
    benchmark = serializers.CharField(source="release.benchmark.name")
    release = serializers.IntegerField(source="release.number")
    profile = serializers.CharField(source="profile.title")
    profile_sha256 = serializers.CharField(source="profile.sha256")
    url = serializers.SerializerMethodField()

    class Meta:
        model = Board
        fields = ("id", "benchmark", "release", "split", "profile", "profile_sha256", "closed_at", "url")

    def get_url(self, board: Board) -> str:
        return reverse("leaderboard:board", [board.pk], request=self.context["request"])


class ScoresSerializer(serializers.ModelSerializer[Evaluation]):
    class Meta:
        model = Evaluation
        fields = ("generation", "software_version", "seed", "finished_at", *SCORES, *COUNTS)


class FloorSerializer(serializers.ModelSerializer[Floor]):
    class Meta:
        model = Floor
        fields = ("kind", *SCORES)


class SubmissionSerializer(serializers.ModelSerializer[Submission]):
    """A submission with the state of its newest evaluation and the scores that stand for it.
    Wants `newest` and `standing` evaluations in the context, by submission id."""

    submitted_by = serializers.SerializerMethodField()
    description = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    class Meta:
        model = Submission
        fields = (
            "id",
            "number",
            "board",
            "method",
            "backbone",
            "description",
            "kind",
            "visibility",
            "public_from",
            "without",
            "usage",
            "submitted_by",
            "created_at",
            "withdrawn_at",
            "url",
        )

    def get_submitted_by(self, submission: Submission) -> str:
        return submitter(self.context["request"].user, submission)

    def get_description(self, submission: Submission) -> str:
        hidden = is_hidden_from(self.context["request"].user, submission)
        return "" if hidden else submission.description

    def get_url(self, submission: Submission) -> str:
        return reverse("leaderboard:submission", [submission.pk], request=self.context["request"])

    def to_representation(self, submission: Submission) -> dict[str, Any]:
        newest: Evaluation = self.context["newest"][submission.pk]
        standing: Evaluation = self.context["standing"][submission.pk]
        job = newest.job
        return super().to_representation(submission) | {
            "status": job.state,
            "stage": job.stage,
            "done": job.done,
            "total": job.total,
            "attempt": job.attempt,
            "error": {"code": job.error_code, "message": job.error_text} if job.error_code else None,
            "scores": ScoresSerializer(standing).data if standing.finished_at else None,
        }


NO_PLACE = dict.fromkeys(("group", "group_rank", "low", "high", "p_first", "p_holm"))


def standing_row(standing: Standing, reader: Person) -> dict[str, Any]:
    """One entry of a board as `reader` may see it. `rank` is by F1 alone; `group_rank` is shared by all
    that the tests cannot tell apart, null while the board is being ranked."""
    evaluation = standing.evaluation
    submission = evaluation.submission
    place = asdict(standing.place) if standing.place else NO_PLACE
    return {
        "rank": standing.rank,
        "rank_group": place["group"],
        "group_rank": place["group_rank"],
        "rank_low": place["low"],
        "rank_high": place["high"],
        "p_first": place["p_first"],
        "p_holm": place["p_holm"],
        "submission": str(submission.pk),
        "number": submission.number,
        "method": submission.method,
        "backbone": submission.backbone,
        "kind": submission.kind,
        "is_verified": submission.verified_at is not None,
        "blocked_by": evaluation.blocked_by,
        "coverage": evaluation.coverage,
        "f1_bounds": evaluation.f1_bounds,
        "submitted_by": submitter(reader, submission),
        "submitted_at": submission.created_at,
        "visibility": submission.visibility,
        "status": evaluation.job.state,
        "n_answered": n_answered(evaluation),
        "original": evaluation.original,
        "innovation": evaluation.innovation,
        "novelty_reason": evaluation.novelty_reason,
    } | ScoresSerializer(evaluation).data
