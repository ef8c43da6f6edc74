"""How many submissions one person may make in a day of UTC. What counts is what was or will be
scored: a refused file was never recorded, and what was cancelled or failed on our side is free."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from leaderboard.models import Board, Evaluation, Submission
from leaderboard.permissions import team_of
from medbench.accounts.permissions import may
from medbench.errors import TooOften
from medbench.jobs.models import Job

if TYPE_CHECKING:
    from leaderboard.permissions import Person

FREE = (Job.State.FAILED, Job.State.CANCELLED)
# Cancelled ones are free, but not without end: so many uploads a day for each submission that counts.
UPLOADS_FOR_EACH = 5


@dataclass(frozen=True)
class Quota:
    """What is left of a day. `limit` None: unlimited."""

    limit: int | None
    used: int
    uploads: int  # what was recorded, counted or free
    next_slot: dt.datetime

    @property
    def left(self) -> int:
        """How many more count today; 0 too where too many were cancelled. Unlimited: 1."""
        if self.limit is None:
            return 1
        if self.uploads >= self.limit * UPLOADS_FOR_EACH:
            return 0
        return max(self.limit - self.used, 0)


def quota_of(person: Person, board: Board | None = None) -> Quota:
    """What `person` has left today, over all boards. The curators of the board's benchmark have no
    limit: they read its references anyway, and run its baselines."""
    now = timezone.now()
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    next_slot = today + dt.timedelta(days=1)
    limit = settings.SUBMISSIONS_PER_DAY or None
    if limit is None or (board and may(person, "board.manage", team_of(board))):
        return Quota(None, 0, 0, next_slot)
    newest = Evaluation.objects.filter(submission=OuterRef("pk")).order_by("-generation")
    states = (
        Submission.objects.filter(submitted_by=person.pk, created_at__gte=today)
        .order_by()
        .annotate(state=Subquery(newest.values("job__state")[:1]))
        .values_list("state", flat=True)
    )
    uploads = list(states)
    return Quota(limit, sum(state not in FREE for state in uploads), len(uploads), next_slot)


def require_slot(person: Person, board: Board) -> None:
    """Raise TooOften (code `quota_used`) where nothing is left. Ask under the lock of submitting."""
    quota = quota_of(person, board)
    if quota.left:
        return
    wait_s = math.ceil((quota.next_slot - timezone.now()).total_seconds())
    done = (
        f"You made {quota.used} of {quota.limit} submissions today"
        if quota.used >= (quota.limit or 0)
        else f"You uploaded {quota.uploads} files today, cancelled ones among them"
    )
    raise TooOften(
        f"{done}. Nothing was recorded. The next slot opens at {quota.next_slot:%Y-%m-%d %H:%M} UTC.",
        wait_s=wait_s,
        code="quota_used",
    )


def lock() -> None:
    """One submitting at a time, by the lock on the oldest board: a number is drawn once, a second
    request with the same key sees what the first one recorded, and nobody gets one slot too many."""
    Board.objects.select_for_update(no_key=True).order_by("created_at").first()
