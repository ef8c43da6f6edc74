"""How a refusal or a fault is answered: as a page, as a fragment for htmx, as JSON below /api/.

Nothing here asks the database or needs a session, so these answers work when those do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse, JsonResponse
from django.template.loader import render_to_string

from medbench.errors import NotFound

if TYPE_CHECKING:
    from django.http import HttpRequest

    from medbench.errors import MedBenchError


def refuse(
    request: HttpRequest, template: str, *, status: int, code: str, message: str, **context: Any
) -> HttpResponse:
    """The answer to `request` in the form that whoever asked can use."""
    if request.path.startswith("/api/"):
        return JsonResponse({"code": code, "message": message}, status=status)
    if request.headers.get("HX-Request") == "true":
        return _fragment(request, status, message)
    page = render_to_string(template, {"message": message, "status": status, **context})
    return HttpResponse(page, status=status)


def refuse_error(request: HttpRequest, error: MedBenchError) -> HttpResponse:
    """The answer to an error that a view let through. Hidden and missing are the same bytes."""
    if error.status == 404:
        return nothing_here(request)
    return refuse(request, "web/error.html", status=error.status, code=error.code, message=error.message)


def nothing_here(request: HttpRequest) -> HttpResponse:
    """404, whatever the reason."""
    return refuse(request, "404.html", status=404, code=NotFound.code, message=NotFound().message)


def _fragment(request: HttpRequest, status: int, message: str) -> HttpResponse:
    """One line on top of the region that was asked for; what the region showed stays below it."""
    again = request.get_full_path() if request.method == "GET" else request.headers.get("HX-Current-URL", "/")
    line = render_to_string("partials/region_problem.html", {"message": message, "again": again})
    headers = {"HX-Reswap": "afterbegin", "HX-Reselect": ".region-problem"}
    return HttpResponse(line, status=status, headers=headers)
