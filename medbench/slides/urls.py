"""Addresses of slides. Level 0 is full resolution; columns and rows count from 0 at the top left."""

from __future__ import annotations

from django.urls import path

from medbench.slides import curating, views

app_name = "slides"
urlpatterns = [
    path("slides/", curating.slide_list, name="list"),
    path("slides/<uuid:slide_id>/", curating.detail, name="detail"),
    path("slides/<uuid:slide_id>/register/", curating.register, name="register"),
    path("slides/<uuid:slide_id>/cancel/", curating.cancel_registration, name="cancel"),
    path("slides/<uuid:slide_id>/tissue.png", curating.tissue_mask, name="tissue"),
    path("slides/<uuid:slide_id>/pyramid.json", views.pyramid, name="pyramid"),
    path("slides/<uuid:slide_id>/thumbnail.jpg", views.thumbnail, name="thumbnail"),
    path(
        "slides/<uuid:slide_id>/tiles/<int:revision>/<int:level>/<int:column>_<int:row>.jpg",
        views.tile,
        name="tile",
    ),
]
