"""Reading cases: lists of an edition with filters, search and counts, and one case whole.

An edition's rows are ReleaseCase (a release) or Case (the working copy). Both have the same fields
but for the paths in `_PATHS`, so each query is written once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet, Subquery

from medbench.cases.models import (
    Benchmark,
    BundleUpload,
    Case,
    Category,
    Kit,
    Release,
    ReleaseCase,
    ReleaseTriplet,
    Split,
    Triplet,
    TripletVersion,
)

if TYPE_CHECKING:
    import uuid

    from django.contrib.auth.models import AnonymousUser

    from medbench.accounts.models import User
    from medbench.cases.editions import Edition

Row = Case | ReleaseCase

MAX_TERMS = 10
VERIFIED = (Triplet.State.VERIFIED, Triplet.State.CORRECTED)


class _Paths(NamedTuple):
    case: str  # from a row to the Case
    triplet: str  # from one of the row's triplets to the Triplet
    version: str  # … to the TripletVersion shown


_RELEASE = _Paths("case__", "version__triplet__", "version__")
_DRAFT = _Paths("", "", "current__")


def _paths(edition: Edition) -> _Paths:
    return _RELEASE if edition.release else _DRAFT


@dataclass(frozen=True)
class Filters:
    """What a list is narrowed to; empty = everything."""

    search: str = ""
    site: str = ""
    project: str = ""
    difficulties: tuple[int, ...] = ()
    category: str = ""
    split: str = ""

    @property
    def terms(self) -> list[str]:
        """The words that must all occur in a case; of a long search only the first ones count."""
        return self.search.split()[:MAX_TERMS]


def rows(edition: Edition, *, held_out: bool) -> QuerySet[Any]:
    """The cases of an edition, in order. `held_out`: with the held-out ones."""
    if edition.release:
        found: QuerySet[Any] = ReleaseCase.objects.filter(release=edition.release)
    else:
        found = Case.objects.filter(benchmark=edition.benchmark, retired_at=None)
    return found if held_out else found.filter(split=Split.OPEN)


def narrowed(found: QuerySet[Any], edition: Edition, filters: Filters) -> QuerySet[Any]:
    """The rows that pass every filter; each word of the search stands in goal, report or triplets."""
    same = {name: getattr(filters, name) for name in ("site", "project", "split") if getattr(filters, name)}
    found = found.filter(**same)
    if filters.difficulties:
        found = found.filter(difficulty__in=filters.difficulties)
    if filters.category:
        found = found.filter(Exists(_triplets(edition).filter(_is(edition, "category", filters.category))))
    for term in filters.terms:
        found = found.filter(_contains(edition, term))
    return found


def counted(found: QuerySet[Any], edition: Edition) -> QuerySet[Any]:
    """The rows with `name`, `n_triplets`, `n_verified` and `n_<category>`: one join, one grouping."""
    paths = _paths(edition)
    live = Q(triplets__isnull=False) if edition.release else _live("triplets__")
    category_path = f"triplets__{paths.version}category"
    counts = {
        f"n_{category}": Count("triplets", filter=live & Q(**{category_path: category}))
        for category in Category.values
    }
    state = Q(**{f"triplets__{paths.triplet}state__in": VERIFIED})
    unchanged = Q(**{f"triplets__{paths.triplet}current": F(f"triplets__{paths.version}id")})
    with_counts: QuerySet[Any] = found.annotate(
        name=F(f"{paths.case}case_id"),
        n_triplets=Count("triplets", filter=live),
        n_verified=Count("triplets", filter=live & state & unchanged),
        **counts,
    )
    return with_counts


def _live(prefix: str = "") -> Q:
    """Triplets of the working copy that a release would take."""
    return Q(**{f"{prefix}retired_at": None}) & ~Q(**{f"{prefix}state": Triplet.State.REJECTED})


def _triplets(edition: Edition) -> QuerySet[Any]:
    """The triplets of the row that an outer query stands on."""
    if edition.release:
        return ReleaseTriplet.objects.filter(release_case=OuterRef("pk"))
    return Triplet.objects.filter(_live(), case=OuterRef("pk"))


def _is(edition: Edition, name: str, value: str) -> Q:
    return Q(**{f"{_paths(edition).version}{name}": value})


def _contains(edition: Edition, term: str) -> Q:
    paths = _paths(edition)
    in_triplets = _triplets(edition).filter(
        Q(**{f"{paths.version}question__icontains": term}) | Q(**{f"{paths.version}insight__icontains": term})
    )
    in_texts = Q(goal__text__icontains=term) | Q(report__text__icontains=term)
    return in_texts | Q(**{f"{paths.case}case_id__icontains": term}) | Q(Exists(in_triplets))


def totals(edition: Edition, *, held_out: bool) -> dict[str, int]:
    """The numbers of `cases` and `triplets` of an edition."""
    live = None if edition.release else _live("triplets__")
    return rows(edition, held_out=held_out).aggregate(
        cases=Count("pk", distinct=True), triplets=Count("triplets", filter=live)
    )


SORTS = {
    "case": "name",
    "site": "site",
    "project": "project",
    "difficulty": "difficulty",
    "triplets": "n_triplets",
    "verified": "n_verified",
    "split": "split",
}


def ordered(found: QuerySet[Any], sort: str) -> QuerySet[Any]:
    """Counted rows by a key of SORTS, descending with "-" before it; else in the edition's order."""
    key = SORTS.get(sort.removeprefix("-"))
    if key is None:
        return found.order_by("position", "pk")
    return found.order_by(f"-{key}" if sort.startswith("-") else key, "position", "pk")


