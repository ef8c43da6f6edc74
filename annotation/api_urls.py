"""API addresses of annotation."""

from django.urls import path

from annotation import api

app_name = "annotation_api"
urlpatterns = [
    path("studies/", api.StudyList.as_view(), name="studies"),
    path("studies/<uuid:study_id>/", api.StudyDetail.as_view(), name="study"),
    path("studies/<uuid:study_id>/agreement/", api.StudyAgreement.as_view(), name="agreement"),
    path("studies/<uuid:study_id>/verdicts.csv", api.verdicts, name="verdicts"),
    path("studies/<uuid:study_id>/history.jsonl", api.history, name="history"),
    path("studies/<uuid:study_id>/regions.zip", api.regions, name="regions"),
    path("studies/<uuid:study_id>/bundle.zip", api.bundle, name="bundle"),
]
