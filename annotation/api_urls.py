"""API addresses of annotation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.urls import URLPattern

app_name = "annotation_api"
urlpatterns: list[URLPattern] = []
