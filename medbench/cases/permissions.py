"""Who may see which benchmark, edition, case and slide.

Releases are open to whoever may read cases, their held-out cases only to curators; the working
copy only to curators, for it may show what a release holds out.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.db.models import Q

from medbench.accounts.models import Team
from medbench.accounts.permissions import may, require, teams_where
from medbench.cases.editions import DRAFT, Edition
from medbench.cases.models import Benchmark, Case, Release, ReleaseCase, Split
from medbench.errors import NotAllowed, NotFound

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django.db.models import QuerySet

    from medbench.accounts.models import User
    from medbench.slides.models import Slide


def may_see_slide(person: User | AnonymousUser, slide: Slide) -> bool:
    """Whether `person` may see the pixels of `slide` (settings.SLIDE_ACCESS).

    A slide of an open case of a release is seen by all who may read cases; any other slide of a
    case only by those who may be asked to judge it.
    """
    readers = Team.objects.filter(teams_where(person, "case.read"))
    judges = Team.objects.filter(teams_where(person, "slide.read_held_out"))
    released = Q(split=Split.OPEN, release__benchmark__team__in=readers)
    judged = Q(release__benchmark__team__in=judges)
    return (
        ReleaseCase.objects.filter(released | judged, slide=slide).exists()
        or Case.objects.filter(slide=slide, benchmark__team__in=judges).exists()
    )


def curated_slides(person: User | AnonymousUser) -> Q:
    """A condition on Slide: those of cases that `person` curates (settings.SLIDE_CURATED)."""
    teams = Team.objects.filter(teams_where(person, "slide.manage"))
    return Q(pk__in=Case.objects.filter(benchmark__team__in=teams, slide__isnull=False).values("slide"))


def benchmark_for(person: User | AnonymousUser, key: str | uuid.UUID, action: str = "case.read") -> Benchmark:
    """The benchmark of this id or name if `person` may do `action` there; NotFound, NotAllowed."""
    found = Benchmark.objects.select_related("team")
    named = Q(pk=key) if _is_uuid(key) else Q(name=str(key).replace("\0", " "))  # no slug has a space
    benchmark = found.filter(named).first()
    if benchmark is None:
        raise NotFound
    require(person, action, benchmark.team)
    return benchmark


def release_for(person: User | AnonymousUser, release_id: uuid.UUID, action: str = "case.read") -> Release:
    """The release in whose benchmark `person` may do `action`. Raises NotFound, NotAllowed."""
    release = Release.objects.select_related("benchmark__team").filter(pk=release_id).first()
    if release is None:
        raise NotFound
    require(person, action, release.benchmark.team)
    return release


def edition_for(person: User | AnonymousUser, benchmark: Benchmark, token: str) -> Edition:
    """The edition that an address names by `token`: a release's number, "draft", or "" for the
    newest release (for curators of a benchmark without one: the working copy). Raises NotFound."""
    if not may(person, "case.read", benchmark.team):
        raise NotFound
    release = _release(benchmark.releases.all(), token)
    if release is None and not may(person, "case.edit", benchmark.team):
        raise NotFound
    return Edition(benchmark, release)


def case_for(person: User | AnonymousUser, case_id: uuid.UUID, token: str = "") -> tuple[Case, Edition]:
    """A case and the edition to show it in. Raises NotFound where `person` may not see it there.

    Without a token it is the newest release that shows the case to `person`.
    """
    case = Case.objects.select_related("benchmark__team").filter(pk=case_id).first()
    if case is None:
        raise NotFound
    team = case.benchmark.team
    if not may(person, "case.read", team):
        raise NotFound
    holding = Release.objects.holding(case, held_out=may(person, "case.read_held_out", team))
    release = _release(holding, token)
    if release is None and not may(person, "case.edit", team):
        raise NotFound
    return case, Edition(case.benchmark, release)


def may_import(person: User | AnonymousUser) -> bool:
    """Whether `person` may upload bundles at all: site curators, and curators of some benchmark."""
    return Benchmark.objects.where(person, "benchmark.import").exists() or _is_site_curator(person)


def require_import(person: User | AnonymousUser, benchmark: Benchmark | None) -> None:
    """Raise unless `person` may import a version of `benchmark`; None is one that does not exist.

    Only site curators make new benchmarks. Names are unique, so a name in use by others is said.
    """
    if benchmark is None and not _is_site_curator(person):
        raise NotAllowed("Only a site curator can make a new benchmark. Ask one to import its first version.")
    if benchmark is not None and not may(person, "benchmark.import", benchmark.team):
        raise NotAllowed("This name is taken by a benchmark that you do not curate.")


def _is_site_curator(person: User | AnonymousUser) -> bool:
    return person.is_authenticated and person.is_superuser


def case_to_edit(person: User | AnonymousUser, case_id: uuid.UUID) -> Case:
    """A case of the working copy for one who may edit it. Raises NotFound, NotAllowed."""
    case, _ = case_for(person, case_id)
    require(person, "case.edit", case.benchmark.team)
    return case


def _release(releases: QuerySet[Release], token: str) -> Release | None:
    if token == DRAFT:
        return None
    if not token:
        return releases.order_by("-number").first()
    found = releases.filter(number=int(token)).first() if token.isdecimal() and len(token) < 10 else None
    if found is None:
        raise NotFound
    return found


def _is_uuid(key: str | uuid.UUID) -> bool:
    try:
        uuid.UUID(str(key))
    except ValueError:
        return False
    return True
