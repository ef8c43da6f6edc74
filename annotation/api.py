"""Studies for scripts, with the same visibility as the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.decorators import api_view
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import exports, progress, queries
from annotation.permissions import study_for
from annotation.serializers import StudyProgressSerializer, StudySerializer

if TYPE_CHECKING:
    import uuid

    from django.db.models import QuerySet
    from rest_framework.request import Request

    from annotation.models import Study


class StudyList(generics.ListAPIView[Any]):
    """The studies that one may read, newest first."""

    serializer_class = StudySerializer

    def get_queryset(self) -> QuerySet[Study]:
        return queries.listed(self.request.user)


class StudyDetail(APIView):
    """A study and how far it is. Annotators are letters."""

    @extend_schema(responses=StudyProgressSerializer)
    def get(self, request: Request, study_id: uuid.UUID) -> Response:
        study_for(request.user, study_id)
        study = queries.listed(request.user).get(pk=study_id)
        return Response(StudyProgressSerializer(study, context={"progress": progress.of_study(study)}).data)


@extend_schema(responses={(200, "text/csv"): OpenApiTypes.STR})
@api_view(["GET"])
def verdicts(request: Request, study_id: uuid.UUID) -> HttpResponse:
    """The verdicts that count, as CSV: one row for each annotator and item."""
    study = study_for(request.user, study_id, "study.manage")
    headers = {"Content-Disposition": f'attachment; filename="verdicts-{study.pk}.csv"'}
    return HttpResponse(exports.verdicts_csv(study), content_type="text/csv; charset=utf-8", headers=headers)
