"""Taking a bundle in: its rows in one transaction and frozen at once, its slides after that."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from medbench.accounts.models import Membership, Team
from medbench.accounts.permissions import Role
from medbench.cases.bundles import digest
from medbench.cases.models import Benchmark, Case, Goal, Report, Triplet, TripletVersion
from medbench.cases.permissions import require_import
from medbench.cases.services.editing import Wording, anchored
from medbench.cases.services.freezing import WORDS, freeze_release
from medbench.cases.services.slide_files import bring_slides, foresee_slides, is_other, ready_slides
from medbench.errors import Conflict, MedBenchError
from medbench.formats.problems import Problem, Problems, Refused
from medbench.slides.models import Slide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from django.db.models import Manager, Model

    from medbench.accounts.models import User
    from medbench.cases.models import Release
    from medbench.formats import bundle as formats


@dataclass
class ImportOutcome:
    """What came of an import, or would come of it."""

    benchmark: str
    version: str
    cases: int
    triplets: int
    slides: int  # named by cases
    is_new: bool  # False: this version was here already, and nothing changed but missing slides
    release: Release | None = None  # None after a dry run
    warnings: Problems = field(default_factory=Problems)

    def warn(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self.warnings.add(problem)

    def as_dict(self) -> dict[str, Any]:
        """As the contract's `import_benchmark` prints it."""
        counts = {
            name: getattr(self, name) for name in ("benchmark", "version", "cases", "triplets", "slides")
        }
        warnings = {"warnings": self.warnings.as_dicts(), "n_warnings": self.warnings.total}
        return counts | {"problems": [], "n_problems": 0} | warnings


def refusal(error: MedBenchError) -> dict[str, Any]:
    """What `import_benchmark` prints where nothing was imported."""
    found = error if isinstance(error, Refused) else None
    problems = found.problems if found else Problems()
    warnings = found.warnings if found else Problems()
    if not found:
        problems.add(Problem(error.code, error.message))
    return {
        **dict.fromkeys(("benchmark", "version"), ""),
        **dict.fromkeys(("cases", "triplets", "slides"), 0),
        "problems": problems.as_dicts(),
        "n_problems": problems.total,
        "warnings": warnings.as_dicts(),
        "n_warnings": warnings.total,
    }


def import_benchmark(
    bundle: formats.Bundle,
    *,
    by: User | None,
    dry_run: bool = False,
    tick: Callable[[int, int], object] = lambda _done, _total: None,
) -> ImportOutcome:
    """Import a bundle that was read without problems, and freeze it as a release of its version.

    All rows or none. Whoever imports a new benchmark becomes its curator; `by` None is the operator
    at the command line, who may do everything. The slide files at hand are copied and registered
    after that, one by one; `tick` hears (done, total). The same version again is a no-op but for
    slides that were missing.

    Raises NotAllowed, and Conflict: `version_exists` where the version is here with other content,
    `nothing_changed` where the newest release has exactly this content.
    """
    outcome = import_rows(bundle, by=by, dry_run=dry_run)
    if outcome.release:
        outcome.warn(bring_slides(outcome.release, bundle.slides, tick=tick))
    else:
        outcome.warn(foresee_slides(bundle))
    return outcome


def import_rows(bundle: formats.Bundle, *, by: User | None, dry_run: bool = False) -> ImportOutcome:
    """The first half of `import_benchmark`: all rows, frozen; not yet the files of slides."""
    with transaction.atomic():
        benchmark = Benchmark.objects.select_for_update().filter(name=bundle.info.name).first()
        if by is not None:
            require_import(by, benchmark)
        release = _same_version(benchmark, bundle) if benchmark else None
        is_new = release is None
        if release is None:
            benchmark = benchmark or _new_benchmark(bundle.info, by)
            _Writer(benchmark, by).write(bundle)
            release = freeze_release(benchmark, by=by, version=bundle.info.version)
        if dry_run:
            transaction.set_rollback(True)
    return _outcome(bundle, is_new=is_new, release=None if dry_run else release)


