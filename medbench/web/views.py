"""Home, health, help and the error pages."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig
from django.http import JsonResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.views.decorators.http import require_safe

from medbench.accounts.queries import nobody_is_here
from medbench.errors import NotFound
from medbench.web import health, navigation
from medbench.web.refusals import nothing_here, refuse

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The blocks of one's roles. A new site sends its first visitor to make the first curator."""
    if not request.user.is_authenticated and nobody_is_here():
        return redirect("accounts:first_curator")
    return render(request, "web/home.html", {"blocks": navigation.home_blocks(request)})


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    """Every keyboard command, from the same registry that the pages use."""
    return render(request, "web/keys.html")


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """For load balancers and monitoring: 200 while this process can serve, else 503."""
    found = health.check_all()
    return JsonResponse(found, status=200 if found["ok"] else 503)


def operators_sign_in(request: HttpRequest) -> HttpResponse:
    """Operators sign in at the one page where attempts are counted; to others there is nothing."""
    if request.user.is_authenticated:
        raise NotFound
    return redirect_to_login(request.GET.get("next", resolve_url("admin:index")))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        limit_mb = settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 1e6
        message = f"That is more text than a form may carry ({limit_mb:.0f} MB). Send less, or send a file."
        return refuse(request, "web/error.html", status=413, code="too_large", message=message)
    message = "The request was not understood. Open the page again and repeat the step."
    return refuse(request, "400.html", status=400, code="bad_request", message=message)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refuse(
        request, "403.html", status=403, code="not_allowed", message="Your role does not allow this."
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    message = "The form came from a page that is no longer valid. Open the page again and repeat the step."
    return refuse(request, "403.html", status=403, code="form_outdated", message=message)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return nothing_here(request)


def server_error(request: HttpRequest) -> HttpResponse:
    """A short code on the page and in the log (web.logs), so that the two can be brought together."""
    code = secrets.token_hex(3).upper()
    request.error_code = code  # type: ignore[attr-defined]  # read by web.logs
    message = f"Something broke on our side (code {code}). Nothing you saved is lost."
    context = {"error_code": code, "moment": timezone.now()}
    return refuse(request, "500.html", status=500, code="server_error", message=message, **context)
