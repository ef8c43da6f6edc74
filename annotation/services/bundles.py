"""Taking a study in from its bundle: every row as it was, or none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction

from annotation import bundles
from annotation.models import (
    Assignment,
    OutsideRater,
    OutsideRating,
    Protocol,
    Study,
    StudyAction,
    StudyAnnotator,
    StudyItem,
    Verdict,
    VerdictRevision,
)
from annotation.protocols import Definition
from annotation.queries import source_of
from annotation.services import agreement
from annotation.services.bundle_items import item_of
from annotation.services.bundle_reading import BundleFile, Row, read_bundle
from annotation.services.bundle_said import check_detail, check_said
from medbench.accounts.models import User
from medbench.accounts.permissions import may
from medbench.cases.models import Benchmark
from medbench.errors import Conflict, InvalidInput, MedBenchError
from medbench.formats.problems import Findings, Refused
from medbench.review.models import ItemResult
from medbench.review.services import create_items

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


def import_study(path: Path, *, by: User | None) -> Study:
    """Take in the study of a bundle, with its history and times as they were. `by` None = a command.

    Its benchmark, cases and people must be here. Raises Conflict where the study is here already,
    Refused with every problem otherwise; nothing is written then.
    """
    findings = Findings()
    bundle = read_bundle(path, findings)
    if bundle is None or findings.problems:
        raise Refused("The bundle", findings)
    try:
        with transaction.atomic():
            return _Import(bundle, findings, by).run()
    except IntegrityError:
        findings.file, findings.line = "", None
        findings.problem("inconsistent", "The files of the bundle contradict one another.")
        raise Refused("The bundle", findings) from None


class _Import:
    """One import under way."""

    def __init__(self, bundle: BundleFile, findings: Findings, by: User | None) -> None:
        self.bundle = bundle
        self.findings = findings
        self.by = by
        self.people: dict[str, User] = {}
        self.items: dict[int, StudyItem] = {}
        self.assignments: dict[tuple[int, str], Assignment] = {}
        self.verdicts: dict[tuple[int, str], Verdict] = {}

    def run(self) -> Study:
        head = self.bundle.head
        if Study.objects.filter(pk=head["id"]).exists():
            raise Conflict("This study is here already.", code="study_exists")
        benchmark = self._benchmark(head["benchmark"])
        self.people = {each.username: each for each in User.objects.filter(username__in=self._usernames())}
        self._refuse_missing(benchmark)
        self.study = self._study(benchmark)
        self.definition = Definition.read(self.study.protocol.definition)
        for step in (self._items, self._assignments, self._history, self._decisions, self._rest):
            step()
            self._refuse_if_wrong()
        agreement.verdicts_changed(self.study)
        return self.study

    def _refuse_if_wrong(self) -> None:
        self.findings.file, self.findings.line = "", None
        if self.findings.problems:
            raise Refused("The bundle", self.findings)

    # --- The study -----------------------------------------------------------------------

    def _benchmark(self, name: str) -> Benchmark:
        found = Benchmark.objects.select_related("team").filter(name=name).first()
        if found is None or (self.by and not may(self.by, "study.manage", found.team)):
            words = (
                f"The study is of the benchmark “{name}”, which is not here or not yours. Import it first."
            )
            self.findings.problem("unknown_benchmark", words)
            self._refuse_if_wrong()
        assert found is not None
        return found

    def _usernames(self) -> set[str]:
        logged = {row.values.get("person") for row in self.bundle.rows[bundles.LOG]}
        decided = (row.values["detail"].get("by") for row in self.bundle.rows[bundles.DECISIONS])
        named = [*self.bundle.head["annotators"], self.bundle.head["created_by"], *logged, *decided]
        return {each for each in named if isinstance(each, str)}

    def _refuse_missing(self, benchmark: Benchmark) -> None:
        members = set(benchmark.team.memberships.values_list("user__username", flat=True))
        for username in self.bundle.head["annotators"]:
            if username not in members:
                words = (
                    f"“{username}” annotates in it and is not in the team of {benchmark}. Invite them first."
                )
                self.findings.problem("unknown_person", words, ("annotators",))
        self._refuse_if_wrong()

    def _study(self, benchmark: Benchmark) -> Study:
        head = self.bundle.head
        values = self._values(Study, head["study"], bundles.STUDY_FIELDS)
        first = Study.objects.filter(pk=head["repeats"]).first() if head["repeats"] else None
        if head["repeats"] and first is None:
            words = "It is a further round of a study that is not here. Import that one first."
            self.findings.problem("missing_first_round", words)
        protocol = self._protocol(benchmark)
        self._refuse_if_wrong()
        assert protocol is not None
        study = Study(pk=head["id"], benchmark=benchmark, protocol=protocol, repeats=first, **values)
        study.created_by = self.people.get(head["created_by"])
        _store([study], ["created_at"])
        StudyAnnotator.objects.bulk_create(
            StudyAnnotator(study=study, user=self.people[name]) for name in head["annotators"]
        )
        return study

    def _protocol(self, benchmark: Benchmark) -> Protocol | None:
        """The protocol of the study; one that is not here becomes one of the benchmark's team."""
        given = self._values(Protocol, self.bundle.head["protocol"], bundles.PROTOCOL_FIELDS)
        try:
            Definition.read(given.get("definition") or {})
        except InvalidInput as wrong:
            self.findings.problem("wrong_protocol", wrong.message)
            return None
        if self.findings.problems:
            return None
        here = Protocol.objects.filter(key=given["key"], version=given["version"]).first()
        if here is None:
            return Protocol.objects.create(**given, team=benchmark.team)
        if here.definition != given["definition"] or here.team_id not in (None, benchmark.team_id):
            words = f"There is another protocol {given['key']} v{given['version']} here."
            self.findings.problem("protocol_differs", words)
        return here

    def _items(self) -> None:
        wanted = []
        for row in self._each(bundles.ITEMS):
            item = item_of(self.study, row.values, self.findings)
            if item is not None:
                wanted.append((row.values["position"], item))
        if self.findings.problems:
            return
        stored = create_items(item for _, item in wanted)
        rows = []
        for (position, made), item in zip(wanted, stored, strict=True):
            item.case, item.slide, item.report = made.case, made.slide, made.report  # read already
            rows.append(StudyItem(study=self.study, item=item, position=position))
        self.items = {row.position: row for row in StudyItem.objects.bulk_create(rows, batch_size=200)}

    # --- What was said -------------------------------------------------------------------

    def _assignments(self) -> None:
        assignments, verdicts = [], []
        for row in self._each(bundles.ASSIGNMENTS):
            place = self._place(row)
            values = self._values(Assignment, row.values, bundles.ASSIGNMENT_FIELDS)
            if place is None:
                continue
            who = self.people[place[1]]
            made = Assignment(study_item=self.items[place[0]], annotator=who, **values)
            self.assignments[place] = made
            assignments.append(made)
            if (said := row.values.get("verdict")) is not None:
                verdict = Verdict(assignment=made, **self._said(Verdict, said, place, bundles.VERDICT_FIELDS))
                self.verdicts[place] = verdict
                verdicts.append(verdict)
        if self.findings.problems:
            return
        _store(assignments, ["created_at"])
        _store(verdicts, ["saved_at"])

    def _history(self) -> None:
        revisions = []
        for row in self._each(bundles.HISTORY):
            place = self._place(row)
            if place is None or place not in self.verdicts:
                self._wrong("This change belongs to no verdict.")
                continue
            values = self._said(VerdictRevision, row.values, place, bundles.REVISION_FIELDS)
            revisions.append(VerdictRevision(verdict=self.verdicts[place], **values))
        if self.findings.problems:
            return
        _store(revisions, ["made_at"])
        self.revisions = {
            (
                row.verdict.assignment.study_item.position,
                row.verdict.assignment.annotator.username,
                row.version,
            ): row
            for row in revisions
        }
        for (position, username), verdict in self.verdicts.items():
            counts = verdict.submitted_version
            if counts is not None and (position, username, counts) not in self.revisions:
                self._wrong("A verdict counts that is not in the history.")

    def _decisions(self) -> None:
        results = []
        for row in self._each(bundles.DECISIONS):
            position, detail = row.values["item"], dict(row.values["detail"])
            values = self._values(ItemResult, row.values, ("outcome", "decided_at"))
            if position not in self.items:
                self._wrong("This decision is about no item.")
                continue
            try:
                check_detail(self.definition, detail)
            except InvalidInput as wrong:
                self._wrong(wrong.message)
                continue
            if "by" in detail:
                who = self.people.get(detail["by"])
                detail["by"] = who.pk if who else None
            if isinstance(detail.get("verdicts"), list):
                named = [self.revisions.get((position, *each)) for each in detail["verdicts"]]
                detail["verdicts"] = [each.pk for each in named if each is not None]
            source = source_of(self.study)
            results.append(ItemResult(item=self.items[position].item, source=source, detail=detail, **values))
        if not self.findings.problems:
            _store(results, ["decided_at"])

    def _rest(self) -> None:
        actions = [
            StudyAction(
                study=self.study,
                person=self.people.get(row.values.get("person") or ""),
                **self._values(StudyAction, row.values, bundles.ACTION_FIELDS),
            )
            for row in self._each(bundles.LOG)
        ]
        raters: dict[str, OutsideRater] = {}
        ratings = []
        for row in self._each(bundles.OUTSIDE):
            rating = self._outside(row, raters)
            if rating is not None:
                ratings.append(rating)
        if not self.findings.problems:
            _store(actions, ["at"])
            _store(list(raters.values()), ["created_at"])
            _store(ratings, ["imported_at"])

    def _outside(self, row: Row, raters: dict[str, OutsideRater]) -> OutsideRating | None:
        said = row.values
        named = {"name": said.get("rater"), "kind": said.get("kind"), "created_at": said.get("since")}
        values = self._values(OutsideRater, named, tuple(named))
        rated = self._values(OutsideRating, said, ("question", "value", "imported_at"))
        if said.get("item") not in self.items or not _is_answer(self.definition, said):
            self._wrong("This rating is of no item or no answer of the protocol.")
        if self.findings.problems:
            return None
        rater = raters.setdefault(values["name"], OutsideRater(study=self.study, **values))
        return OutsideRating(rater=rater, study_item=self.items[said["item"]], **rated)

    # --- Values --------------------------------------------------------------------------

    def _each(self, file: str) -> Iterable[Row]:
        """The rows of a file; problems that are noted meanwhile are told with their line."""
        self.findings.file = file
        for row in self.bundle.rows[file]:
            self.findings.line = row.line
            yield row
        self.findings.line = None

    def _wrong(self, words: str) -> None:
        self.findings.problem("wrong_value", words)

    def _place(self, row: Row) -> tuple[int, str] | None:
        item, username = row.values.get("item"), row.values.get("annotator")
        if item in self.items and username in self.bundle.head["annotators"]:
            return int(item), str(username)
        self._wrong("It names an item or an annotator that the study does not have.")
        return None

    def _said(
        self, model: type[models.Model], given: dict[str, Any], place: tuple[int, str], names: tuple[str, ...]
    ) -> dict[str, Any]:
        values = self._values(model, given, names)
        if not self.findings.problems:
            try:
                check_said(self.items[place[0]].item, self.definition, values)
            except MedBenchError as wrong:
                self._wrong(wrong.message)
        return values

    def _values(
        self, model: type[models.Model], given: dict[str, Any], names: tuple[str, ...]
    ) -> dict[str, Any]:
        """The fields of a row, each of its kind; what is not goes into the findings."""
        values = {}
        for name in names:
            field = model._meta.get_field(name)  # noqa: SLF001  # documented by Django
            assert isinstance(field, models.Field)
            try:
                values[name] = _value(field, given.get(name))
            except (ValidationError, TypeError, ValueError, OverflowError):
                self.findings.problem("wrong_value", "This is no value that the field can have.", (name,))
        return values


