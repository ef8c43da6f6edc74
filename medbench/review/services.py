"""Putting something up for judgement, and writing down what the judges concluded."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction

from medbench.errors import Conflict
from medbench.review import cases, triplets
from medbench.review.models import ItemResult, ReviewItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Decision(NamedTuple):
    """What the judges concluded about one item: `outcome` by the item's kind."""

    item: ReviewItem
    outcome: str
    detail: dict[str, Any]


def payload_digest(payload: dict[str, Any]) -> str:
    """SHA-256 of the payload as canonical JSON: sorted keys, no spaces, UTF-8."""
    text = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def create_items(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    """Store review items, each only once, and answer the stored rows in the order given.

    `items` are unsaved; the owner of the subjects fills in everything but the digest. An item that
    exists already (same kind, subject and payload) is answered as it stands, so asking again for
    the same things makes no second row, at the same time neither.
    """
    wanted = list(items)
    for item in wanted:
        item.payload_sha256 = payload_digest(item.payload)
    ReviewItem.objects.bulk_create(wanted, batch_size=200, ignore_conflicts=True)
    stored = {_key(each): each for each in _stored(wanted)}
    return [stored[_key(item)] for item in wanted]


def _key(item: ReviewItem) -> tuple[str, str, str]:
    return item.kind, item.subject_id, item.payload_sha256


def _stored(wanted: Sequence[ReviewItem]) -> Iterable[ReviewItem]:
    digests = sorted({item.payload_sha256 for item in wanted})
    for start in range(0, len(digests), 500):  # below the parameter limit of every SQLite
        yield from ReviewItem.objects.filter(payload_sha256__in=digests[start : start + 500])


@transaction.atomic
def record_results(source: str, decisions: Iterable[Decision]) -> None:
    """Record what the study named `source` concluded, and let the subjects follow.

    A result never changes: the same outcome again is no error and writes nothing, another one is a
    Conflict and nothing is recorded.
    """
    new = list(decisions)
    old = dict(
        ItemResult.objects.filter(source=source, item__in=[each.item for each in new]).values_list(
            "item_id", "outcome"
        )
    )
    for each in new:
        if old.get(each.item.pk, each.outcome) != each.outcome:
            raise Conflict("This study has decided about the item already, and decided otherwise.")
    results = [
        ItemResult(item=each.item, source=source, outcome=each.outcome, detail=each.detail)
        for each in new
        if each.item.pk not in old
    ]
    ItemResult.objects.bulk_create(results, batch_size=200)
    triplets.follow(results)
    cases.follow(results)