def _outcome(bundle: formats.Bundle, *, is_new: bool, release: Release | None) -> ImportOutcome:
    return ImportOutcome(
        benchmark=bundle.info.name,
        version=bundle.info.version,
        cases=len(bundle.cases),
        triplets=sum(len(case.triplets) for case in bundle.cases),
        slides=len({case.slide for case in bundle.cases if case.slide}),
        is_new=is_new,
        release=release,
        warnings=_warnings(bundle),
    )


def _warnings(bundle: formats.Bundle) -> Problems:
    """The reader's, but for slides that are not in the bundle because they are here already."""
    ready = ready_slides(bundle.info.name)
    here = {case.case_id for case in bundle.cases if case.slide in ready}
    warnings = deepcopy(bundle.warnings)
    kept = [each for each in warnings if each.code != "slide_missing" or each.case_id not in here]
    warnings.counts["slide_missing"] -= len(warnings.shown) - len(kept)
    warnings.shown = kept
    return warnings


def _same_version(benchmark: Benchmark, bundle: formats.Bundle) -> Release | None:
    """The release that has this version already, if it has the same content."""
    release = benchmark.releases.filter(version=bundle.info.version).first()
    if release is not None and release.digest != digest(bundle):
        raise Conflict(
            f"Version “{bundle.info.version}” of {benchmark.name} is here already (release {release.number}) "
            "with other content. Give the changed bundle a new version in benchmark.json.",
            code="version_exists",
        )
    return release


def _new_benchmark(info: formats.BenchmarkInfo, by: User | None) -> Benchmark:
    team = Team.objects.create(name=info.title)
    if by is not None:
        Membership.objects.create(team=team, user=by, role=Role.CURATOR)
    return Benchmark.objects.create(team=team, name=info.name, title=info.title)


