"""For operators: what is judged and what was concluded can be looked at, nothing changed."""

from __future__ import annotations

from django.contrib import admin

from medbench.cases.admin import ReadOnly
from medbench.review.models import ItemResult, ReviewItem


@admin.register(ReviewItem)
class ReviewItemAdmin(ReadOnly):
    list_display = ("id", "kind", "subject_id", "benchmark", "case", "created_at")
    list_select_related = ("benchmark", "case")
    list_filter = ("kind", "benchmark")


@admin.register(ItemResult)
class ItemResultAdmin(ReadOnly):
    list_display = ("item", "source", "outcome", "decided_at")
    list_select_related = ("item",)
    list_filter = ("outcome",)
