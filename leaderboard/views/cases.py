"""The outputs of one case beside its references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import audits, comparison, judged, pairs, queries
from leaderboard.comparison import TAUS
from leaderboard.permissions import may_see_cases
from leaderboard.services.board_scores import word_profile
from medbench.cases.highlights import Segment, Span, segments
from medbench.errors import NotFound

if TYPE_CHECKING:
    import uuid

    from django.http import HttpResponse

    from leaderboard.models import CaseScore, Submission
    from leaderboard.views.requests import PageRequest
    from medbench.cases.models import ReleaseCase, TripletVersion

OUTPUT_ORDERS = (("number", "as uploaded"), ("score", "best first"), ("reference", "by reference"))


@require_safe
def case(request: PageRequest, pk: uuid.UUID, case_pk: uuid.UUID) -> HttpResponse:
    """The pair map of one case, one pair of it (`?pair=4-7`, else the closest one) and the texts.

    `?metric=` and `?tau=` show it by one judge or by shared words, and mark what that tau would match.
    `?view=table` shows the map as a plain table, `?columns=2` its second page of outputs,
    `?order=` the order of the output list.
    """
    submission = queries.submission(request.user, pk)
    if not may_see_cases(request.user, submission.board):
        raise NotFound("There is nothing here, or it is not open to you.")
    score = queries.case_score(submission, case_pk)
    row = score.release_case
    references = [each.version for each in row.triplets.all()]
    outputs = list(submission.outputs.filter(release_case=row).order_by("position"))
    profile = word_profile(submission.board)
    metrics = judged.metrics(score)
    metric = _chosen(request.GET.get("metric"), [key for key, _ in metrics])
    usual_tau = f"{comparison.usual_tau(submission.board):.2f}"
    tau = _chosen(request.GET.get("tau"), [usual_tau, *TAUS])
    matrix = judged.matrix_of(score, metric, references, outputs, profile)
    grid = pairs.grid_of(score, references, outputs, profile, matrix=matrix, tau=float(tau))
    pinned = grid.cell(request.GET.get("pair", ""))
    cell = pinned or grid.closest()
    order = _chosen(request.GET.get("order"), [key for key, _ in OUTPUT_ORDERS])
    part_number = _part_number(request, grid)
    view = _chosen(request.GET.get("view"), ["map", "table"])
    context = {
        "submission": submission,
        "score": score,
        "row": row,
        "goal": row.goal,
        "grid": grid,
        "shown": grid.part(part_number),
        "parts": grid.parts(),
        "part_number": part_number,
        "steps": range(pairs.STEPS),
        "view": view,
        "cell": cell,
        "pinned": pinned is not None,
        "pair": pairs.pair_of(grid, cell, profile) if cell else None,
        "opinions": judged.opinions(score, cell.reference, cell.output) if cell else [],
        "metrics": metrics,
        "metric": metric,
        "metric_name": dict(metrics)[metric],
        "tau": tau,
        "usual_tau": usual_tau,
        "taus": sorted({*TAUS, usual_tau}),
        "outputs": _with_novelty(grid.outputs(order), score, submission),
        "is_voted": score.voted is not None,
        "output_order": order,
        "output_orders": OUTPUT_ORDERS,
        "report": _report(row, references, cell),
        **queries.neighbours(row),
    }
    return render(request, _template(request), context)


def _template(request: PageRequest) -> str:
    target = request.htmx.target if request.htmx else ""
    regions = {"pair": "leaderboard/_pair.html", "outputs": "leaderboard/_outputs.html"}
    return regions.get(target or "", "leaderboard/case.html")


def _with_novelty(
    columns: list[pairs.Column], score: CaseScore, submission: Submission
) -> list[tuple[pairs.Column, judged.Decision | None, str]]:
    """Each output with what the voters and the experts' audit made of it."""
    found = judged.decisions(score)
    categories = audits.categories_of(submission) if found else {}
    return [
        (column, found.get(column.output.position), categories.get(column.output.pk, ""))
        for column in columns
    ]


def _chosen(asked: str | None, choices: list[str]) -> str:
    return asked if asked in choices else choices[0]


def _part_number(request: PageRequest, grid: pairs.Grid) -> int:
    asked = request.GET.get("columns", "")
    last = max(len(grid.parts()), 1)
    return min(max(int(asked), 1), last) if asked.isdecimal() and len(asked) < 6 else 1


@dataclass(frozen=True)
class Passage:
    """A piece of the report; current where it is evidence of the reference being looked at."""

    segment: Segment
    is_current: bool

    @property
    def text(self) -> str:
        return self.segment.text

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.segment.numbers


def _report(row: ReleaseCase, references: list[TripletVersion], cell: pairs.Cell | None) -> list[Passage]:
    """The report cut at the borders of the references' evidence."""
    if row.report is None:
        return []
    spans = [
        Span(number, version.span_start, version.span_end)
        for number, version in enumerate(references, 1)
        if version.span_start is not None
        and version.span_end is not None
        and version.report_id == row.report_id
    ]
    current = cell.reference if cell else None
    return [Passage(each, current in each.numbers) for each in segments(row.report.text, spans)]
