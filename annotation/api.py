"""Studies for scripts, with the same visibility as the pages."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.decorators import api_view
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation import exports, progress, queries
from annotation.agreement import page
from annotation.bundles import bundle_of
from annotation.permissions import answers_for, is_blind, study_for
from annotation.serializers import AgreementSerializer, StudyProgressSerializer, StudySerializer
from medbench.accounts.permissions import may
from medbench.errors import InvalidInput

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
    """A study and how far it is. Annotators are letters. Whoever annotates in it is told nothing of the
    answers until it is closed: no `questions`, and 0 `answers`."""

    @extend_schema(responses=StudyProgressSerializer)
    def get(self, request: Request, study_id: uuid.UUID) -> Response:
        study_for(request.user, study_id)
        study = queries.listed(request.user).get(pk=study_id)
        found = progress.of_study(study, blind=is_blind(request.user, study))
        return Response(StudyProgressSerializer(study, context={"progress": found}).data)


_AS_OF = OpenApiParameter("as_of", OpenApiTypes.DATETIME, description="As it stood then; ISO 8601.")


@extend_schema(parameters=[_AS_OF], responses={(200, "text/csv"): OpenApiTypes.STR})
@api_view(["GET"])
def verdicts(request: Request, study_id: uuid.UUID) -> HttpResponse:
    """The verdicts that count, as CSV: one row for each annotator and item."""
    study = answers_for(request.user, study_id, "study.manage")
    text = exports.verdicts_csv(study, _moment(request))
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=_as("verdicts", study, "csv"))


@extend_schema(parameters=[_AS_OF], responses={(200, "application/x-ndjson"): OpenApiTypes.STR})
@api_view(["GET"])
def history(request: Request, study_id: uuid.UUID) -> StreamingHttpResponse:
    """Every saved change of every verdict, one JSON object a line, drafts too."""
    study = answers_for(request.user, study_id, "study.manage")
    lines = exports.history_jsonl(study, _moment(request))
    return StreamingHttpResponse(
        lines, content_type="application/x-ndjson", headers=_as("history", study, "jsonl")
    )


@extend_schema(parameters=[_AS_OF], responses={(200, "application/zip"): OpenApiTypes.BINARY})
@api_view(["GET"])
def regions(request: Request, study_id: uuid.UUID) -> HttpResponse:
    """The regions of the verdicts that count: a GeoJSON file for each slide, as QuPath opens it."""
    study = answers_for(request.user, study_id, "study.manage")
    packed = exports.regions_zip(study, _moment(request))
    return HttpResponse(packed, content_type="application/zip", headers=_as("regions", study, "zip"))


@extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
@api_view(["GET"])
def bundle(request: Request, study_id: uuid.UUID) -> HttpResponse:
    """The whole study, to be imported elsewhere: set-up, items, verdicts with their history, decisions."""
    study = answers_for(request.user, study_id, "study.manage")
    packed = bundle_of(study)
    return HttpResponse(packed, content_type="application/zip", headers=_as("study", study, "zip"))


def _moment(request: Request) -> dt.datetime | None:
    """The `as_of` of the address. Raises InvalidInput for what is no date or time."""
    text = request.query_params.get("as_of", "")
    if not text:
        return None
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput("as_of is a date or time in ISO 8601: 2026-11-30T12:00:00+00:00.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _as(name: str, study: Study, ending: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}-{study.pk}.{ending}"'}


class StudyAgreement(APIView):
    """How far the annotators of a study agree, before any adjudication, as last computed. Annotators
    are letters; what each does by themselves is told to curators only."""

    @extend_schema(responses=AgreementSerializer)
    def get(self, request: Request, study_id: uuid.UUID) -> Response:
        study = answers_for(request.user, study_id)
        may_manage = may(request.user, "study.manage", study.benchmark.team)
        return Response(AgreementSerializer(page.as_json(study, with_annotators=may_manage)).data)
