"""The case list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.decorators import login_required
from django.http import QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from medbench.accounts.permissions import may
from medbench.cases import listing, queries
from medbench.cases.forms import PAGE_SIZES, FilterForm
from medbench.cases.permissions import benchmark_for, edition_for, may_import

if TYPE_CHECKING:
    from django.http import HttpResponse

    from medbench.accounts.requests import SignedInRequest
    from medbench.cases.editions import Edition
    from medbench.cases.models import Benchmark

DEFAULT_SIZE = 50


@login_required
@require_safe
def case_list(request: SignedInRequest) -> HttpResponse:
    """The cases of one edition; for htmx only the table."""
    visible = list(queries.benchmarks(request.user))
    benchmark = _benchmark(request, visible)
    if benchmark is None:
        return render(request, "cases/none.html", {"may_import": may_import(request.user)})
    edition = edition_for(request.user, benchmark, request.GET.get("release", ""))
    context = _list(request, edition)
    if request.htmx and not request.htmx.history_restore_request:
        response = render(request, "cases/_table.html", context)
        response["HX-Push-Url"] = f"{request.path}?{context['query'].urlencode()}"
        return response
    context |= {
        "totals": queries.totals(edition, held_out=context["held_out"]),
        "benchmarks": visible,
        "releases": benchmark.releases.all(),
        "uploads": queries.running_uploads(request.user),
        "may_edit": may(request.user, "case.edit", benchmark.team),
    }
    return render(request, "cases/list.html", context)


def _benchmark(request: SignedInRequest, visible: list[Benchmark]) -> Benchmark | None:
    if "benchmark" in request.GET:
        return benchmark_for(request.user, request.GET["benchmark"])
    return visible[0] if visible else None


def _list(request: SignedInRequest, edition: Edition) -> dict[str, Any]:
    held_out = may(request.user, "case.read_held_out", edition.benchmark.team)
    form = FilterForm(request.GET, edition, held_out=held_out)
    filters = form.filters()
    size = next((n for n in PAGE_SIZES if request.GET.get("per") == str(n)), DEFAULT_SIZE)
    sort = request.GET.get("sort", "")
    cases, page = listing.page_of(
        edition, filters, held_out=held_out, sort=sort, size=size, number=request.GET.get("page", "1")
    )
    return {
        "edition": edition,
        "held_out": held_out,
        "form": form,
        "is_filtered": filters != queries.Filters(),
        "cases": cases,
        "page": page,
        "sizes": PAGE_SIZES,
        "size": size,
        "sort": sort,
        "query": _query(request, edition),
    }


def _query(request: SignedInRequest, edition: Edition) -> QueryDict:
    """The address of what is shown, without its empty parts."""
    query = QueryDict(mutable=True)
    query["benchmark"], query["release"] = str(edition.benchmark.pk), edition.token
    for name, values in request.GET.lists():
        if name not in query and any(values):
            query.setlist(name, [value for value in values if value])
    return query
