"""Reads of annotation: what is open to whom, how far a study is, what was answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, F, IntegerField, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.corrections import corrections_of
from annotation.models import (
    Assignment,
    Protocol,
    ProtocolAction,
    Study,
    StudyAction,
    StudyAnnotator,
    StudyItem,
    Verdict,
    VerdictRevision,
)
from medbench.accounts.permissions import visible_teams
from medbench.cases.models import Benchmark
from medbench.review.models import ItemResult

if TYPE_CHECKING:
    import datetime as dt

    from django.contrib.auth.models import AnonymousUser
    from django.db.models.expressions import Combinable

    from annotation.corrections import Correction
    from annotation.protocols import Definition, Question
    from medbench.accounts.models import User

State = Assignment.State


def count_of(rows: QuerySet[Any], name: str) -> Combinable:
    """The number of `rows` whose `name` is the outer row's key, as a column of the outer query."""
    grouped = rows.order_by().values(name).annotate(number_of_rows=Count("pk")).values("number_of_rows")
    return Coalesce(Subquery(grouped, output_field=IntegerField()), 0)


# --- Seats -------------------------------------------------------------------------


def lapsed(moment: dt.datetime) -> Q:
    """Holds that have run out at `moment`: whoever needs the seat may take it."""
    return Q(state=State.HELD, held_until__lt=moment)


def in_use(moment: dt.datetime) -> QuerySet[Assignment]:
    """Assignments whose seat nobody else can have."""
    return Assignment.objects.filter(seat__isnull=False).exclude(lapsed(moment))


