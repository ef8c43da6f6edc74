"""What experts concluded about triplets, written back to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medbench.cases.models import Triplet

if TYPE_CHECKING:
    from collections.abc import Iterable


def set_triplet_states(version_ids: Iterable[int], state: Triplet.State) -> int:
    """Give `state` to the triplets of these versions; answers how many took it.

    A triplet whose wording has changed since keeps its state: the experts judged the older one.
    """
    ids = list(version_ids)
    taken = 0
    for start in range(0, len(ids), 500):  # below the parameter limit of every SQLite
        taken += Triplet.objects.filter(current__in=ids[start : start + 500]).update(state=state)
    return taken
