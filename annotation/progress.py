"""How far a study is: reads for its page, its API and its list."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from django.db.models import Count, Q
from django.utils import timezone

from annotation import queries
from annotation.models import Assignment, Verdict
from annotation.protocols import CANNOT_JUDGE, Definition

if TYPE_CHECKING:
    from annotation.models import Study
    from annotation.protocols import Option, Question
    from medbench.accounts.models import User

State = Assignment.State


@dataclass(frozen=True)
class ItemCounts:
    """The items of a study by how far they are."""

    items: int
    done: int  # with all their verdicts
    in_hand: int  # being read by somebody
    short: int  # cannot get all their verdicts from those who are left
    skipped_by_all: int
    flagged: int
    verdicts: int
    verdicts_wanted: int


@dataclass(frozen=True)
class AnnotatorCounts:
    """One annotator's part, under the letter by which all but curators know them."""

    letter: str
    user: User
    done: int
    in_hand: int
    skipped: int
    cannot_judge: int  # of `answers`
    answers: int
    active_s: float | None  # median of active work on an item; None = none was measured


@dataclass(frozen=True)
class QuestionCounts:
    """How often each option of a question was chosen in the verdicts that count."""

    question: Question
    options: list[tuple[Option, int]]
    blank: int


@dataclass(frozen=True)
class Progress:
    counts: ItemCounts
    annotators: list[AnnotatorCounts]
    questions: list[QuestionCounts]


def of_study(study: Study, *, blind: bool = False) -> Progress:
    """Everything that the progress page shows. Four queries, whatever the size. `blind`: nothing of
    what was answered, for whoever annotates in the study themselves (permissions.is_blind)."""
    definition = Definition.read(study.protocol.definition)
    said: dict[int, Counter[tuple[str, str]]] = defaultdict(Counter)
    verdicts: Counter[int] = Counter()
    for person, answers in queries.counted(study).values_list("verdict__assignment__annotator", "answers"):
        said[person].update(answers.items())
        verdicts[person] += 1
    counts = item_counts(study)
    if blind:
        return Progress(counts, _annotators(study, definition, defaultdict(Counter)), [])
    questions = _questions(definition, sum(said.values(), Counter()), verdicts.total())
    return Progress(counts, _annotators(study, definition, said), questions)


def item_counts(study: Study) -> ItemCounts:
    """The items of a study by state, in one query."""
    lapsed = queries.lapsed(timezone.now())
    rows = list(
        study.items.values_list("pk").annotate(
            submitted=Count("assignments", filter=Q(assignments__state=State.SUBMITTED)),
            held=Count("assignments", filter=Q(assignments__state=State.HELD)),
            skipped=Count("assignments", filter=Q(assignments__state=State.SKIPPED)),
            everybody=Count("assignments"),
        )
    )
    wanted = study.annotators_per_item
    in_hand = Assignment.objects.filter(study_item__study=study, state=State.HELD).exclude(lapsed)
    return ItemCounts(
        items=len(rows),
        done=sum(submitted >= wanted for _, submitted, *_ in rows),
        in_hand=in_hand.values("study_item").distinct().count(),
        short=sum(bool(everybody) and everybody - skipped < wanted for *_, skipped, everybody in rows),
        skipped_by_all=sum(0 < everybody == skipped for *_, skipped, everybody in rows),
        flagged=queries.flagged(study).count(),
        verdicts=sum(submitted for _, submitted, *_ in rows),
        verdicts_wanted=len(rows) * wanted,
    )


def letters(study: Study) -> dict[int, str]:
    """User id -> A, B, C …: fixed for a study, and drawn so that it says nothing about a name."""
    people = study.annotators.order_by("pk").values_list("user", flat=True)
    return {person: letter(index) for index, person in enumerate(people)}


def letter(index: int) -> str:
    """0 = A, 25 = Z, 26 = AA."""
    text = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def _annotators(
    study: Study, definition: Definition, said: dict[int, Counter[tuple[str, str]]]
) -> list[AnnotatorCounts]:
    cannot = {
        (question.key, option.value)
        for question in definition.questions
        for option in question.options
        if option.status == CANNOT_JUDGE
    }
    of_person = Q(user__assignments__study_item__study=study)
    rows = (
        study.annotators.select_related("user")
        .order_by("pk")
        .annotate(
            done=Count("pk", filter=of_person & Q(user__assignments__state=State.SUBMITTED)),
            in_hand=Count("pk", filter=of_person & Q(user__assignments__state=State.HELD)),
            skipped=Count("pk", filter=of_person & Q(user__assignments__state=State.SKIPPED)),
        )
    )
    times = _active_times(study)
    return [
        AnnotatorCounts(
            letter=letter(index),
            user=row.user,
            done=row.done,
            in_hand=row.in_hand,
            skipped=row.skipped,
            cannot_judge=sum(said[row.user_id][each] for each in cannot),
            answers=said[row.user_id].total(),
            active_s=median(times[row.user_id]) if row.user_id in times else None,
        )
        for index, row in enumerate(rows)
    ]


def _active_times(study: Study) -> dict[int, list[int]]:
    """Seconds of active work on each submitted item, by annotator; where none was measured it is missing."""
    times: dict[int, list[int]] = defaultdict(list)
    measured = Verdict.objects.filter(assignment__study_item__study=study, submitted_at__isnull=False)
    for person, visits in measured.exclude(active_s={}).values_list("assignment__annotator", "active_s"):
        times[person].append(sum(visits.values()))
    return times


def _questions(
    definition: Definition, said: Counter[tuple[str, str]], n_verdicts: int
) -> list[QuestionCounts]:
    counts = []
    for question in definition.questions:
        options = [(option, said[question.key, option.value]) for option in question.options]
        counts.append(QuestionCounts(question, options, n_verdicts - sum(n for _, n in options)))
    return counts
