"""For operators: everything can be looked at, nothing changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin

from leaderboard.models import Board, Evaluation, EvaluatorProfile, Floor, Submission

if TYPE_CHECKING:
    from django.db.models import Model
    from django.http import HttpRequest


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]  # one for all models
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(EvaluatorProfile)
class EvaluatorProfileAdmin(ReadOnly):
    list_display = ("title", "metric", "sha256", "created_at")


@admin.register(Board)
class BoardAdmin(ReadOnly):
    list_display = ("release", "profile", "split", "created_at", "closed_at")
    list_select_related = ("release__benchmark", "profile")


@admin.register(Floor)
class FloorAdmin(ReadOnly):
    list_display = ("kind", "board", "f1", "n_cases")
    list_select_related = ("board__release__benchmark", "board__profile")


@admin.register(Submission)
class SubmissionAdmin(ReadOnly):
    list_display = ("number", "method", "backbone", "board", "submitted_by", "visibility", "withdrawn_at")
    list_select_related = ("board__release__benchmark", "board__profile", "submitted_by")
    search_fields = ("method", "backbone", "=number")


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnly):
    list_display = ("submission", "generation", "job", "f1", "finished_at")
    list_select_related = ("submission", "job")
