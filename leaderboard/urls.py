"""Addresses of leaderboard."""

from __future__ import annotations

from django.urls import path

from leaderboard.views import (
    boards,
    cases,
    compare,
    help_results,
    judges,
    judging,
    methodology,
    notices,
    rescoring,
    review_items,
    submissions,
    submit,
)

app_name = "leaderboard"
urlpatterns = [
    path("boards/", boards.boards, name="boards"),
    path("boards/new/", boards.open_board, name="open_board"),
    path("boards/<uuid:pk>/", boards.board, name="board"),
    path("boards/<uuid:pk>/generations/", rescoring.generations, name="generations"),
    path("boards/<uuid:pk>/generations/new/", rescoring.rescore, name="rescore"),
    path("boards/<uuid:pk>/generations/cancel/", rescoring.cancel, name="cancel_rescoring"),
    path("boards/<uuid:pk>/review-items/", review_items.page, name="review_items"),
    path("boards/<uuid:pk>/novelty-audit/", review_items.require_audit, name="novelty_audit"),
    path("boards/<uuid:pk>/citation.bib", rescoring.citation, name="citation"),
    path("boards/<uuid:pk>/example.json", help_results.example, name="example"),
    path("help/results/", help_results.page, name="help_results"),
    path("compare/", compare.compare, name="compare"),
    path("notices/", notices.notices, name="notices"),
    path("notices/read/", notices.read_all, name="read_notices"),
    path("submit/", submit.submit, name="submit"),
    path("submit/record/", submit.record, name="record"),
    path("submit/findings.csv", submit.findings_csv, name="findings_csv"),
    path("submissions/", submissions.submissions, name="submissions"),
    path("submissions/<uuid:pk>/", submissions.submission, name="submission"),
    path("submissions/<uuid:pk>/cancel/", submissions.cancel, name="cancel"),
    path("submissions/<uuid:pk>/run-again/", submissions.run_again, name="run_again"),
    path("submissions/<uuid:pk>/retry/", judging.retry_unscored, name="retry_unscored"),
    path("submissions/<uuid:pk>/clear-flags/", judging.clear_flags, name="clear_flags"),
    path("submissions/<uuid:pk>/visibility/", submissions.visibility, name="visibility"),
    path("submissions/<uuid:pk>/withdraw/", submissions.withdraw, name="withdraw"),
    path("submissions/<uuid:pk>/cases/<uuid:case_pk>/", cases.case, name="case"),
    path("methodology/", methodology.page, name="methodology"),
    path("settings/judges/", judges.judges, name="judges"),
    path("settings/judges/new/", judges.add_judge, name="add_judge"),
    path("settings/judges/<uuid:pk>/", judges.judge, name="judge"),
    path("settings/judges/<uuid:pk>/test/", judges.test_judge, name="test_judge"),
    path("settings/judges/<uuid:pk>/delete/", judges.delete_judge, name="delete_judge"),
    path("settings/profiles/new/", judges.add_profile, name="add_profile"),
    path("settings/profiles/ready/<slug:name>/", judges.add_ready_profile, name="add_ready_profile"),
    path("settings/profiles/<uuid:pk>/", judges.profile, name="profile"),
    path("settings/profiles/<uuid:pk>/check/", judges.check_profile, name="check_profile"),
    path("settings/profiles/<uuid:pk>/cancel/", judges.cancel_check, name="cancel_check"),
]
