"""Who is asked about which items, in which order. Stored once, so that it never changes."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING

from django.db.models import Max

from annotation import queries
from annotation.models import Assignment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from annotation.models import Study, StudyItem
    from medbench.accounts.models import User


def deal(study: Study, items: Sequence[StudyItem], annotators: Iterable[User]) -> None:
    """Store a shuffled order of `items` for each annotator, after what they have already.

    In a further round everybody gets what they read in the first one, each item from the end of its
    wash-out on.
    """
    if not items:
        return
    ends = dict(
        Assignment.objects.filter(study_item__study=study)
        .order_by()
        .values_list("annotator")
        .annotate(end=Max("position"))
    )
    read = queries.last_read(study) if study.repeats_id else None
    wash_out = dt.timedelta(days=study.wash_out_days)
    for annotator in annotators:
        theirs = [item for item in items if read is None or (item.item_id, annotator.pk) in read]
        first = ends.get(annotator.pk, 0) + 1
        Assignment.objects.bulk_create(
            (
                Assignment(
                    study_item=item,
                    annotator=annotator,
                    position=position,
                    not_before=read[item.item_id, annotator.pk] + wash_out if read else None,
                )
                for position, item in enumerate(_shuffled(study, theirs, annotator, items[0]), first)
            ),
            batch_size=500,
        )


def _shuffled(study: Study, items: Sequence[StudyItem], annotator: User, first: StudyItem) -> list[StudyItem]:
    order = list(items)
    # The round is part of the seed: the order of one tells nothing about that of another.
    of_round = f":{study.pk}" if study.repeats_id else ""
    seed = f"{study.seed}:{annotator.pk}:{first.position}{of_round}"
    random.Random(seed).shuffle(order)  # noqa: S311  # an order to repeat, no secret
    return order
