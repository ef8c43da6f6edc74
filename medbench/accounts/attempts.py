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
    from django.db.models import QuerySet
    from django.http import HttpRequest

WINDOW = timedelta(minutes=5)


def address_of(request: HttpRequest) -> str:
    """The address that asks. Behind proxies of ours, the one that the outermost of them saw."""
    hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",")]
    proxies: int = settings.TRUSTED_PROXIES
    if proxies and len(hops) >= proxies:
        return hops[-proxies]
    return str(request.META["REMOTE_ADDR"])


def count_attempt(limits: dict[str, int]) -> QuerySet[Attempt]:
    """Count one attempt at each key of `limits` (what is tried, by whom, from where).

    The rows are written before anything is tried, so that a hundred requests at once are a hundred
    attempts. The caller deletes the answered rows where the attempt was not in vain. A refused
    attempt is not counted: whoever keeps knocking still gets in after WINDOW.

    Raises:
        TooOften: one of the keys has had its limit of attempts within WINDOW.
    """
    now = timezone.now()
    Attempt.objects.filter(at__lte=now - WINDOW).delete()
    rows = [(Attempt.objects.create(key=_key(what), at=now), limit) for what, limit in limits.items()]
    mine = Attempt.objects.filter(pk__in=[row.pk for row, _ in rows])
    wait_s = max(_wait_s(row, limit) for row, limit in rows)
    if wait_s > 0:
        mine.delete()
        raise TooOften(f"Too many attempts. Try again in {math.ceil(wait_s / 60)} min.", wait_s=wait_s)
    return mine


def _key(what: str) -> str:
    return salted_hmac("medbench.attempt", what, algorithm="sha256").hexdigest()


def _wait_s(attempt: Attempt, limit: int) -> int:
    """Seconds until fewer than `limit` other attempts at the same lie within WINDOW."""
    others = Attempt.objects.filter(key=attempt.key).exclude(pk=attempt.pk).order_by("-at")
    moments = list(others.values_list("at", flat=True)[limit - 1 : limit])
    return math.ceil((moments[0] + WINDOW - attempt.at).total_seconds()) if moments else 0
