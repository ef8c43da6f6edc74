"""Submit results: check a file first, then record it. Two plain forms; htmx only saves the reload."""

from __future__ import annotations

import csv
import uuid
from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard import checked_files, queries
from leaderboard.forms import CheckForm, DetailsForm
from leaderboard.models import Submission
from leaderboard.services import submissions
from leaderboard.services.quota import quota_of
from medbench.errors import InvalidInput, NotFound, TooOften
from medbench.formats.csv_text import safe

if TYPE_CHECKING:
    from typing import Any

    from django.core.files.uploadedfile import UploadedFile

    from leaderboard.models import Board
    from medbench.accounts.requests import SignedInRequest
    from medbench.formats.problems import Problem
    from medbench.formats.results import ReadResults

ALL = 10**9
COLUMNS = ("severity", "code", "line", "case_id", "field", "message")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: SignedInRequest) -> HttpResponse:
    """The first form; POST checks the file and answers with the second, or with the problems."""
    if request.method != "POST":
        return _page(request, form=CheckForm(request.user, initial={"board": request.GET.get("board")}))
    form = CheckForm(request.user, request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form=form)
    board, file = form.cleaned_data["board"], form.cleaned_data["file"]
    data = _read(file)
    answer = submissions.check_upload(board, data, request.user, file_name=file.name)
    ticket = checked_files.keep(file.name, data, request.user)
    return _page(request, form=form, **_answered(request, board, file.name, answer, ticket))


@login_required
@require_POST
def record(request: SignedInRequest) -> HttpResponse:
    """The second form: record the checked file. The same key again leads to the same submission."""
    board = queries.board(request.user, _uuid(request.POST.get("board", "")), "submission.create")
    file = checked_files.get(request.POST.get("ticket", ""), request.user)
    form = DetailsForm(queries.own_on(board, request.user), request.POST)
    try:
        if form.is_valid():
            return _recorded(request, board, file, form)
    except (InvalidInput, TooOften) as refusal:  # said beside the form: nothing typed is lost
        form.add_error(None, refusal.message)
    answer = submissions.check_upload(board, file.data, request.user, file_name=file.name)
    answered = _answered(request, board, file.name, answer, request.POST["ticket"]) | {"details": form}
    return _page(request, form=CheckForm(request.user, initial={"board": board.pk}), **answered)


def _recorded(
    request: SignedInRequest, board: Board, file: checked_files.CheckedFile, form: DetailsForm
) -> HttpResponse:
    submission = submissions.submit(
        board,
        file.data,
        file.name,
        request.user,
        details=form.details(),
        idempotency_key=request.POST.get("key", ""),
    )
    messages.success(request, f"Submission {submission.number} received.")
    return redirect("leaderboard:submission", submission.pk)


@login_required
@require_safe
def findings_csv(request: SignedInRequest) -> HttpResponse:
    """Every problem and warning of a checked file, not only those shown."""
    board = queries.board(request.user, _uuid(request.GET.get("board", "")), "submission.create")
    file = checked_files.get(request.GET.get("ticket", ""), request.user)
    answer = submissions.check_upload(board, file.data, request.user, file_name=file.name, keep=ALL)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="problems.csv"'
    writer = csv.writer(response)
    writer.writerow(COLUMNS)
    for severity, found in (("problem", answer.problems), ("warning", answer.warnings)):
        writer.writerows(_line(severity, each) for each in found)
    return response


def _page(request: SignedInRequest, **context: Any) -> HttpResponse:
    context["limits"] = submissions.limits()
    context.setdefault("quota", quota_of(request.user))
    template = (
        "leaderboard/_answer.html"
        if request.htmx and request.htmx.target == "answer"
        else "leaderboard/submit.html"
    )
    return render(request, template, context)


def _answered(
    request: SignedInRequest, board: Board, name: str, answer: ReadResults, ticket: str
) -> dict[str, Any]:
    """What the page shows of an answer: the problems, or the summary and the second form."""
    context: dict[str, Any] = {"answer": answer, "board": board, "file_name": name, "ticket": ticket}
    context["n_warnings"] = answer.warnings.counts.most_common()  # by code
    if answer.results is None:
        return context
    results = answer.results
    n_insights = sum(len(case.outputs) for case in results.cases)
    n_cases = len(results.cases) + answer.warnings.counts["missing_case"]
    initial = {name: getattr(results, name) for name in ("method", "backbone", "description", "url")}
    initial |= {"visibility": Submission.Visibility.PUBLIC, "replaces": request.GET.get("replaces")}
    return context | {
        "details": DetailsForm(queries.own_on(board, request.user), initial=initial),
        "quota": quota_of(request.user, board),
        "key": uuid.uuid4(),
        "n_named": len(results.cases),
        "n_cases": n_cases,
        "n_insights": n_insights,
        "per_case": n_insights / n_cases if n_cases else 0.0,
        "n_missing": answer.warnings.counts["missing_case"],
    }


def _read(file: UploadedFile[bytes]) -> bytes:
    """The bytes of an upload, no more than needed to see that it is too large."""
    data: bytes = file.read(submissions.limits().file_bytes + 1)
    return data


def _line(severity: str, found: Problem) -> list[str | int | None]:
    return [severity, found.code, found.line, safe(found.case_id), safe(found.field), safe(found.message)]


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise NotFound("There is no such board, or it is not open to you.") from None
