"""For operators: studies and what was said in them can be looked at, nothing changed."""

from __future__ import annotations

from django.contrib import admin

from annotation.models import (
    Assignment,
    OutsideRater,
    OutsideRating,
    Protocol,
    ProtocolAction,
    Study,
    StudyAction,
    Verdict,
    VerdictRevision,
)
from medbench.cases.admin import ReadOnly


@admin.register(Protocol)
class ProtocolAdmin(ReadOnly):
    list_display = ("key", "version", "title", "kind", "team", "created_at")
    list_select_related = ("team",)


@admin.register(Study)
class StudyAdmin(ReadOnly):
    list_display = ("title", "benchmark", "protocol", "state", "annotators_per_item", "created_by", "due_at")
    list_select_related = ("benchmark", "protocol", "created_by")
    list_filter = ("state", "benchmark")
    search_fields = ("title",)


@admin.register(Assignment)
class AssignmentAdmin(ReadOnly):
    list_display = ("study_item", "annotator", "state", "seat", "number", "held_until", "skip_reason")
    list_select_related = ("study_item__study", "annotator")
    list_filter = ("state", "study_item__study")


@admin.register(Verdict)
class VerdictAdmin(ReadOnly):
    list_display = ("id", "assignment", "version", "submitted_version", "saved_at")
    list_select_related = ("assignment__study_item__study", "assignment__annotator")
    list_filter = ("assignment__study_item__study",)


@admin.register(VerdictRevision)
class VerdictRevisionAdmin(ReadOnly):
    list_display = ("id", "verdict", "version", "submitted", "made_at")
    list_select_related = ("verdict__assignment__study_item__study", "verdict__assignment__annotator")


class LogAdmin(ReadOnly):
    """A log is read here and written by services alone."""

    list_filter = ("what",)
    date_hierarchy = "at"


@admin.register(StudyAction)
class StudyActionAdmin(LogAdmin):
    list_display = ("at", "study", "what", "person", "note")
    list_select_related = ("study", "person")


@admin.register(ProtocolAction)
class ProtocolActionAdmin(LogAdmin):
    list_display = ("at", "protocol", "what", "person", "note")
    list_select_related = ("protocol", "person")


@admin.register(OutsideRater)
class OutsideRaterAdmin(ReadOnly):
    list_display = ("name", "kind", "study", "created_at")
    list_select_related = ("study",)
    list_filter = ("kind",)


@admin.register(OutsideRating)
class OutsideRatingAdmin(ReadOnly):
    list_display = ("rater", "study_item", "question", "value", "imported_at")
    list_select_related = ("rater", "study_item__study")
