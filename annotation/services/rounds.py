"""Further rounds: the same people read the same items again, after a wash-out, in another order.

All rounds point to the first study. What one said before stays hidden from them, in all of its
rounds, until they have submitted the item again: see `annotation.permissions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from annotation import queries
from annotation.models import Study, StudyAnnotator, StudyItem
from annotation.services import log
from annotation.services.log import What
from medbench.accounts.permissions import Role
from medbench.errors import Conflict

if TYPE_CHECKING:
    import datetime as dt

    from medbench.accounts.models import User

LONGEST_WASH_OUT_DAYS = 730


def why_no_round(study: Study) -> str:
    """Why no further round can be drafted from `study` now, or ""."""
    rounds = queries.rounds_of(study)
    if rounds.exclude(state=Study.State.CLOSED).exists():
        return "A further round begins once this study and all its rounds are closed."
    if not queries.counted(queries.first_round(study)).exists():
        return "Nobody has submitted an item, so there is nothing to read again."
    return ""


@transaction.atomic
def draft_round(
    study: Study, *, title: str, wash_out_days: int, due_at: dt.datetime | None = None, by: User
) -> Study:
    """Draft the next round of a closed study: the items that were read and those who read them.

    An item can be read again by somebody `wash_out_days` after they last submitted it, not earlier.
    Who is no longer an annotator of the benchmark is left out. Raises Conflict while a round is open.
    """
    first = Study.objects.select_for_update(of=("self",)).get(pk=queries.first_round(study).pk)
    if reason := why_no_round(first):
        raise Conflict(reason)
    read = queries.last_read(first)
    people = _still_annotators(first, {person for _, person in read})
    if not people:
        raise Conflict("Nobody who read the items is an annotator of this benchmark any more.")
    number = queries.rounds_of(first).count() + 1
    again = Study.objects.create(
        benchmark=first.benchmark,
        protocol=first.protocol,
        title=title,
        annotators_per_item=min(first.annotators_per_item, len(people)),
        seed=first.seed,
        guidelines=first.guidelines,
        due_at=due_at,
        repeats=first,
        wash_out_days=wash_out_days,
        created_by=by,
    )
    _copy_items(first, again, {item for item, person in read if person in people})
    StudyAnnotator.objects.bulk_create(StudyAnnotator(study=again, user_id=person) for person in people)
    note = f"Round {number} of “{first.title}”, wash-out {wash_out_days} days, {again.items.count():,} items"
    log.record(again, What.CREATED, note, by=by)
    return again


def _still_annotators(study: Study, readers: set[int]) -> list[int]:
    """Those of the readers who hold the role, in the order that gives them their letters."""
    holding = study.benchmark.team.memberships.filter(role=Role.ANNOTATOR, ended_at=None)
    with_role = set(holding.values_list("user", flat=True))
    people = study.annotators.order_by("pk").values_list("user", flat=True)
    return [person for person in people if person in readers & with_role]


def _copy_items(first: Study, again: Study, read: set[object]) -> None:
    """Under the positions of the first round, so that an item has one number in all rounds."""
    StudyItem.objects.bulk_create(
        (
            StudyItem(study=again, item_id=item, position=position)
            for item, position in first.items.values_list("item", "position")
            if item in read
        ),
        batch_size=500,
    )
