"""What experts concluded, written back to triplets and cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils import timezone

from medbench.cases.models import Case, Triplet, TripletVersion
from medbench.cases.services.editing import Wording, edit_goal, edit_triplet
from medbench.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from medbench.accounts.models import User
    from medbench.cases.models import Goal


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


def correct_triplet(version_id: int, wording: Wording, *, by: User | None) -> TripletVersion:
    """Give the triplet of a judged version the wording that experts settled on, as a new version.

    Raises Conflict where the triplet has another wording by now, or left the working copy.
    """
    judged = TripletVersion.objects.select_related("triplet").get(pk=version_id)
    return edit_triplet(judged.triplet, wording, by=by, based_on=judged.version)


def correct_goal(case: str, text: str, *, judged: int, by: User | None) -> Goal:
    """Give the case the goal that experts settled on. Raises Conflict where it has another than the
    `judged` one (its id) by now."""
    found = Case.objects.get(pk=case)
    if found.goal_id != judged:
        raise Conflict("Somebody changed this goal meanwhile. Read it again.")
    return edit_goal(found, text, by=by)


def discard_case(case: str) -> bool:
    """Take a case whose material experts refused out of the working copy; answers whether it was in it.
    Releases that have it keep it, and importing it again brings it back."""
    return bool(Case.objects.filter(pk=case, retired_at=None).update(retired_at=timezone.now()))
