"""Addresses of benchmarks and cases."""

from __future__ import annotations

from django.urls import path

from medbench.cases.views import benchmarks, case, editing, imports, kits, lists

app_name = "cases"
urlpatterns = [
    path("cases/", lists.case_list, name="list"),
    path("cases/<uuid:case_id>/", case.case, name="case"),
    path("cases/<uuid:case_id>/edit/", editing.edit_case, name="edit_case"),
    path("cases/<uuid:case_id>/goal/", editing.edit_goal, name="edit_goal"),
    path("cases/<uuid:case_id>/triplets/new/", editing.add_triplet, name="add_triplet"),
    path("cases/<uuid:case_id>/triplets/<uuid:triplet_id>/", editing.edit_triplet, name="edit_triplet"),
    path(
        "cases/<uuid:case_id>/triplets/<uuid:triplet_id>/retire/",
        editing.retire_triplet,
        name="retire_triplet",
    ),
    path("panes/<slug:page>/", case.panes, name="panes"),
    path("benchmarks/import/", imports.upload, name="import"),
    path("benchmarks/import/<uuid:upload_id>/", imports.outcome, name="import_outcome"),
    path("benchmarks/import/<uuid:upload_id>/cancel/", imports.cancel_import, name="import_cancel"),
    path("benchmarks/import/<uuid:upload_id>/retry/", imports.retry_import, name="import_retry"),
    path("benchmarks/<uuid:benchmark_id>/", benchmarks.benchmark, name="benchmark"),
    path("benchmarks/<uuid:benchmark_id>/freeze/", benchmarks.freeze, name="freeze"),
    path("releases/<uuid:release_id>/bundle.zip", benchmarks.export, name="export"),
    path("releases/<uuid:release_id>/kit/", kits.kit, name="kit"),
    path("releases/<uuid:release_id>/kit/kit.zip", kits.download, name="kit_file"),
]
