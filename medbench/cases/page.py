"""The case page: a case with its report marked and its triplets listed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medbench.cases.highlights import Segment, Span, segments
from medbench.formats.spans import nearest_passage

if TYPE_CHECKING:
    from medbench.cases.models import Report
    from medbench.cases.queries import ShownCase, ShownTriplet

STATUS = {"proposed": "idle", "verified": "ok", "corrected": "ok", "rejected": "bad"}


@dataclass(frozen=True)
class Card:
    """A triplet in the list. `near`: its evidence was not found, a passage like it was."""

    shown: ShownTriplet
    is_current: bool
    near: bool

    @property
    def number(self) -> int:
        return self.shown.number

    @property
    def status(self) -> str:
        return STATUS[self.shown.state]

    @property
    def regions(self) -> str:
        """Where experts saw it, as JSON for the page's script."""
        return json.dumps(self.shown.regions)

    @property
    def state_word(self) -> str:
        return self.shown.state.capitalize()


@dataclass(frozen=True)
class CasePage:
    """What the template draws beside the slide."""

    report: Report | None
    segments: list[Segment]
    cards: list[Card]
    current: int | None  # number of the chosen triplet


def case_page(shown: ShownCase, *, current: int | None, category: str = "", state: str = "") -> CasePage:
    """The page of a case with triplet number `current` chosen, the list narrowed to a category and
    a state."""
    report = shown.row.report
    spans = [span for each in shown.triplets if report and (span := _span(each, report))]
    near = {span.number for span in spans if span.near}
    cards = [
        Card(each, each.number == current, each.number in near)
        for each in shown.triplets
        if category in ("", each.version.category) and state in ("", each.state)
    ]
    return CasePage(report, segments(report.text, spans) if report else [], cards, current)


def _span(each: ShownTriplet, report: Report) -> Span | None:
    """Where the evidence stands in the report that is shown, or a passage like it."""
    version = each.version
    if version.span_start is not None and version.span_end is not None and version.report_id == report.pk:
        return Span(each.number, version.span_start, version.span_end)
    passage = nearest_passage(report.text, version.evidence) if version.evidence else None
    return Span(each.number, passage.start, passage.end, near=True) if passage else None
