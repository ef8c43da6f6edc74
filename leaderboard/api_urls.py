"""API addresses of leaderboard."""

from __future__ import annotations

from django.urls import path

from leaderboard import api

app_name = "leaderboard_api"
urlpatterns = [
    path("boards/", api.boards, name="boards"),
    path("boards/<uuid:pk>/standings/", api.standings, name="standings"),
    path("boards/<uuid:pk>/standings.csv", api.standings_csv, name="standings_csv"),
    path("submissions/", api.Submissions.as_view(), name="submissions"),
    path("submissions/<uuid:pk>/", api.submission, name="submission"),
]
