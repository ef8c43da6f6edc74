"""What can be put up for judgement from the cases of an edition, by kind."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from medbench.review import cases, outputs, triplets
from medbench.review.models import ReviewItem

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from medbench.cases.editions import Edition

KINDS = (ReviewItem.Kind.TRIPLET, *cases.KINDS, *outputs.KINDS)


def chosen(
    edition: Edition, kind: str, *, site: str = "", category: str = "", state: str = ""
) -> QuerySet[Any]:
    """What of an edition matches, in its order: triplets, review items that the leaderboard made of
    outputs, or cases for every other kind. An empty filter means any; `category` and `state` are of
    triplets alone."""
    if kind == ReviewItem.Kind.TRIPLET:
        return triplets.chosen(edition, site=site, category=category, state=state)
    if kind in outputs.KINDS:
        return outputs.chosen(edition, kind, site=site)
    return cases.chosen(edition, kind, site=site)


def sample(rows: QuerySet[Any], size: int | None, seed: int) -> QuerySet[Any]:
    """`size` of `rows`, drawn without replacement: by the same seed the same places in their order.
    None = all."""
    if size is None:
        return rows
    keys = list(rows.values_list("pk", flat=True))
    drawn = random.Random(seed).sample(keys, min(size, len(keys)))  # noqa: S311  # to repeat, no secret
    return rows.filter(pk__in=drawn)


def as_items(rows: QuerySet[Any], kind: str) -> list[ReviewItem]:
    """Chosen rows as review items of `kind`, unsaved where they are not stored as such already."""
    if kind in outputs.KINDS:
        return list(rows)
    return triplets.as_items(rows) if kind == ReviewItem.Kind.TRIPLET else cases.as_items(rows, kind)
