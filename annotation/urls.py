"""Addresses of annotation."""

from django.urls import path

from annotation.views import studies, work

app_name = "annotation"
urlpatterns = [
    path("annotate/", work.my_work, name="my_work"),
    path("annotate/next/<uuid:study_id>/", work.next_item, name="next"),
    path("annotate/<uuid:assignment_id>/", work.item, name="item"),
    path("annotate/<uuid:assignment_id>/guidelines/", work.guidelines, name="guidelines"),
    path("studies/", studies.study_list, name="studies"),
    path("studies/new/", studies.new, name="new_study"),
    path("studies/<uuid:study_id>/", studies.study, name="study"),
    path("studies/<uuid:study_id>/items/", studies.add_items, name="add_items"),
    path("studies/<uuid:study_id>/close/", studies.close, name="close_study"),
    path("studies/<uuid:study_id>/<slug:step>/", studies.take_step, name="study_step"),
]
