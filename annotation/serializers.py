"""How studies are written for scripts."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.models import Study
from medbench.jobs.models import Job


class StudySerializer(serializers.ModelSerializer[Study]):
    benchmark = serializers.CharField(source="benchmark.name")
    protocol = serializers.SerializerMethodField()
    n_items = serializers.IntegerField()
    n_done = serializers.IntegerField()
    n_annotators = serializers.IntegerField()

    class Meta:
        model = Study
        fields = (
            "id",
            "benchmark",
            "title",
            "protocol",
            "state",
            "annotators_per_item",
            "n_items",
            "n_done",
            "n_annotators",
            "due_at",
            "created_at",
            "started_at",
            "closed_at",
        )

    def get_protocol(self, study: Study) -> str:
        return f"{study.protocol.key} v{study.protocol.version}"


class StudyProgressSerializer(StudySerializer):
    """A study with its progress, which the view hands over as context."""

    items = serializers.SerializerMethodField()
    annotators = serializers.SerializerMethodField()
    questions = serializers.SerializerMethodField()

    class Meta:
        model = Study
        fields: ClassVar = (*StudySerializer.Meta.fields, "items", "annotators", "questions")

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_items(self, _study: Study) -> dict[str, int]:
        counts = self.context["progress"].counts
        names = ("items", "done", "in_hand", "short", "skipped_by_all", "verdicts", "verdicts_wanted")
        return {name: getattr(counts, name) for name in names}

    @extend_schema_field({"type": "array", "items": {"type": "object"}})
    def get_annotators(self, _study: Study) -> list[dict[str, Any]]:
        names = ("done", "in_hand", "skipped", "cannot_judge", "answers")
        return [
            {"annotator": row.letter, **{name: getattr(row, name) for name in names}}
            for row in self.context["progress"].annotators
        ]

    @extend_schema_field({"type": "array", "items": {"type": "object"}})
    def get_questions(self, _study: Study) -> list[dict[str, Any]]:
        return [
            {
                "question": row.question.key,
                "answers": {option.value: n for option, n in row.options},
                "blank": row.blank,
            }
            for row in self.context["progress"].questions
        ]


class AgreementSerializer(serializers.Serializer[dict[str, Any]]):
    """The agreement of a study as last computed. While nothing is, there are no questions and the
    other fields are null. A question holds what the command `agreement` prints, and more."""

    study = serializers.UUIDField()
    protocol = serializers.CharField()
    as_of = serializers.DateTimeField(allow_null=True)
    is_stale = serializers.BooleanField()  # verdicts came since
    job = serializers.ChoiceField(choices=Job.State.choices, allow_null=True)
    generation = serializers.IntegerField(allow_null=True)
    verdicts = serializers.CharField(allow_null=True)  # which were counted; equal names, equal verdicts
    seed = serializers.IntegerField(allow_null=True)
    b = serializers.IntegerField(allow_null=True)
    software_version = serializers.CharField(allow_null=True)
    questions = serializers.ListField(child=serializers.DictField())
    outside = serializers.ListField(child=serializers.DictField())  # raters from files, kept apart