class _Writer:
    """Makes the working copy of a benchmark say what a bundle says, with as few rows as possible.

    A text that did not change keeps its version, and a triplet that did not change its state. What the
    bundle no longer names is retired; what it names is in, even if it was rejected or retired.
    """

    def __init__(self, benchmark: Benchmark, by: User | None) -> None:
        self.benchmark = benchmark
        self.by = by
        known = benchmark.cases.select_related("report", "goal", "slide")
        self.cases = {case.case_id: case for case in known}
        self.triplets: dict[tuple[Any, str], Triplet] = {
            (triplet.case_id, triplet.key): triplet
            for triplet in Triplet.objects.filter(case__benchmark=benchmark).select_related("current")
        }

    def write(self, bundle: formats.Bundle) -> None:
        for name in WORDS:
            setattr(self.benchmark, name, getattr(bundle.info, name))
        self.benchmark.save(update_fields=WORDS)
        pairs = self._write_cases(bundle)
        self._write_texts(pairs)
        self._write_triplets(pairs)
        self._point_to_newest()

    def _write_cases(self, bundle: formats.Bundle) -> list[tuple[Case, formats.Case]]:
        pairs, slides = [], self._slides(bundle)
        for position, given in enumerate(bundle.cases):
            case = self.cases.get(given.case_id) or Case(benchmark=self.benchmark, case_id=given.case_id)
            case.position, case.retired_at = position, None
            case.project, case.site, case.difficulty = given.project, given.site, given.difficulty
            case.split, case.slide = given.split, slides[given.slide] if given.slide else None
            pairs.append((case, given))
        Slide.objects.bulk_create(slide for slide in slides.values() if _is_new(slide))
        kept = [case for case, _ in pairs if not _is_new(case)]
        Case.objects.bulk_create(case for case, _ in pairs if _is_new(case))
        Case.objects.bulk_update(kept, _CASE_FIELDS)
        named = {case.pk for case, _ in pairs}
        _retire(Case.objects, [case for case in self.cases.values() if case.pk not in named])
        return pairs

    def _slides(self, bundle: formats.Bundle) -> dict[str, Slide]:
        """A slide for every name: the one the case has, unless its file is another one now."""
        slides: dict[str, Slide] = {}
        for given in bundle.cases:
            if given.slide is None or given.slide in slides:
                continue
            case = self.cases.get(given.case_id)
            slide = case.slide if case else None
            if slide is None or slide.file_name != given.slide or is_other(slide, bundle.slides):
                slide = Slide(file_name=given.slide)
            slides[given.slide] = slide
        return slides

    def _write_texts(self, pairs: list[tuple[Case, formats.Case]]) -> None:
        reports, goals = [], []
        for case, given in pairs:
            old = case.report
            if old is None or (old.text, old.source_name) != (given.report.text, given.report.path):
                version = old.version + 1 if old else 1
                texts = {"text": given.report.text, "source_name": given.report.path}
                case.report = Report(case=case, version=version, made_by=self.by, **texts)
                reports.append(case.report)
            if case.goal is None or case.goal.text != given.goal:
                version = case.goal.version + 1 if case.goal else 1
                case.goal = Goal(case=case, version=version, text=given.goal, made_by=self.by)
                goals.append(case.goal)
        Report.objects.bulk_create(reports)
        Goal.objects.bulk_create(goals)

    def _write_triplets(self, pairs: list[tuple[Case, formats.Case]]) -> None:
        new: list[Triplet] = []
        changed: list[Triplet] = []
        versions: list[TripletVersion] = []
        for case, given in pairs:
            for position, each in enumerate(given.triplets):
                triplet = self.triplets.pop((case.pk, each.id), None) or Triplet(case=case, key=each.id)
                before = triplet.position, triplet.retired_at, triplet.state
                triplet.position, triplet.retired_at = position, None
                version = self._version(triplet, case.report, each)
                if version is not None:
                    versions.append(version)
                if version is not None or triplet.state == Triplet.State.REJECTED:
                    triplet.state = Triplet.State.PROPOSED
                if _is_new(triplet):
                    new.append(triplet)
                elif version is not None or before != (position, None, triplet.state):
                    changed.append(triplet)
        Triplet.objects.bulk_create(new)
        TripletVersion.objects.bulk_create(versions)
        Triplet.objects.bulk_update(changed, ["position", "retired_at", "state"])
        _retire(Triplet.objects, self.triplets.values())

    def _point_to_newest(self) -> None:
        """Every text of the working copy is the newest of its versions."""

        def newest(kind: type[Report | Goal | TripletVersion], owner: str) -> Subquery:
            versions = kind.objects.filter(**{owner: OuterRef("pk")}).order_by("-version")
            return Subquery(versions.values("pk")[:1])

        Case.objects.filter(benchmark=self.benchmark).update(
            report=newest(Report, "case"), goal=newest(Goal, "case")
        )
        Triplet.objects.filter(case__benchmark=self.benchmark).update(
            current=newest(TripletVersion, "triplet")
        )

    def _version(
        self, triplet: Triplet, report: Report | None, given: formats.Triplet
    ) -> TripletVersion | None:
        """The next version of a triplet, None where the current one says the same of the same report."""
        wording = Wording(given.category, given.question, given.insight, given.evidence)
        old = triplet.current
        same_report = old is not None and old.report_id == (report.pk if report else None)
        if old and same_report and _says(old) == (wording, given.confidence):
            return None
        return TripletVersion(
            triplet=triplet,
            version=old.version + 1 if old else 1,
            confidence=given.confidence,
            made_by=self.by,
            **asdict(wording),
            **anchored(report, wording),
        )


_CASE_FIELDS = ("position", "project", "site", "difficulty", "split", "slide", "retired_at")


def _says(version: TripletVersion) -> tuple[Wording, Any]:
    return Wording.of(version), version.confidence


def _is_new(row: Model) -> bool:
    return row._state.adding  # noqa: SLF001  # Django's only word for it


def _retire(of: Manager[Any], rows: Iterable[Case] | Iterable[Triplet]) -> None:
    """Leave rows out of the working copy from now on."""
    gone = [row for row in rows if row.retired_at is None]
    for row in gone:
        row.retired_at = timezone.now()
    of.bulk_update(gone, ["retired_at"])
