"""Composition root of the addresses: the only module beside wsgi that sees every application."""

from django.contrib import admin
from django.urls import include, path, re_path

from medbench.api.views import nothing_here
from medbench.web.views import operators_sign_in

urlpatterns = [
    path("", include("medbench.web.urls")),
    path("", include("medbench.accounts.urls")),
    path("", include("medbench.slides.urls")),
    path("", include("medbench.cases.urls")),
    path("", include("annotation.urls")),
    path("", include("leaderboard.urls")),
    path("api/v1/", include("medbench.api.urls")),
    path("api/v1/", include("medbench.cases.api_urls")),
    path("api/v1/", include("annotation.api_urls")),
    path("api/v1/", include("leaderboard.api_urls")),
    re_path(r"^api/", nothing_here, name="api_nothing_here"),
    path("admin/login/", operators_sign_in, name="operators_sign_in"),
    path("admin/", admin.site.urls),
]
handler400 = "medbench.web.views.bad_request"
handler403 = "medbench.web.views.forbidden"
handler404 = "medbench.web.views.not_found"
handler500 = "medbench.web.views.server_error"
