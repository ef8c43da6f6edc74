"""What the workbench shows of one assignment. Blind: nothing of others, no file or case name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation import queries
from annotation.corrections import corrections_of
from annotation.models import Assignment, Study, Verdict
from annotation.protocols import Definition
from annotation.services import regions, spans
from annotation.services.verdicts import Draft
from medbench.cases.highlights import Segment, Span, segments
from medbench.cases.models import Category, Triplet
from medbench.formats.spans import nearest_passage
from medbench.review.models import ReviewItem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from annotation.protocols import Option, Question
    from medbench.formats.problems import Problem

State = Assignment.State
EVIDENCE = 1  # the number of the triplet's own passage among the marks of the report


@dataclass(frozen=True)
class Asked:
    """A question as the form shows it: each option with whether it is chosen."""

    number: int
    question: Question
    options: list[tuple[Option, bool]]
    error: str
    note: str

    @property
    def asks(self) -> bool:
        """Whether some answer to it asks for words."""
        return any(option.asks for option, _ in self.options)

    @property
    def layout(self) -> str:
        """How the options are laid out: a row of small ones, one below the other, or "" = side by side."""
        if len(self.options) > 4:
            return "score"
        return "rows" if any(len(option.label) > 12 for option, _ in self.options) else ""


@dataclass(frozen=True)
class ShownReport:
    """The report with the evidence marked; drawn by the filter `passages`."""

    segments: list[Segment]
    current: int | None
    is_near: bool  # the evidence was not found word for word, a passage like it was

    @property
    def is_marked(self) -> bool:
        """Whether the item brings a passage of its own."""
        return any(each.numbers or each.near for each in self.segments)


def context_of(
    assignment: Assignment,
    *,
    draft: Draft | None = None,
    problem: str = "",
    gaps: list[Problem] | None = None,
) -> dict[str, Any]:
    """Everything the page needs. `draft` stands in the form instead of what is stored, `problem`
    above it, and each of `gaps` at its question."""
    study = assignment.study_item.study
    verdict = Verdict.objects.filter(assignment=assignment).first() or Verdict(assignment=assignment)
    verdict.assignment = assignment
    shown = draft or Draft(verdict.answers, verdict.comment, verdict.version, flagged=verdict.flagged)
    marked = verdict.regions if shown.regions is None else shown.regions
    definition = Definition.read(study.protocol.definition)
    item = assignment.study_item.item
    return {
        "assignment": assignment,
        "study": study,
        "definition": definition,
        "asked": _asked(definition, shown, verdict.notes if shown.notes is None else shown.notes, gaps or []),
        "draft": shown,
        "verdict": verdict,
        "changing": verdict.submitted_at is not None,
        "stored": json.dumps(stored_of(verdict)),
        "regions": json.dumps(regions.in_order(marked)),
        "spans": json.dumps(spans.shown(item, verdict.spans) if shown.spans is None else shown.spans),
        "corrections": corrections_of(
            item, verdict.corrections if shown.corrections is None else shown.corrections
        ),
        "problem": problem,
        "read_only": read_only_because(assignment),
        "report": report_of(item),
        "slide": item.slide,
        "has_slide": item.slide is not None and item.slide.is_ready,
        "stored_panes": json.dumps(assignment.annotator.panes.get("workbench", {})),
        **_place(assignment),
        **claim_of(item),
    }


def stored_of(verdict: Verdict) -> dict[str, Any]:
    """A verdict as the browser keeps it for comparison."""
    return {
        "answers": verdict.answers,
        "notes": verdict.notes,
        "comment": verdict.comment,
        "flagged": verdict.flagged,
        "regions": regions.in_order(verdict.regions),
        "spans": spans.shown(verdict.assignment.study_item.item, verdict.spans),
        "corrections": verdict.corrections,
        "version": verdict.version,
        "saved_at": verdict.saved_at.isoformat() if verdict.saved_at else None,
    }


def read_only_because(assignment: Assignment) -> str:
    """Why nothing can be answered here now, or ""."""
    study = assignment.study_item.study
    if study.state == Study.State.PAUSED:
        return f"Paused since {study.paused_at:%Y-%m-%d %H:%M} UTC. Your answers are kept."
    if study.state == Study.State.CLOSED:
        return f"Closed on {study.closed_at:%Y-%m-%d %H:%M} UTC. It takes no more answers."
    if assignment.state in (State.RELEASED, State.SKIPPED) and not queries.has_free_seat(assignment):
        went = f" at {assignment.held_until:%H:%M} UTC" if assignment.held_until else ""
        return (
            f"This item went to another annotator{went}. "
            "Your answers are kept in your history and not counted."
        )
    return ""


def _asked(
    definition: Definition, draft: Draft, notes: Mapping[str, str], gaps: list[Problem]
) -> list[Asked]:
    errors = {gap.field: gap.message for gap in gaps}
    return [
        Asked(
            number,
            question,
            [(option, draft.answers.get(question.key) == option.value) for option in question.options],
            errors.get(question.key, ""),
            notes.get(question.key, ""),
        )
        for number, question in enumerate(definition.questions, 1)
    ]


def _place(assignment: Assignment) -> dict[str, Any]:
    """Where the item stands in one's own work, and the items before and after it."""
    study, person = assignment.study_item.study, assignment.annotator
    (work,) = queries.work_of(person, Study.objects.filter(pk=study.pk))
    given = queries.given(study, person)
    number = assignment.number or 0
    return {
        "work": work,
        "number": number,
        "total": max(work.total, number),
        "previous": given.filter(number__lt=number).order_by("-number").first(),
        "following": given.filter(number__gt=number).first(),
    }


def claim_of(item: ReviewItem) -> dict[str, Any]:
    """What is judged, under names that tell nothing: “Case 7, triplet 4 of 12”. Fields of the payload
    that the item hides are left out."""
    claim = {name: value for name, value in item.payload.items() if name not in item.hides}
    shown = {
        "claim": claim,
        "claim_template": f"annotation/claims/{item.kind}.html",
        "case_number": item.case.position + 1 if item.case else None,
    }
    if item.kind == ReviewItem.Kind.TRIPLET:
        n_triplets = Triplet.objects.filter(case=item.case, retired_at=None).count()
        shown["category"] = Category(claim["category"]).label
        shown["n_triplets"] = max(n_triplets, claim["number"])
    return shown


def report_of(item: ReviewItem, others: Iterable[Span] = ()) -> ShownReport | None:
    """The report of an item with its evidence and the `others` marked; None where it has none."""
    if item.report is None:
        return None
    evidence = _evidence_of(item, item.report.text)
    spans = [evidence, *others] if evidence else [*others]
    return ShownReport(segments(item.report.text, spans), None, is_near=bool(evidence and evidence.near))


def _evidence_of(item: ReviewItem, text: str) -> Span | None:
    """Where the item's own evidence stands in its report, or a passage like it."""
    if span := item.payload.get("span"):
        return Span(EVIDENCE, *span)
    evidence = item.payload.get("evidence")
    near = nearest_passage(text, evidence) if evidence else None
    return Span(EVIDENCE, near.start, near.end, near=True) if near else None
