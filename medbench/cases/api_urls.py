"""API addresses of cases."""

from __future__ import annotations

from django.urls import path

from medbench.cases import api

app_name = "cases_api"
urlpatterns = [
    path("benchmarks/", api.BenchmarkList.as_view(), name="benchmarks"),
    path("releases/", api.ReleaseList.as_view(), name="releases"),
    path("cases/", api.CaseList.as_view(), name="cases"),
    path("cases/<uuid:case_id>/", api.CaseDetail.as_view(), name="case"),
]
