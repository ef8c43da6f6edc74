"""A name for the requests of views that visitors may open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails


class PageRequest(HttpRequest):
    """For annotations only: what the middleware of htmx adds."""

    htmx: HtmxDetails
