"""Addresses of leaderboard."""

from __future__ import annotations

from django.urls import path

from leaderboard.views import boards, cases, compare, help_results, submissions, submit

app_name = "leaderboard"
urlpatterns = [
    path("boards/", boards.boards, name="boards"),
    path("boards/new/", boards.open_board, name="open_board"),
    path("boards/<uuid:pk>/", boards.board, name="board"),
    path("boards/<uuid:pk>/example.json", help_results.example, name="example"),
    path("help/results/", help_results.page, name="help_results"),
    path("compare/", compare.compare, name="compare"),
    path("submit/", submit.submit, name="submit"),
    path("submit/record/", submit.record, name="record"),
    path("submit/findings.csv", submit.findings_csv, name="findings_csv"),
    path("submissions/", submissions.submissions, name="submissions"),
    path("submissions/<uuid:pk>/", submissions.submission, name="submission"),
    path("submissions/<uuid:pk>/cancel/", submissions.cancel, name="cancel"),
    path("submissions/<uuid:pk>/run-again/", submissions.run_again, name="run_again"),
    path("submissions/<uuid:pk>/visibility/", submissions.visibility, name="visibility"),
    path("submissions/<uuid:pk>/withdraw/", submissions.withdraw, name="withdraw"),
    path("submissions/<uuid:pk>/cases/<uuid:case_pk>/", cases.case, name="case"),
]
