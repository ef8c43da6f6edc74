"""The result file explained, and an example for one board."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import queries
from leaderboard.services import submissions
from medbench.formats.results import SCHEMA

if TYPE_CHECKING:
    import uuid

    from django.http import HttpRequest

MINIMAL = {
    "schema": SCHEMA,
    "method": "Name of the method",
    "backbone": "model under it",
    "cases": [
        {
            "case_id": "CASE-1",
            "insights": [
                "All 30 lymph nodes are free of tumour.",
                {
                    "insight": "The tumour invades the muscularis propria.",
                    "question": "How deep does it invade?",
                },
            ],
        },
        {"case_id": "CASE-2", "insights": []},
    ],
}


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The format with a minimal example, and an example file for each board one may submit to."""
    context = {
        "minimal": json.dumps(MINIMAL, indent=2),
        "limits": submissions.limits(),
        "schema": SCHEMA,
        "boards": queries.boards(request.user, "submission.create").filter(closed_at=None),
    }
    return render(request, "leaderboard/help_results.html", context)


@require_safe
def example(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """A result file that names every case of the board and has no insight yet."""
    board = queries.board(request.user, pk, "submission.create")
    cases = board.release.cases.filter(split=board.split).order_by("position")
    skeleton = {
        "schema": SCHEMA,
        "method": MINIMAL["method"],
        "backbone": "",
        "cases": [
            {"case_id": case_id, "insights": []} for case_id in cases.values_list("case__case_id", flat=True)
        ],
    }
    response = HttpResponse(json.dumps(skeleton, indent=1), content_type="application/json")
    response["Content-Disposition"] = 'attachment; filename="results.json"'
    return response
