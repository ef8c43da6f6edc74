"""Triplets as review items, and back: what cases cannot do itself, being below review."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from medbench.accounts.models import User
from medbench.cases.models import ReleaseTriplet, Triplet
from medbench.cases.services.editing import Wording
from medbench.cases.services.verification import correct_triplet, set_triplet_regions, set_triplet_states
from medbench.review.models import ReviewItem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

    from medbench.cases.editions import Edition
    from medbench.cases.models import Case, ReleaseCase, TripletVersion
    from medbench.review.models import ItemResult

# How the two kinds of edition call the same things.
_WORKING_COPY = {"site": "case__site", "category": "current__category", "state": "state"}
_RELEASE = {
    "site": "release_case__site",
    "category": "version__category",
    # That of the triplet now: a release freezes wordings, not what experts say of them.
    "state": "version__triplet__state",
}


def chosen(edition: Edition, *, site: str = "", category: str = "", state: str = "") -> QuerySet[Any]:
    """The triplets of an edition that match, in its order. An empty filter means any.

    Rows are ReleaseTriplet (a release) or Triplet (the working copy).
    """
    given = {"site": site, "category": category, "state": state}
    if edition.release:
        names, order = _RELEASE, ("release_case__position", "position")
        rows: QuerySet[Any] = ReleaseTriplet.objects.filter(release_case__release=edition.release)
    else:
        names, order = _WORKING_COPY, ("case__position", "position")
        rows = Triplet.objects.filter(
            case__benchmark=edition.benchmark, case__retired_at=None, retired_at=None, current__isnull=False
        )
    return rows.filter(**{names[name]: value for name, value in given.items() if value}).order_by(
        *order, "pk"
    )


def unanchored(triplets: QuerySet[Any]) -> QuerySet[Any]:
    """Those among chosen triplets whose evidence was not found in the report."""
    version = "version" if triplets.model is ReleaseTriplet else "current"
    return triplets.filter(**{f"{version}__span_start": None})


def as_items(triplets: QuerySet[Any]) -> list[ReviewItem]:
    """Chosen triplets as unsaved review items, with the goal, report and slide of their edition."""
    if triplets.model is ReleaseTriplet:
        case, version = "release_case__", "version__"
        rows = triplets.select_related("release_case__case")
    else:
        case, version = "case__", "current__"
        rows = triplets
    rows = rows.select_related(f"{version}report", f"{case}report", f"{case}goal", f"{case}slide")
    # Report texts are long, and one report serves all triplets of its case.
    return [_item(row) for row in rows.defer(f"{version}report__text", f"{case}report__text")]


def _item(row: ReleaseTriplet | Triplet) -> ReviewItem:
    if isinstance(row, ReleaseTriplet):
        return _frozen(row.version, row.release_case.case, row.release_case, row.position + 1)
    return _frozen(row.current, row.case, row.case, row.position + 1)  # type: ignore[arg-type]  # chosen: never null


def _frozen(version: TripletVersion, case: Case, shown: Case | ReleaseCase, number: int) -> ReviewItem:
    report = version.report or shown.report
    payload: dict[str, Any] = {
        "number": number,
        "category": version.category,
        "question": version.question,
        "insight": version.insight,
        "evidence": version.evidence,
        "span": [version.span_start, version.span_end] if version.is_anchored else None,
        "goal": shown.goal.text if shown.goal else "",
        "difficulty": shown.difficulty,
        "report_version": report.version if report else None,
        "slide": [str(shown.slide.pk), shown.slide.revision] if shown.slide else None,
    }
    return ReviewItem(
        benchmark_id=case.benchmark_id,
        kind=ReviewItem.Kind.TRIPLET,
        subject_id=str(version.pk),
        payload=payload,
        case=case,
        slide=shown.slide,
        report=report,
    )


def follow(results: Iterable[ItemResult]) -> None:
    """Give the triplets among the judged items the state that was concluded, and the regions in which
    the judges saw it. A corrected one gets the corrected wording as a new version."""
    judged: dict[str, list[int]] = defaultdict(list)
    regions: dict[int, list[dict[str, Any]]] = {}
    for result in results:
        if result.item.kind == ReviewItem.Kind.TRIPLET:
            version_id = _concluded(result)
            judged[result.outcome].append(version_id)
            regions[version_id] = result.detail.get("regions", [])
    set_triplet_regions(regions)
    for outcome, version_ids in judged.items():
        set_triplet_states(version_ids, Triplet.State(outcome))


def _concluded(result: ItemResult) -> int:
    """The version of the triplet of which the conclusion is true."""
    judged = int(result.item.subject_id)
    if result.outcome != Triplet.State.CORRECTED:
        return judged
    by = User.objects.filter(pk=result.detail["by"]).first()
    return correct_triplet(judged, Wording(**result.detail["correction"]), by=by).pk
