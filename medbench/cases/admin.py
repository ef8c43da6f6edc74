"""For operators: everything can be looked at, nothing changed. Changes go through the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin

from medbench.cases.models import Benchmark, BundleUpload, Case, Kit, Release, Triplet

if TYPE_CHECKING:
    from django.http import HttpRequest


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]  # generic for mypy only
    list_per_page = 50

    def has_add_permission(self, _request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        return False


@admin.register(Benchmark)
class BenchmarkAdmin(ReadOnly):
    list_display = ("name", "title", "team", "created_at")
    list_select_related = ("team",)
    search_fields = ("name", "title")


@admin.register(Release)
class ReleaseAdmin(ReadOnly):
    list_display = ("benchmark", "number", "version", "frozen_at", "frozen_by", "digest")
    list_select_related = ("benchmark", "frozen_by")


@admin.register(Case)
class CaseAdmin(ReadOnly):
    list_display = ("case_id", "benchmark", "site", "project", "difficulty", "split", "slide", "retired_at")
    list_select_related = ("benchmark", "slide")
    list_filter = ("benchmark", "split", "difficulty")
    search_fields = ("case_id",)


@admin.register(Triplet)
class TripletAdmin(ReadOnly):
    list_display = ("case", "key", "state", "current", "retired_at")
    list_select_related = ("case", "current__triplet__case")
    list_filter = ("state",)
    search_fields = ("case__case_id",)


@admin.register(BundleUpload)
class BundleUploadAdmin(ReadOnly):
    list_display = ("file_name", "uploaded_by", "dry_run", "job", "created_at")
    list_select_related = ("uploaded_by", "job")


@admin.register(Kit)
class KitAdmin(ReadOnly):
    list_display = ("release", "size_bytes", "built_at", "job")
    list_select_related = ("release__benchmark", "job")
