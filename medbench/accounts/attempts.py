"""How often somebody may try what can be guessed: sign-in, registration, the first visit.

Counted in the database, so that several processes and machines count together. What was tried is
kept only as a keyed hash: people type passwords into name fields.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone
from django.utils.crypto import salted_hmac

from medbench.accounts.models import Attempt
from medbench.errors import TooOften

if TYPE_CHECKING:
    from django.http import HttpRequest

WINDOW = timedelta(minutes=5)


def address_of(request: HttpRequest) -> str:
    """The address that asks. Behind proxies of ours, the one that the outermost of them saw."""
    hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",")]
    proxies = settings.TRUSTED_PROXIES
    if proxies and len(hops) >= proxies:
        return hops[-proxies]
    return str(request.META["REMOTE_ADDR"])


def count_attempt(what: str, *, limit: int) -> Attempt:
    """Count one attempt at `what`; the caller deletes the answered row if it was not in vain.

    The row is written before anything is tried, so that a hundred requests at once are a hundred
    attempts. A refused attempt is not counted: whoever keeps knocking still gets in after WINDOW.

    Raises:
        TooOften: `limit` attempts were made within WINDOW.
    """
    now = timezone.now()
    Attempt.objects.filter(at__lte=now - WINDOW).delete()
    attempt = Attempt.objects.create(key=salted_hmac("medbench.attempt", what).hexdigest(), at=now)
    earlier = Attempt.objects.filter(key=attempt.key).exclude(pk=attempt.pk).order_by("-at")
    blocking = earlier[limit - 1 : limit].first()
    if blocking is None:
        return attempt
    attempt.delete()
    wait_s = math.ceil((blocking.at + WINDOW - now).total_seconds())
    minutes = math.ceil(wait_s / 60)
    raise TooOften(f"Too many attempts. Try again in {minutes} min.", wait_s=wait_s)
