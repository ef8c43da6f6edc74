"""Addresses of the API that belong to no application."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from medbench.api import views

app_name = "api"
urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("me/", views.me, name="me"),
]
