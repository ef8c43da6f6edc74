"""Addresses of accounts."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

app_name = "accounts"
urlpatterns = [
    path("sign-in/", LoginView.as_view(template_name="accounts/sign_in.html"), name="sign_in"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("settings/", LoginView.as_view(), name="settings"),
    path("settings/tokens/", LoginView.as_view(), name="tokens"),
]
