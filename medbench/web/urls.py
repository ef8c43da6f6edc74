"""Addresses without an application of their own."""

from django.urls import path

from medbench.web import views

urlpatterns = [
    path("", views.home, name="home"),
    path("help/keys/", views.keys, name="keys"),
    path("healthz", views.healthz, name="healthz"),
]