def _value(field: models.Field[Any, Any], given: Any) -> Any:
    """A value of the field's kind. Raises ValidationError, TypeError."""
    if given is None and not field.null:
        raise TypeError
    if isinstance(given, (dict, list)) != isinstance(field, models.JSONField):
        raise TypeError
    if isinstance(given, str) and "\0" in given:
        raise ValueError
    value = field.to_python(given)
    if value is not None and field.choices and value not in dict(field.flatchoices):
        raise ValueError
    field.run_validators(value)
    return value


def _is_answer(definition: Definition, said: dict[str, Any]) -> bool:
    try:
        definition.check_answers({str(said.get("question")): str(said.get("value"))})
    except InvalidInput:
        return False
    return True


def _store(rows: Sequence[models.Model], times: list[str]) -> None:
    """Write rows with the times that they have, which the database would set to now."""
    if not rows:
        return
    kept = [{name: getattr(row, name) for name in times} for row in rows]
    plain: models.QuerySet[Any] = models.QuerySet(type(rows[0]))  # that of frozen rows changes nothing
    plain.bulk_create(rows, batch_size=200)
    for row, values in zip(rows, kept, strict=True):
        for name, value in values.items():
            setattr(row, name, value)
    plain.bulk_update(rows, times, batch_size=200)