def with_seats_in_use(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """The assignments with `seats_in_use`, those of their item that nobody else can have."""
    same_item = in_use(timezone.now()).filter(study_item=OuterRef("study_item"))
    return assignments.alias(seats_in_use=count_of(same_item, "study_item"))


_SEAT_FREE = Q(seats_in_use__lt=F("study_item__study__annotators_per_item"))


def washed_out(moment: dt.datetime) -> Q:
    """Assignments that are not too early: all of a first round, in others those after the wash-out."""
    return Q(not_before=None) | Q(not_before__lte=moment)


def open_to(study: Study, user: User) -> QuerySet[Assignment]:
    """What `user` could be given next, in their own order: a new item, or one that was taken from
    them when their hold ran out and that needs somebody again."""
    return with_seats_in_use(_untaken(study, user)).filter(_SEAT_FREE)


def first_open(study: Study, user: User) -> Assignment | None:
    """The first of `open_to`, with its item. Mostly it is one of the next few: then nobody waits until
    the seats of a whole study are counted."""
    found = with_items(open_to(study, user))
    few = list(_untaken(study, user).values_list("pk", flat=True)[:50])
    return found.filter(pk__in=few).first() or found.first()


def _untaken(study: Study, user: User) -> QuerySet[Assignment]:
    mine = Assignment.objects.filter(annotator=user, study_item__study=study)
    open_states = mine.filter(state__in=(State.WAITING, State.RELEASED))
    return open_states.filter(washed_out(timezone.now())).order_by("position")


def has_free_seat(assignment: Assignment) -> bool:
    """Whether the item of an assignment without a seat still needs somebody."""
    this = with_seats_in_use(Assignment.objects.filter(pk=assignment.pk))
    return this.filter(_SEAT_FREE).exists()


def in_hand(study: Study, user: User) -> QuerySet[Assignment]:
    """What `user` has open, oldest first."""
    held = Assignment.objects.filter(annotator=user, study_item__study=study, state=State.HELD)
    return held.order_by("number", "position")


def with_items(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """The assignments with everything that the page of one shows."""
    return assignments.select_related(
        "annotator",
        "study_item__study__protocol",
        "study_item__study__benchmark__team",
        "study_item__item__case",
        "study_item__item__slide",
        "study_item__item__report",
    )


# --- One's own work ------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """One annotator's part of one study."""

    study: Study
    share: int  # what falls to each annotator when all do the same, rounded up
    done: int = 0
    skipped: int = 0
    held: int = 0
    open: int = 0  # items that still need somebody and could be theirs

    @property
    def taken(self) -> int:
        """What they have been given and still have, done or not."""
        return self.done + self.skipped + self.held

    @property
    def waiting(self) -> int:
        """Items in hand and those still to come within one's share."""
        return self.held + min(self.open, max(self.share - self.taken, 0))

    @property
    def can_resume(self) -> bool:
        """Whether one who has begun can be given an item now."""
        return self.study.state == Study.State.RUNNING and bool(self.taken and self.held + self.open)

    @property
    def total(self) -> int:
        """“12 of 40”: all that is theirs, done or not. Never less than what they have had."""
        return self.done + self.skipped + self.waiting


def studies_of(user: User) -> QuerySet[Study]:
    """The studies of `user` that have started and are not closed, those due first on top."""
    started = Study.objects.filter(annotators__user=user, state__in=(Study.State.RUNNING, Study.State.PAUSED))
    return started.select_related("protocol").order_by(F("due_at").asc(nulls_last=True), "started_at")


def work_of(user: User, studies: QuerySet[Study]) -> list[Work]:
    """The part that `user` has in each of `studies`. Two queries in all."""
    listed: list[Any] = list(with_sizes(studies))
    mine = with_seats_in_use(Assignment.objects.filter(annotator=user, study_item__study__in=listed))
    ready = washed_out(timezone.now())
    counts = (
        mine.order_by()
        .values_list("study_item__study")
        .annotate(
            done=Count("pk", filter=Q(state=State.SUBMITTED)),
            skipped=Count("pk", filter=Q(state=State.SKIPPED)),
            held=Count("pk", filter=Q(state=State.HELD)),
            open=Count("pk", filter=Q(state__in=(State.WAITING, State.RELEASED)) & _SEAT_FREE & ready),
        )
    )
    by_study = {study: numbers for study, *numbers in counts}
    return [Work(study, _share(study), *by_study.get(study.pk, ())) for study in listed]


def _share(study: Any) -> int:
    each: int = -(-study.n_items * study.annotators_per_item // max(study.n_annotators, 1))
    return each


def given(study: Study, user: User) -> QuerySet[Assignment]:
    """The items that `user` has been given, in the order in which they got them."""
    had = Assignment.objects.filter(annotator=user, study_item__study=study, number__isnull=False)
    return had.order_by("number", "position")


def open_with(user: User) -> QuerySet[Assignment]:
    """What `user` has not finished in running and paused studies: skipped items, and submitted ones
    that were changed and not submitted again."""
    changed = Q(state=State.SUBMITTED, verdict__version__gt=F("verdict__submitted_version"))
    return (
        Assignment.objects.filter(changed | Q(state=State.SKIPPED), annotator=user)
        .filter(study_item__study__state__in=(Study.State.RUNNING, Study.State.PAUSED))
        .select_related("study_item__study", "study_item__item__case", "verdict")
        .order_by("study_item__study", "number")
    )


def next_lapse(study: Study) -> dt.datetime | None:
    """When the first hold of the study runs out: then its item can be had again."""
    held = Assignment.objects.filter(study_item__study=study, state=State.HELD)
    first: dt.datetime | None = held.aggregate(first=Min("held_until"))["first"]
    return first


def wash_out_ends(study: Study, user: User) -> dt.datetime | None:
    """When the first item that is still too early for `user` can be read again."""
    waiting = Assignment.objects.filter(
        study_item__study=study, annotator=user, state=State.WAITING, not_before__gt=timezone.now()
    )
    first: dt.datetime | None = waiting.aggregate(first=Min("not_before"))["first"]
    return first


@dataclass(frozen=True)
class Change:
    """One step in the history of a verdict: what it was before is not told again."""

    revision: VerdictRevision
    facts: list[tuple[str, str]]  # what changed, in a word or two: question or mark -> what it is now
    comment: str | None  # None = unchanged
    corrections: list[Correction]  # those that changed; one that proposes nothing was taken back


def history(assignment: Assignment, definition: Definition) -> list[Change]:
    """What its annotator did with an item, newest first."""
    changes, before = [], VerdictRevision(answers={})
    for revision in VerdictRevision.objects.filter(verdict__assignment=assignment):
        comment = revision.comment if revision.comment != before.comment else None
        corrections = [
            each
            for each in corrections_of(assignment.study_item.item, revision.corrections)
            if revision.corrections.get(each.name) != before.corrections.get(each.name)
        ]
        changes.append(Change(revision, _facts(before, revision, definition), comment, corrections))
        before = revision
    return changes[::-1]


def _facts(before: VerdictRevision, now: VerdictRevision, definition: Definition) -> list[tuple[str, str]]:
    facts = [
        (question.title, _said(now, question))
        for question in definition.questions
        if _said(now, question) != _said(before, question)
    ]
    if now.regions != before.regions:
        facts.append(("Regions", f"{len(now.regions)} on the slide"))
    if now.spans != before.spans:
        facts.append(("Passages", f"{len(now.spans)} in the report"))
    if now.flagged != before.flagged:
        facts.append(("Flag", "set" if now.flagged else "taken back"))
    return facts


def _said(revision: VerdictRevision, question: Question) -> str:
    """An answer with what was added in words: “No: a wrong side”."""
    label, note = question.label_of(revision.answers.get(question.key)), revision.notes.get(question.key)
    return f"{label}: {note}" if note else label


# --- Studies ---------------------------------------------------------------------------


def with_sizes(studies: QuerySet[Study]) -> QuerySet[Study]:
    """Studies with `n_items` and `n_annotators`."""
    return studies.annotate(
        n_items=count_of(StudyItem.objects.filter(study=OuterRef("pk")), "study"),
        n_annotators=count_of(StudyAnnotator.objects.filter(study=OuterRef("pk")), "study"),
    )


def with_progress(studies: QuerySet[Study]) -> QuerySet[Study]:
    """Studies with `n_done`, the items that have all their verdicts."""
    submitted = Assignment.objects.filter(state=State.SUBMITTED, study_item=OuterRef("pk"))
    complete = StudyItem.objects.alias(submitted=count_of(submitted, "study_item")).filter(
        submitted__gte=F("study__annotators_per_item")
    )
    return studies.annotate(n_done=count_of(complete.filter(study=OuterRef("pk")), "study"))


def listed(person: User | AnonymousUser) -> QuerySet[Study]:
    """The studies that `person` may read, with their sizes and how many items are done."""
    readable = Study.objects.filter(benchmark__in=Benchmark.objects.where(person, "study.read"))
    return with_progress(with_sizes(readable.select_related("benchmark", "protocol")))


def decided(study: Study) -> QuerySet[ItemResult]:
    """What the study concluded about items."""
    return ItemResult.objects.filter(source=source_of(study))


def source_of(study: Study) -> str:
    """The name under which the study's conclusions are recorded."""
    return f"study:{study.pk}"


# --- Protocols -------------------------------------------------------------------------


def protocols_of(person: User | AnonymousUser) -> QuerySet[Protocol]:
    """The built-in protocols and those of teams whose studies `person` may read, the newest version of
    each, with the number of their studies (of all versions) that they may read."""
    newest = Protocol.objects.filter(key=OuterRef("key")).order_by("-version").values("version")[:1]
    readable = Study.objects.filter(benchmark__in=Benchmark.objects.where(person, "study.read"))
    mine = Q(team=None) | Q(team__in=visible_teams(person, "study.read"))
    found = Protocol.objects.filter(mine, version=Subquery(newest)).select_related("team__benchmark")
    same = readable.filter(protocol__key=OuterRef("key"))
    return found.annotate(n_studies=count_of(same, "protocol__key")).order_by(
        F("team").asc(nulls_first=True), "kind", "title"
    )


def versions_of(protocol: Protocol) -> QuerySet[Protocol]:
    """All versions of a protocol, the newest first."""
    return Protocol.objects.filter(key=protocol.key)


def actions_of(protocol: Protocol) -> QuerySet[ProtocolAction]:
    """What was done to a protocol in all its versions, newest first."""
    return ProtocolAction.objects.filter(protocol__key=protocol.key).select_related("protocol", "person")


# --- The log ---------------------------------------------------------------------------


def log_of(study: Study, *, blind: bool) -> QuerySet[StudyAction]:
    """What was done in a study, newest first; `blind` leaves out what tells of single items."""
    of_items = (StudyAction.What.ANSWERED, StudyAction.What.SKIPPED, StudyAction.What.DECIDED)
    return study.actions.exclude(what__in=of_items) if blind else study.actions.all()


# --- Rounds ----------------------------------------------------------------------------


def first_round(study: Study) -> Study:
    """The study that the others of its rounds read again; itself where there is no other."""
    return study.repeats or study


def rounds_of(study: Study) -> QuerySet[Study]:
    """All rounds that a study belongs to, the first one too, in their order."""
    first = study.repeats_id or study.pk
    return Study.objects.filter(Q(pk=first) | Q(repeats=first)).order_by("created_at")


def last_read(study: Study) -> dict[tuple[Any, int], dt.datetime]:
    """(review item id, annotator id) -> when they last submitted it in the rounds of a study."""
    submitted = Assignment.objects.filter(study_item__study__in=rounds_of(study), state=State.SUBMITTED)
    rows = submitted.order_by().values_list("study_item__item", "annotator")
    return {(item, person): at for item, person, at in rows.annotate(Max("verdict__submitted_at"))}


def is_read_again(assignment: Assignment) -> bool:
    """Whether its annotator still has to read the item in another round: what they said is hidden."""
    other_rounds = rounds_of(assignment.study_item.study).exclude(state=Study.State.CLOSED)
    same = Assignment.objects.filter(
        study_item__study__in=other_rounds.order_by(),
        study_item__item=assignment.study_item.item_id,
        annotator=assignment.annotator_id,
    )
    return same.exclude(pk=assignment.pk).exclude(state=State.SUBMITTED).exists()


# --- What was said -------------------------------------------------------------------


def counted(study: Study, as_of: dt.datetime | None = None) -> QuerySet[VerdictRevision]:
    """The verdicts of a study that count, or counted at a moment: of each, the revision that was
    submitted last."""
    all_of_it = VerdictRevision.objects.filter(verdict__assignment__study_item__study=study)
    if as_of is None:
        return all_of_it.filter(version=F("verdict__submitted_version"))
    then = VerdictRevision.objects.filter(verdict=OuterRef("verdict"), submitted=True, made_at__lte=as_of)
    return all_of_it.filter(version=Subquery(then.order_by("-version").values("version")[:1]))


def counted_of(study_item: StudyItem) -> QuerySet[VerdictRevision]:
    """The verdicts of one item that count."""
    return VerdictRevision.objects.filter(
        verdict__assignment__study_item=study_item, version=F("verdict__submitted_version")
    )


def flagged(study: Study) -> QuerySet[Verdict]:
    """What annotators flagged for the curator, drafts too, in the order of the items."""
    return (
        Verdict.objects.filter(assignment__study_item__study=study, flagged=True)
        .select_related("assignment__study_item__item__case", "assignment__annotator")
        .order_by("assignment__study_item__position", "pk")
    )


def state_of_verdicts(study: Study) -> str:
    """A name of everything submitted so far: equal exactly while nothing more is submitted.

    Revisions are only ever appended, so their number tells two moments apart.
    """
    submitted = VerdictRevision.objects.filter(
        verdict__assignment__study_item__study=study, submitted=True
    ).aggregate(number=Count("pk"), last=Max("pk"))
    return f"{submitted['number']}-{submitted['last'] or 0}"
