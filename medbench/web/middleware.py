"""Turns our errors into answers, and says to browsers what they may do with a page."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from django.http import HttpResponse
from django.shortcuts import resolve_url

from medbench.errors import MedBenchError, TooOften
from medbench.web.refusals import refuse_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

    Next = Callable[[HttpRequest], HttpResponse]

# What a page of ours never asks a browser for.
PERMISSIONS_POLICY = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer",
        "autoplay",
        "browsing-topics",
        "camera",
        "display-capture",
        "geolocation",
        "gyroscope",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "publickey-credentials-get",
        "usb",
        "xr-spatial-tracking",
    )
)


class Headers:
    """The outermost layer: headers of every answer, error pages among them.

    Nothing is stored by a browser or a proxy unless its view says otherwise (tiles do): after
    sign-out on a shared computer, Back must not show a report.
    """

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response


class ErrorPages:
    """Answers a MedBenchError that a view let through."""

    def __init__(self, get_response: Next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.headers.get("HX-Request") == "true" and _asks_to_sign_in(response):
            return _sign_in_from_region(request)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, MedBenchError):
            return None
        response = refuse_error(request, error)
        if isinstance(error, TooOften):
            response.headers["Retry-After"] = str(error.wait_s)
        return response


def _asks_to_sign_in(response: HttpResponse) -> bool:
    place = response.headers.get("Location", "")
    return response.status_code == 302 and urlsplit(place).path == resolve_url("accounts:sign_in")


def _sign_in_from_region(request: HttpRequest) -> HttpResponse:
    """A region cannot show the sign-in page, so the whole page goes there and comes back."""
    page = urlsplit(request.headers.get("HX-Current-URL", "/"))
    here = f"{page.path}?{page.query}" if page.query else page.path
    place = f"{resolve_url('accounts:sign_in')}?{urlencode({'next': here})}"
    return HttpResponse(status=204, headers={"HX-Redirect": place})