def with_texts(found: QuerySet[Any], edition: Edition, *, searched: bool) -> QuerySet[Any]:
    """The rows with goal and slide, and where a search needs them with report and triplets."""
    joined = ["goal", "slide"] + (["case"] if edition.release else [])
    if not searched:
        return found.select_related(*joined)
    return found.select_related(*joined, "report").prefetch_related(triplets_of(edition))


def whole_rows(edition: Edition) -> QuerySet[Any]:
    """All rows of an edition with all their texts, in order."""
    found = with_texts(rows(edition, held_out=True), edition, searched=True)
    return found.order_by("position", "pk")


def triplets_of(edition: Edition) -> Prefetch[Any]:
    """The triplets of rows, with the version shown, as `shown_triplets`."""
    if edition.release:
        found: QuerySet[Any] = ReleaseTriplet.objects.select_related("version__triplet", "version__report")
    else:
        found = Triplet.objects.filter(retired_at=None).select_related("current__report")
    return Prefetch("triplets", found, to_attr="shown_triplets")


def values_of(edition: Edition, name: str, *, held_out: bool) -> list[str]:
    """The different values of a field in an edition, for the choices of a filter."""
    found = rows(edition, held_out=held_out).order_by(name).values_list(name, flat=True).distinct()
    return [value for value in found if value]


@dataclass(frozen=True)
class ShownTriplet:
    """A triplet as an edition has it. `number` counts from 1 in the case."""

    number: int
    triplet: Triplet
    version: TripletVersion

    @property
    def state(self) -> str:
        """The state of this wording: an older wording than the current one is only proposed."""
        current = self.triplet.current_id == self.version.pk
        return self.triplet.state if current else Triplet.State.PROPOSED

    @property
    def regions(self) -> list[dict[str, Any]]:
        """Where experts saw what this wording says: none while it is only proposed."""
        return [] if self.state == Triplet.State.PROPOSED else self.triplet.regions

    @property
    def is_verified(self) -> bool:
        return self.state in VERIFIED

    @property
    def is_rejected(self) -> bool:
        return self.state == Triplet.State.REJECTED


@dataclass(frozen=True)
class ShownCase:
    """A case as an edition has it: what the case page and the API show."""

    case: Case
    edition: Edition
    row: Row
    triplets: list[ShownTriplet] = field(default_factory=list)

    @property
    def n_verified(self) -> int:
        return sum(each.is_verified for each in self.triplets)

    @property
    def n_rejected(self) -> int:
        return sum(each.is_rejected for each in self.triplets)


def shown_case(case: Case, edition: Edition) -> ShownCase | None:
    """The case with all its texts in an edition, or None where the edition has no such case."""
    key = {"case": case} if edition.release else {"pk": case.pk}
    found = counted(rows(edition, held_out=True).filter(**key), edition)
    row = with_texts(found, edition, searched=True).first()
    return None if row is None else ShownCase(case, edition, row, shown_triplets(row))


def shown_triplets(row: Row) -> list[ShownTriplet]:
    """The triplets of a row that was read with its texts."""
    found = []
    for number, each in enumerate(row.shown_triplets, 1):  # type: ignore[union-attr]  # prefetched
        if isinstance(each, ReleaseTriplet):
            found.append(ShownTriplet(number, each.version.triplet, each.version))
        else:
            found.append(ShownTriplet(number, each, each.current))
    return found


