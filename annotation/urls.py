"""Addresses of annotation."""

from django.urls import path

from annotation.views import adjudication, agreement, imports, protocols, rounds, studies, work

app_name = "annotation"
urlpatterns = [
    path("annotate/", work.my_work, name="my_work"),
    path("annotate/next/<uuid:study_id>/", work.next_item, name="next"),
    path("annotate/<uuid:assignment_id>/", work.item, name="item"),
    path("annotate/<uuid:assignment_id>/ahead/", work.ahead, name="ahead"),
    path("annotate/<uuid:assignment_id>/regions.geojson", work.region_file, name="regions"),
    path("annotate/<uuid:assignment_id>/guidelines/", work.guidelines, name="guidelines"),
    path("protocols/", protocols.protocol_list, name="protocols"),
    path("protocols/<int:protocol_id>/", protocols.protocol, name="protocol"),
    path("protocols/<int:protocol_id>/copy/", protocols.copy, name="copy_protocol"),
    path("protocols/<int:protocol_id>/edit/", protocols.edit, name="edit_protocol"),
    path("studies/", studies.study_list, name="studies"),
    path("studies/import/", imports.study, name="import_study"),
    path("studies/new/", studies.new, name="new_study"),
    path("studies/<uuid:study_id>/", studies.study, name="study"),
    path("studies/<uuid:study_id>/items/", studies.add_items, name="add_items"),
    path("studies/<uuid:study_id>/set-up/", studies.set_up, name="set_up"),
    path("studies/<uuid:study_id>/round/", rounds.new, name="new_round"),
    path("studies/<uuid:study_id>/log/", studies.log, name="log"),
    path("studies/<uuid:study_id>/close/", studies.close, name="close_study"),
    path("studies/<uuid:study_id>/agreement/", agreement.agreement, name="agreement"),
    path("studies/<uuid:study_id>/agreement/recompute/", agreement.recompute, name="recompute_agreement"),
    path("studies/<uuid:study_id>/agreement/table.csv", agreement.table_csv, name="agreement_csv"),
    path("studies/<uuid:study_id>/agreement/chart.svg", agreement.chart_svg, name="agreement_svg"),
    path("studies/<uuid:study_id>/agreement/methods.txt", agreement.methods_text, name="agreement_methods"),
    path(
        "studies/<uuid:study_id>/agreement/ratings/<slug:question>.csv",
        agreement.ratings_csv,
        name="agreement_ratings",
    ),
    path("studies/<uuid:study_id>/machine/", agreement.human_machine, name="human_machine"),
    path("studies/<uuid:study_id>/disagreements/", agreement.disagreement_list, name="disagreements"),
    path("studies/<uuid:study_id>/items/<int:position>/", adjudication.study_item, name="study_item"),
    path("studies/<uuid:study_id>/adjudication/", adjudication.queue, name="adjudication"),
    path("studies/<uuid:study_id>/import/", imports.ratings, name="import_ratings"),
    path("studies/<uuid:study_id>/<slug:step>/", studies.take_step, name="study_step"),
]
