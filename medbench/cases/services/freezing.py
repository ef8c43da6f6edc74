"""Freezing a release: a copy of what may change, references to what cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from medbench.cases import queries
from medbench.cases.bundles import bundle_of_rows, digest
from medbench.cases.editions import Edition
from medbench.cases.models import Benchmark, Release, ReleaseCase, ReleaseTriplet
from medbench.errors import Conflict

if TYPE_CHECKING:
    from medbench.accounts.models import User
    from medbench.cases.models import Case

COPIED = ("position", "project", "site", "difficulty", "split", "slide_id", "report_id", "goal_id")
WORDS = ("title", "description", "licence", "citation")


def freeze_release(benchmark: Benchmark, *, by: User | None, version: str | None = None) -> Release:
    """Freeze the working copy of `benchmark` as its next release, labelled `version` or its number.

    Rejected and retired triplets are left out. Raises Conflict where there is nothing to freeze,
    nothing changed since the newest release, or the label is taken.
    """
    with transaction.atomic():
        benchmark = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
        draft = Edition(benchmark, None)
        newest = benchmark.releases.order_by("-number").first()
        number = newest.number + 1 if newest else 1
        rows = list(queries.whole_rows(draft))
        found = digest(bundle_of_rows(draft, rows))
        if not rows:
            raise Conflict("The working copy has no cases, so there is nothing to freeze.")
        if newest and newest.digest == found and _slides(newest) == {row.slide_id for row in rows}:
            raise Conflict(f"Nothing changed since release {newest.number}.", code="nothing_changed")
        release = Release.objects.create(
            benchmark=benchmark,
            number=number,
            version=_label(benchmark, number, version),
            digest=found,
            frozen_by=by,
            **{name: getattr(benchmark, name) for name in WORDS},
        )
        _copy(release, rows)
    return release


def _slides(release: Release) -> set[object]:
    return set(release.cases.values_list("slide", flat=True))


def _label(benchmark: Benchmark, number: int, wanted: str | None) -> str:
    taken = set(benchmark.releases.values_list("version", flat=True))
    if wanted is None:
        return next(label for n in range(number, 2 * number + 1) if (label := str(n)) not in taken)
    if wanted in taken:
        raise Conflict(f"There is a version “{wanted}” already. Choose another label.", code="version_exists")
    return wanted


def _copy(release: Release, rows: list[Case]) -> None:
    cases = ReleaseCase.objects.bulk_create(
        ReleaseCase(release=release, case=row, **{name: getattr(row, name) for name in COPIED})
        for row in rows
    )
    ReleaseTriplet.objects.bulk_create(
        ReleaseTriplet(release_case=case, version=each.version, position=each.triplet.position)
        for case, row in zip(cases, rows, strict=True)
        for each in queries.shown_triplets(row)
        if not each.is_rejected
    )
