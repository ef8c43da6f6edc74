"""Turns our errors into pages, in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.shortcuts import render

from medbench.errors import Conflict, InvalidInput, MedBenchError, NotAllowed, NotFound, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

STATUS: dict[type[MedBenchError], int] = {
    InvalidInput: 400,
    NotAllowed: 403,
    NotFound: 404,
    Conflict: 409,
    Unavailable: 503,
}


def status_of(error: MedBenchError) -> int:
    """The HTTP status that `error` is answered with, in pages and API alike."""
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400)


class ErrorPages:
    """Answers a MedBenchError that a view let through with its page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, MedBenchError):
            return None
        status = status_of(error)
        if status == 404:  # the same bytes for missing and hidden
            return render(request, "404.html", status=404)
        return render(request, "web/error.html", {"error": error, "status": status}, status=status)
