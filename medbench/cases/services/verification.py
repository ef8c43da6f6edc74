"""What experts concluded, written back to triplets and cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from medbench.cases.models import Case, Triplet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def set_triplet_states(version_ids: Iterable[int], state: Triplet.State) -> int:
    """Give `state` to the triplets of these versions; answers how many took it.

    A triplet whose wording has changed since keeps its state: the experts judged the older one.
    """
    ids = list(version_ids)
    taken = 0
    for start in range(0, len(ids), 500):  # below the parameter limit of every SQLite
        taken += Triplet.objects.filter(current__in=ids[start : start + 500]).update(state=state)
    return taken


def set_triplet_regions(regions: Mapping[int, list[dict[str, Any]]]) -> None:
    """Give the triplets of these versions the regions in which experts saw what they concluded.

    Regions are slides.regions.Region as dicts; triplets whose wording has changed since keep theirs.
    """
    ids = list(regions)
    for start in range(0, len(ids), 500):  # below the parameter limit of every SQLite
        judged = list(Triplet.objects.filter(current__in=ids[start : start + 500]))
        for triplet in judged:
            triplet.regions = regions[triplet.current_id]  # type: ignore[index]  # found by it
        Triplet.objects.bulk_update(judged, ["regions"], batch_size=100)


def set_difficulty(case: str, level: int, *, judged: int) -> bool:
    """Give the case its level in the working copy; answers whether it took it.

    A case whose level has changed since it was `judged` keeps the newer one.
    """
    return bool(Case.objects.filter(pk=case, difficulty=judged).update(difficulty=level))
