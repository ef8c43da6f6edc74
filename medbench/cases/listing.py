"""One page of a case list, as the template shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.paginator import Page, Paginator

from medbench.cases import queries
from medbench.cases.highlights import Segment, excerpt, marked
from medbench.cases.models import Category

if TYPE_CHECKING:
    from medbench.cases.editions import Edition
    from medbench.cases.queries import Filters

MATCHES_SHOWN = 2


@dataclass(frozen=True)
class Match:
    """Where in a case the search was found."""

    source: str  # "in report"
    segments: list[Segment]


@dataclass(frozen=True)
class ListedCase:
    """A row of the list."""

    row: Any  # a counted row of queries.counted
    case_pk: Any
    name: list[Segment]
    goal: list[Segment]
    categories: list[tuple[str, int]]
    matches: list[Match]

    @property
    def verified(self) -> str:
        return f"{self.row.n_verified}/{self.row.n_triplets}"

    @property
    def progress(self) -> str:
        """The kind of status that verification has."""
        if not self.row.n_verified:
            return "idle"
        return "ok" if self.row.n_verified == self.row.n_triplets else "run"


def page_of(
    edition: Edition, filters: Filters, *, held_out: bool, sort: str, size: int, number: str
) -> tuple[list[ListedCase], Page[Any]]:
    """One page of the cases that pass `filters`: a constant number of queries."""
    found = queries.narrowed(queries.rows(edition, held_out=held_out), edition, filters)
    listed = queries.ordered(queries.counted(found, edition), sort)
    listed = queries.with_texts(listed, edition, searched=bool(filters.terms))
    paginator = Paginator(listed, size)
    paginator.count = found.count()  # without the joins of the counts
    page = paginator.get_page(number)
    return [_listed(row, filters.terms) for row in page], page


def _listed(row: Any, terms: list[str]) -> ListedCase:
    goal = row.goal.text if row.goal else ""
    return ListedCase(
        row=row,
        case_pk=queries.case_key(row),
        name=_text(row.name, terms),
        goal=_text(goal, terms),
        categories=[(name, getattr(row, f"n_{name}")) for name in Category.values],
        matches=_matches(row, terms) if terms else [],
    )


def _text(text: str, terms: list[str]) -> list[Segment]:
    return marked(text, terms) if terms else [Segment(text)]


def _matches(row: Any, terms: list[str]) -> list[Match]:
    """The first places outside the columns in which a word of the search stands."""
    texts = [("in report", row.report.text)] if row.report else []
    for each in queries.shown_triplets(row):
        texts.append((f"in question {each.number}", each.version.question))
        texts.append((f"in insight {each.number}", each.version.insight))
    found = (Match(source, excerpt(text, terms)) for source, text in texts)
    return [match for match in found if match.segments][:MATCHES_SHOWN]
