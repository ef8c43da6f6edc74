"""Addresses of slides. Level 0 is full resolution; columns and rows count from 0 at the top left."""

from __future__ import annotations

from django.urls import path, register_converter

from medbench.slides import curating, views


class Level:
    """A level of the file by its number, or a virtual one by its name: 0, 1, v2, v8.00026."""

    regex = r"[0-9]{1,3}|v[0-9]{1,6}(?:\.[0-9]{1,6})?"

    def to_python(self, text: str) -> int | str:
        return int(text) if text.isdigit() else text

    def to_url(self, level: int | str) -> str:
        return str(level)


register_converter(Level, "level")

app_name = "slides"
urlpatterns = [
    path("slides/", curating.slide_list, name="list"),
    path("slides/<uuid:slide_id>/", curating.detail, name="detail"),
    path("slides/<uuid:slide_id>/register/", curating.register, name="register"),
    path("slides/<uuid:slide_id>/cancel/", curating.cancel_registration, name="cancel"),
    path("slides/<uuid:slide_id>/tissue.png", curating.tissue_mask, name="tissue"),
    path("slides/<uuid:slide_id>/pyramid.json", views.pyramid, name="pyramid"),
    path("slides/<uuid:slide_id>/thumbnail.jpg", views.thumbnail, name="thumbnail"),
    path("slides/<uuid:slide_id>/token", views.token, name="token"),
    path(
        "slides/<uuid:slide_id>/tiles/<int:revision>/<level:level>/<int:column>_<int:row>.jpg",
        views.tile,
        name="tile",
    ),
]
