"""Cases as review items: their goal, their image and report, the case as a whole, its difficulty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Prefetch

from medbench.accounts.models import User
from medbench.cases.models import Case, ReleaseCase, ReleaseTriplet, Triplet
from medbench.cases.services.verification import correct_goal, discard_case, set_difficulty
from medbench.review.models import ReviewItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.db.models import QuerySet

    from medbench.cases.editions import Edition
    from medbench.cases.models import TripletVersion
    from medbench.review.models import ItemResult

Kind = ReviewItem.Kind
KINDS = (Kind.GOAL, Kind.REPORT, Kind.CASE, Kind.DIFFICULTY)
LEVEL = "level_"  # before the level, in the outcome of a difficulty item


def chosen(edition: Edition, kind: str, *, site: str = "") -> QuerySet[Any]:
    """The cases of an edition that can be judged as `kind`, in its order. An empty filter means any.

    Rows are ReleaseCase (a release) or Case (the working copy). A goal is judged only where there
    is one, and image and report only where there is either.
    """
    if edition.release:
        rows: QuerySet[Any] = edition.release.cases.all()
    else:
        rows = Case.objects.filter(benchmark=edition.benchmark, retired_at=None)
    if site:
        rows = rows.filter(site=site)
    if kind == Kind.GOAL:
        rows = rows.exclude(goal=None)
    if kind == Kind.REPORT:
        rows = rows.exclude(report=None, slide=None)
    return rows.order_by("position", "pk")


def as_items(rows: QuerySet[Any], kind: str) -> list[ReviewItem]:
    """Chosen cases as unsaved review items of `kind`, as they stand in their edition."""
    if rows.model is ReleaseCase:
        references = ReleaseTriplet.objects.select_related("version").order_by("position")
        cases = rows.select_related("case", "report", "goal", "slide")
        return [
            _item(kind, row.case, row, [each.version for each in row.triplets.all()])
            for row in cases.prefetch_related(Prefetch("triplets", references))
        ]
    current = Triplet.objects.filter(retired_at=None, current__isnull=False).select_related("current")
    cases = rows.select_related("report", "goal", "slide")
    return [
        _item(kind, row, row, [each.current for each in row.triplets.all() if each.current])
        for row in cases.prefetch_related(Prefetch("triplets", current.order_by("position")))
    ]


def _item(kind: str, case: Case, shown: Case | ReleaseCase, versions: Sequence[TripletVersion]) -> ReviewItem:
    payload: dict[str, Any] = {
        "report_version": shown.report.version if shown.report else None,
        "slide": [str(shown.slide.pk), shown.slide.revision] if shown.slide else None,
    }
    if kind != Kind.REPORT:
        payload |= {
            "goal": shown.goal.text if shown.goal else "",
            "triplets": [_shown(version) for version in versions],
        }
    if kind == Kind.DIFFICULTY:
        payload["difficulty"] = shown.difficulty
    return ReviewItem(
        benchmark_id=case.benchmark_id,
        kind=kind,
        subject_id=str(shown.goal_id if kind == Kind.GOAL else case.pk),
        payload=payload,
        case=case,
        slide=shown.slide,
        report=shown.report,
    )


def _shown(version: TripletVersion) -> dict[str, Any]:
    names = ("category", "question", "insight", "evidence")
    return {name: getattr(version, name) for name in names}


def follow(results: Iterable[ItemResult]) -> None:
    """Let cases follow what was concluded: the level of judged difficulty, a corrected goal; a case
    whose material was rejected leaves the working copy."""
    for result in results:
        kind, outcome = result.item.kind, result.outcome
        if kind == Kind.DIFFICULTY and outcome.startswith(LEVEL):
            level = int(outcome.removeprefix(LEVEL))
            set_difficulty(result.item.subject_id, level, judged=result.item.payload["difficulty"])
        elif kind == Kind.GOAL and outcome == "corrected":
            by = User.objects.filter(pk=result.detail["by"]).first()
            text = result.detail["correction"]["goal"]
            correct_goal(str(result.item.case_id), text, judged=int(result.item.subject_id), by=by)
        elif kind == Kind.REPORT and outcome == "rejected":
            discard_case(result.item.subject_id)
