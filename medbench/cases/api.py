"""Benchmarks, releases and cases for scripts, with the same visibility as the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.response import Response
from rest_framework.views import APIView

from medbench.accounts.permissions import may
from medbench.cases import queries
from medbench.cases.forms import FilterForm
from medbench.cases.permissions import benchmark_for, case_for, edition_for
from medbench.cases.serializers import (
    BenchmarkSerializer,
    CaseDetailSerializer,
    CaseSerializer,
    ReleaseSerializer,
)
from medbench.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    import uuid

    from django.db.models import QuerySet
    from rest_framework.request import Request

    from medbench.cases.editions import Edition
    from medbench.cases.models import Benchmark, Release

BENCHMARK = OpenApiParameter("benchmark", description="Name or id of a benchmark.")
RELEASE = OpenApiParameter(
    "release", description="Number of a release, or draft (curators). Without it: the newest release."
)


class BenchmarkList(generics.ListAPIView[Any]):
    """The benchmarks whose cases one may read."""

    serializer_class = BenchmarkSerializer

    def get_queryset(self) -> QuerySet[Benchmark]:
        return queries.benchmarks(self.request.user)


@extend_schema(parameters=[BENCHMARK])
class ReleaseList(generics.ListAPIView[Any]):
    """The releases whose cases one may read, newest first."""

    serializer_class = ReleaseSerializer

    def get_queryset(self) -> QuerySet[Release]:
        found = queries.releases(self.request.user)
        if key := self.request.GET.get("benchmark"):
            found = found.filter(benchmark=benchmark_for(self.request.user, key))
        return found


@extend_schema(parameters=[BENCHMARK, RELEASE, *(OpenApiParameter(name) for name in FilterForm.base_fields)])
class CaseList(generics.ListAPIView[Any]):
    """The cases of one edition, with the filters of the page; held-out ones for curators only."""

    serializer_class = CaseSerializer

    def get_queryset(self) -> QuerySet[Any]:
        edition = self.edition()
        held_out = may(self.request.user, "case.read_held_out", edition.benchmark.team)
        filters = FilterForm(self.request.GET, edition, held_out=held_out).filters()
        found = queries.narrowed(queries.rows(edition, held_out=held_out), edition, filters)
        found = queries.ordered(queries.counted(found, edition), self.request.GET.get("sort", ""))
        return queries.with_texts(found, edition, searched=False)

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "edition": self.edition()}

    def edition(self) -> Edition:
        """The edition that the address names, read once."""
        if not hasattr(self, "_edition"):
            self._edition = edition_for(
                self.request.user, self._benchmark(), self.request.GET.get("release", "")
            )
        return self._edition

    def _benchmark(self) -> Benchmark:
        if key := self.request.GET.get("benchmark"):
            return benchmark_for(self.request.user, key)
        visible = list(queries.benchmarks(self.request.user)[:2])
        if not visible:
            raise NotFound
        if len(visible) > 1:
            raise InvalidInput("Several benchmarks are open to you. Say which: ?benchmark=NAME.")
        return visible[0]


class CaseDetail(APIView):
    """A case with report and triplets."""

    @extend_schema(parameters=[RELEASE], responses=CaseDetailSerializer)
    def get(self, request: Request, case_id: uuid.UUID) -> Response:
        case, edition = case_for(request.user, case_id, request.GET.get("release", ""))
        shown = queries.shown_case(case, edition)
        if shown is None:
            raise NotFound
        context = {"request": request, "edition": edition, "shown": shown}
        return Response(CaseDetailSerializer(shown.row, context=context).data)
