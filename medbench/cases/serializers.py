"""How benchmarks, releases and cases are written for scripts."""

from __future__ import annotations

import uuid  # noqa: TC003  # drf-spectacular reads the annotations
from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from medbench.cases import queries
from medbench.cases.models import Benchmark, Category, Release, Split, Triplet

if TYPE_CHECKING:
    from medbench.cases.editions import Edition


class BenchmarkSerializer(serializers.ModelSerializer[Benchmark]):
    class Meta:
        model = Benchmark
        fields = ("id", "name", "title", "description", "licence", "citation")


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    benchmark = serializers.CharField(source="benchmark.name")
    n_cases = serializers.IntegerField()
    n_triplets = serializers.IntegerField()

    class Meta:
        model = Release
        fields = ("id", "benchmark", "number", "version", "digest", "frozen_at", "n_cases", "n_triplets")


class SlideSerializer(serializers.Serializer[Any]):
    """Nothing of a slide's file name leaves the site."""

    id = serializers.UUIDField()
    state = serializers.CharField()
    width_px = serializers.IntegerField(allow_null=True)
    height_px = serializers.IntegerField(allow_null=True)
    mpp_x_um = serializers.FloatField(allow_null=True)
    mpp_y_um = serializers.FloatField(allow_null=True)


class CaseSerializer(serializers.Serializer[Any]):
    """A row of a list, read with its counts and texts."""

    id = serializers.SerializerMethodField()
    case_id = serializers.CharField(source="name")
    release = serializers.SerializerMethodField()
    project = serializers.CharField()
    site = serializers.CharField()
    difficulty = serializers.IntegerField()
    split = serializers.ChoiceField(choices=Split.choices)
    goal = serializers.SerializerMethodField()
    n_triplets = serializers.IntegerField()
    n_verified = serializers.IntegerField()
    slide = SlideSerializer(allow_null=True)

    def get_id(self, row: Any) -> uuid.UUID:
        return queries.case_key(row)

    def get_release(self, _row: Any) -> int | None:
        edition: Edition = self.context["edition"]
        return edition.release.number if edition.release else None

    def get_goal(self, row: Any) -> str:
        return row.goal.text if row.goal else ""


class SpanSerializer(serializers.Serializer[Any]):
    """Code points of the report's text, end exclusive."""

    start = serializers.IntegerField(source="span_start")
    end = serializers.IntegerField(source="span_end")
    quote = serializers.CharField()


class TripletSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    id = serializers.CharField(source="triplet.key")
    version = serializers.IntegerField(source="version.version")
    state = serializers.ChoiceField(choices=Triplet.State.choices)
    category = serializers.ChoiceField(choices=Category.choices, source="version.category")
    question = serializers.CharField(source="version.question")
    insight = serializers.CharField(source="version.insight")
    evidence = serializers.CharField(source="version.evidence")
    span = serializers.SerializerMethodField()

    @extend_schema_field(SpanSerializer(allow_null=True))
    def get_span(self, shown: queries.ShownTriplet) -> dict[str, Any] | None:
        return SpanSerializer(shown.version).data if shown.version.is_anchored else None


class ReportSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    text = serializers.CharField()


class CaseDetailSerializer(CaseSerializer):
    """A case whole: its row, and the triplets of `context["shown"]`."""

    report = ReportSerializer(allow_null=True)
    triplets = serializers.SerializerMethodField()

    @extend_schema_field(TripletSerializer(many=True))
    def get_triplets(self, _row: Any) -> Any:
        return TripletSerializer(self.context["shown"].triplets, many=True).data
