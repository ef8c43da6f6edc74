"""Home, health, help and the error pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render

from medbench.web import navigation

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


def home(request: HttpRequest) -> HttpResponse:
    """The blocks of one's roles."""
    return render(request, "web/home.html", {"blocks": navigation.home_blocks(request)})


def keys(request: HttpRequest) -> HttpResponse:
    """Every keyboard command, from the same registry that the pages use."""
    return render(request, "web/keys.html")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    return render(request, "500.html", status=500)