def neighbours(row: Row, edition: Edition, *, held_out: bool) -> tuple[Row | None, Row | None]:
    """The rows before and after `row` in the edition's order."""
    found = rows(edition, held_out=held_out)
    before = Q(position__lt=row.position) | Q(position=row.position, pk__lt=row.pk)
    after = Q(position__gt=row.position) | Q(position=row.position, pk__gt=row.pk)
    return (
        found.filter(before).order_by("-position", "-pk").first(),
        found.filter(after).order_by("position", "pk").first(),
    )


def benchmarks(person: User | AnonymousUser) -> QuerySet[Benchmark]:
    """The benchmarks whose cases `person` may read."""
    return Benchmark.objects.where(person, "case.read").select_related("team")


def releases(person: User | AnonymousUser) -> QuerySet[Release]:
    """The releases whose cases `person` may read, newest first, with their numbers of cases."""
    found = Release.objects.where(person, "case.read").select_related("benchmark")
    return with_numbers(found).order_by("-frozen_at", "-number")


def with_numbers(found: QuerySet[Release]) -> QuerySet[Release]:
    """Releases with `n_cases`, `n_held_out` and `n_triplets`."""
    return found.annotate(
        n_cases=Count("cases", distinct=True),
        n_held_out=Count("cases", filter=Q(cases__split=Split.HELD_OUT), distinct=True),
        n_triplets=Count("cases__triplets", distinct=True),
    )


def references(release: Release, split: str) -> QuerySet[ReleaseCase]:
    """The cases of one split with their references, in order.

    For each: `row.case.case_id`, and the reference insights
    `[each.version.insight for each in row.triplets.all()]`, in the release's order.
    """
    triplets = ReleaseTriplet.objects.select_related("version").order_by("position")
    return (
        ReleaseCase.objects.filter(release=release, split=split)
        .select_related("case")
        .prefetch_related(Prefetch("triplets", triplets))
        .order_by("position")
    )


def case_key(row: Row) -> uuid.UUID:
    """The id under which a row's case is addressed."""
    return row.case_id if isinstance(row, ReleaseCase) else row.pk


@dataclass(frozen=True)
class DraftNumbers:
    """What freezing the working copy would take, and what it would not."""

    cases: int
    held_out: int
    triplets: int
    verified: int
    rejected: int
    without_slide: int
    opened: int  # open now, held out in the newest release: their references become readable
    closed: int  # held out now, open in the newest release: their references are known already


def draft_numbers(benchmark: Benchmark) -> DraftNumbers:
    """The numbers of the working copy, in two queries."""
    in_newest = ReleaseCase.objects.filter(case=OuterRef("pk"), release__benchmark=benchmark).order_by(
        "-release__number"
    )
    before = Subquery(in_newest.values("split")[:1])
    cases = Case.objects.filter(benchmark=benchmark, retired_at=None).annotate(before=before)
    held_out = Q(split=Split.HELD_OUT)
    found = cases.aggregate(
        cases=Count("pk"),
        held_out=Count("pk", filter=held_out),
        without_slide=Count("pk", filter=Q(slide=None) | ~Q(slide__state="ready")),
        opened=Count("pk", filter=~held_out & Q(before=Split.HELD_OUT)),
        closed=Count("pk", filter=held_out & Q(before=Split.OPEN)),
    )
    triplets = Triplet.objects.filter(case__benchmark=benchmark, case__retired_at=None, retired_at=None)
    rejected = Q(state=Triplet.State.REJECTED)
    found |= triplets.aggregate(
        triplets=Count("pk", filter=~rejected),
        verified=Count("pk", filter=Q(state__in=VERIFIED)),
        rejected=Count("pk", filter=rejected),
    )
    return DraftNumbers(**found)


def running_uploads(person: User) -> QuerySet[BundleUpload]:
    """The bundles of this person that a job checks or imports now, or will."""
    waiting = BundleUpload.objects.filter(uploaded_by=person, outcome__isnull=True)
    return waiting.filter(job__state__in=("queued", "running")).select_related("job")


def kit_of(release: Release) -> Kit | None:
    """The kit of the release with its job, None before anyone asked for it."""
    return Kit.objects.select_related("job").filter(release=release).first()


def case_name(row: Row) -> str:
    """The name of a row's case in files."""
    return row.case.case_id if isinstance(row, ReleaseCase) else row.case_id
