"""Two submissions of one board, reference by reference: what one found and the other did not."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from django.core.paginator import Paginator
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import comparison, queries
from leaderboard.comparison import GROUPS, TAUS, USUALLY_DOWN
from leaderboard.permissions import may_see_cases
from leaderboard.views.heads import asked_order, heads
from medbench.cases.models import Category

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from django.http import HttpResponse

    from leaderboard.models import Evaluation, Submission
    from leaderboard.views.requests import PageRequest
    from medbench.cases.models import ReleaseTriplet

ROWS_A_PAGE = 50
SCORES = {"f1": "F1", "recall": "Recall", "precision": "Precision"}
LABELS = {
    "": "All",
    "a": "A found it, B did not",
    "b": "B found it, A did not",
    "both": "Both",
    "neither": "Neither",
    "unscored": "Unscored",
}
COLUMNS = (
    ("case", "Case", False),
    ("site", "Site", False),
    ("difficulty", "Difficulty", True),
    ("a", "A best", False),
    ("b", "B best", False),
    ("difference", "A − B", True),
)


@dataclass(frozen=True)
class Side:
    """The best output of one submission for a reference; `text` None where it has none."""

    score: float
    text: str | None
    key: str  # of the pair, for the link


@dataclass(frozen=True)
class Row:
    reference: ReleaseTriplet
    number: int
    a: Side
    b: Side
    difference: float


@require_safe
def compare(request: PageRequest) -> HttpResponse:
    """`?a=&b=` name the two; filters, tau, order and page are in the address too."""
    a, b = (_submission(request, name) for name in ("a", "b"))
    context: dict[str, Any] = {"a": a, "b": b, "problem": ""}
    first = a or b
    context["choices"] = queries.on_board(request.user, first.board) if first else []
    if a is None or b is None:
        return _page(request, context | {"problem": "missing"})
    if a.board_id != b.board_id or a == b:
        return _page(request, context | {"problem": "board" if a != b else "same"})
    found = queries.current_of([a, b])
    evaluations = [found.get(each.pk) for each in (a, b)]
    scored = [each for each in evaluations if each and each.finished_at and each.f1 is not None]
    if len(scored) < 2:
        return _page(request, context | {"problem": "unscored"})
    for evaluation, submission in zip(scored, (a, b), strict=True):
        evaluation.submission = submission  # with its board: asked for once
    totals = comparison.totals(*scored)
    context |= {"totals": totals, "lines": [_line(name, totals, *scored) for name in SCORES]}
    if may_see_cases(request.user, a.board):
        context |= _table(request, *scored)
    return _page(request, context)


def _line(name: str, totals: comparison.Totals, a: Evaluation, b: Evaluation) -> dict[str, Any]:
    test = getattr(totals, name)
    return {"label": SCORES[name], "a": getattr(a, name), "b": getattr(b, name), "test": test}


def _submission(request: PageRequest, name: str) -> Submission | None:
    """The submission that the address names; None where it names none. NotFound for a hidden one."""
    try:
        pk = uuid.UUID(request.GET.get(name, ""))
    except ValueError:
        return None
    return queries.submission(request.user, pk)


def _page(request: PageRequest, context: dict[str, Any]) -> HttpResponse:
    is_region = request.htmx and request.htmx.target == "compare-table" and "page" in context
    return render(request, f"leaderboard/{'_compare_table' if is_region else 'compare'}.html", context)


def _table(request: PageRequest, a: Evaluation, b: Evaluation) -> dict[str, Any]:
    """The references, narrowed and sorted as the address says, one page of them with texts."""
    category = _asked(request, "category", Category.values)
    usual = f"{comparison.usual_tau(a.submission.board):.2f}"
    tau = _asked(request, "tau", TAUS) or usual
    every = comparison.references(a, b, category=category)
    sites, difficulties = sorted(set(every.site.tolist()) - {""}), sorted(set(every.difficulty.tolist()))
    site = _asked(request, "site", sites)
    difficulty = _asked(request, "difficulty", [str(each) for each in difficulties])
    where = np.ones(len(every.triplet), dtype=bool)
    if site:
        where &= every.site == site
    if difficulty:
        where &= every.difficulty == int(difficulty)
    groups = every.groups(float(tau))
    shown = _asked(request, "found", GROUPS)
    key, down = asked_order(request.GET.get("sort", ""), USUALLY_DOWN, "difference")
    order = every.order(where & groups[shown] if shown else where, key, down=down)
    page = Paginator(order.tolist(), ROWS_A_PAGE).get_page(request.GET.get("page"))
    return {
        "page": page,
        "rows": _rows(every, page.object_list, a.submission, b.submission),
        "heads": {head.key: head for head in heads(COLUMNS, USUALLY_DOWN, key, down=down)},
        "groups": [
            ("", LABELS[""], int(where.sum())),
            *((name, LABELS[name], int((where & groups[name]).sum())) for name in GROUPS),
        ],
        "found": shown,
        "filters": {"site": site, "difficulty": difficulty, "category": category, "tau": tau},
        "usual_tau": usual,
        "taus": sorted({*TAUS, usual}),
        "sites": sites,
        "difficulties": [str(each) for each in difficulties],
        "categories": Category.choices,
        "sort": request.GET.get("sort", ""),
    }


def _rows(every: comparison.References, at: Iterable[int], a: Submission, b: Submission) -> list[Row]:
    at = list(at)
    references = queries.references_by_pk(every.triplet[at].tolist())
    texts = [
        queries.outputs_at(of, zip(every.case[at].tolist(), every.output[side, at].tolist(), strict=True))
        for side, of in enumerate((a, b))
    ]

    def one(side: int, i: int) -> Side:
        output = int(every.output[side, i])
        text = texts[side].get((int(every.case[i]), output))
        return Side(float(every.best[side, i]), text, f"{every.number[i]}-{output + 1}" if text else "")

    return [
        Row(
            references[int(every.triplet[i])],
            int(every.number[i]),
            one(0, i),
            one(1, i),
            float(every.difference[i]),
        )
        for i in at
    ]


def _asked(request: PageRequest, name: str, choices: Iterable[str]) -> str:
    asked = request.GET.get(name, "")
    return asked if asked in choices else ""
