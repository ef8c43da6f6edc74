"""Boards and submissions by script."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from leaderboard import published, queries
from leaderboard.serializers import (
    BoardSerializer,
    FloorSerializer,
    SubmissionSerializer,
    UploadSerializer,
    standing_row,
)
from leaderboard.services import submissions as services
from leaderboard.standings import arrange
from medbench.api.pagination import Pages
from medbench.formats.csv_text import safe

if TYPE_CHECKING:
    import uuid
    from collections.abc import Iterable

    from rest_framework.request import Request

    from leaderboard.models import Submission
    from leaderboard.standings import Standing

SCORE_COLUMNS = ("f1", "recall", "precision", "mean_case_f1")
CSV_COLUMNS = (
    "rank",
    "group",
    "rank_group",
    "group_rank",
    "rank_low",
    "rank_high",
    "p_first",
    "p_holm",
    "method",
    "backbone",
    "kind",
    "is_verified",
    "blocked_by",
    "submission",
    "number",
    "status",
    *SCORE_COLUMNS,
    "original",
    "innovation",
    "novelty_reason",
    "f1_low",
    "f1_high",
    "coverage",
    "f1_bound_low",
    "f1_bound_high",
    "f1_ci_reason",
    "n_cases",
    "n_outputs",
    "n_missing_cases",
    "n_empty_cases",
    "submitted_by",
    "submitted_at",
)


@extend_schema(responses=BoardSerializer(many=True))
@api_view(["GET"])
@permission_classes([AllowAny])
def boards(request: Request) -> Response:
    """The boards open to you."""
    pages = Pages()
    page = pages.paginate_queryset(queries.boards(request.user), request)
    return pages.get_paginated_response(BoardSerializer(page, many=True, context={"request": request}).data)


@extend_schema(responses={200: dict[str, Any]})
@api_view(["GET"])
@permission_classes([AllowAny])
def standings(request: Request, pk: uuid.UUID) -> Response:
    """A board: ranked entries, entries without a rank, floors, and what the authors of the benchmark
    printed, which was not run here."""
    board = queries.board(request.user, pk)
    ranking = queries.ranking(board)
    arranged = arrange(queries.entries(request.user, [board]), ranking=ranking).map(queries.filled)

    def rows(group: list[Standing]) -> list[dict[str, Any]]:
        return [standing_row(each, request.user) for each in group]

    return Response(
        {
            "board": BoardSerializer(board, context={"request": request}).data,
            "as_of": timezone.now(),
            "ranked_at": ranking.computed_at if ranking else None,
            "software_version": settings.VERSION,
            "release_digest": board.release.digest,
            "standings": rows(arranged.ranked),
            "blocked": rows(arranged.blocked),
            "private": rows(arranged.private),
            "not_ranked": rows(arranged.unscored),
            "published": published.rows(board.profile),
            "floors": FloorSerializer(board.floors.all(), many=True).data,
        }
    )


@extend_schema(responses={(200, "text/csv"): str})
@api_view(["GET"])
@permission_classes([AllowAny])
def standings_csv(request: Request, pk: uuid.UUID) -> HttpResponse:
    """The same as a table. Where there is no number the cell is empty."""
    board = queries.board(request.user, pk)
    entries = queries.entries(request.user, [board])
    arranged = arrange(entries, ranking=queries.ranking(board)).map(queries.filled)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="standings.csv"'
    writer = csv.DictWriter(response, CSV_COLUMNS, restval="", extrasaction="ignore")
    writer.writeheader()
    for group in ("ranked", "blocked", "private", "unscored"):
        for each in getattr(arranged, group):
            writer.writerow(_csv_row(standing_row(each, request.user), group))
    for floor in board.floors.all():
        row = FloorSerializer(floor).data | {"method": floor.get_kind_display()}
        writer.writerow(_csv_row(row, "floor"))
    return response


def _csv_row(row: dict[str, Any], group: str) -> dict[str, Any]:
    low, high = row["ci"]["f1"] if row["ci"] else (None, None)
    flat = row | {"group": group, "f1_low": low, "f1_high": high, "f1_ci_reason": row["ci_reason"]}
    if row.get("f1_bounds"):
        flat["f1_bound_low"], flat["f1_bound_high"] = row["f1_bounds"]
    if "submitted_at" in row:
        flat["submitted_at"] = row["submitted_at"].isoformat()
    return {key: safe(value) if isinstance(value, str) else value for key, value in flat.items()}


class Submissions(APIView):
    """One's submissions; a new one by POST."""

    parser_classes = (MultiPartParser,)

    @extend_schema(responses=SubmissionSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Your submissions, newest first."""
        pages = Pages()
        mine = queries.own_submissions(request.user)
        page = pages.paginate_queryset(mine, request)
        assert page is not None
        return pages.get_paginated_response(_shown(request, page))

    @extend_schema(request=UploadSerializer, responses={201: dict[str, Any], 422: dict[str, Any]})
    def post(self, request: Request) -> Response:
        """Submit a result file. 201 {id, status, url}, or 422 {problems, warnings} and nothing is
        recorded; 429 {code: quota_used, message} with Retry-After where the day's quota is used. With
        the same Idempotency-Key the same file is submitted once."""
        assert request.user.is_authenticated  # by the default permission
        upload = UploadSerializer(data=request.data)
        upload.is_valid(raise_exception=True)
        board = queries.board(request.user, upload.validated_data["board"])
        file = upload.validated_data["file"]
        try:
            submission = services.submit(
                board,
                file.read(services.limits().file_bytes + 1),
                file.name,
                request.user,
                details=upload.details(),
                idempotency_key=request.headers.get("Idempotency-Key", ""),
            )
        except services.ResultsRefused as refusal:
            return Response(refusal.as_dict(), status=status.HTTP_422_UNPROCESSABLE_ENTITY)
        url = reverse("leaderboard:submission", [submission.pk], request=request)
        state = queries.newest_of([submission])[submission.pk].job.state
        body = {"id": submission.pk, "number": submission.number, "status": state, "url": url}
        return Response(body, status=status.HTTP_201_CREATED)


@extend_schema(responses=SubmissionSerializer)
@api_view(["GET"])
@permission_classes([AllowAny])
def submission(request: Request, pk: uuid.UUID) -> Response:
    """How far a submission is, and its scores."""
    return Response(_shown(request, [queries.submission(request.user, pk)])[0])


def _shown(request: Request, found: Iterable[Submission]) -> list[dict[str, Any]]:
    found = list(found)
    context = {
        "request": request,
        "newest": queries.newest_of(found),
        "standing": queries.current_of(found),
    }
    return list(SubmissionSerializer(found, many=True, context=context).data)
