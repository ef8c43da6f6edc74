"""A name for the requests of views behind @login_required."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails

    from medbench.accounts.models import User


class SignedInRequest(HttpRequest):
    """For annotations only: a request whose user is a person."""

    user: User
    htmx: HtmxDetails
