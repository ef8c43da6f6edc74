"""Protocols: reading one, copying one into a benchmark's team, and writing the copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import drafting, queries
from annotation.draft_page import asked_in, form_of, where
from annotation.permissions import protocol_for
from annotation.protocols import Definition
from annotation.services import protocols
from medbench.accounts.permissions import may
from medbench.cases.models import Benchmark
from medbench.cases.permissions import benchmark_for
from medbench.errors import Conflict, InvalidInput, NotAllowed, NotFound

if TYPE_CHECKING:
    from django.http import HttpResponse

    from annotation.models import Protocol
    from medbench.accounts.requests import SignedInRequest
    from medbench.formats.problems import Problem


@login_required
@require_safe
def protocol_list(request: SignedInRequest) -> HttpResponse:
    """The protocols that one can set up studies with, or has seen studies of."""
    if not Benchmark.objects.where(request.user, "study.read").exists():
        raise NotFound
    found = queries.protocols_of(request.user)
    return render(request, "annotation/protocols.html", {"protocols": found})


@login_required
@require_safe
def protocol(request: SignedInRequest, protocol_id: int) -> HttpResponse:
    """What a protocol asks and tells, the form as annotators see it, and its log."""
    found = protocol_for(request.user, protocol_id)
    definition = Definition.read(found.definition)
    context = {
        "protocol": found,
        "definition": definition,
        "asked": asked_in(definition),
        "versions": queries.versions_of(found),
        "actions": queries.actions_of(found),
        "may_edit": found.team is not None
        and may(request.user, "study.manage", found.team)
        and not protocols.has_newer(found),
        "copy_to": Benchmark.objects.where(request.user, "study.manage"),
    }
    return render(request, "annotation/protocol.html", context)


@login_required
@require_POST
def copy(request: SignedInRequest, protocol_id: int) -> HttpResponse:
    """Copy into the team of a benchmark, and go on to write."""
    found = protocol_for(request.user, protocol_id)
    if not Benchmark.objects.where(request.user, "study.manage").exists():
        raise NotAllowed("Your role does not allow this. Ask a curator of your benchmark.")
    benchmark = benchmark_for(request.user, request.POST.get("benchmark", ""), "study.manage")
    title = request.POST.get("title", "")
    copied = protocols.copy_protocol(found, benchmark.team, title=title, by=request.user)
    messages.success(request, f"Copied as “{copied.title}”. Change it here; nothing else changes with it.")
    return redirect("annotation:edit_protocol", copied.pk)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: SignedInRequest, protocol_id: int) -> HttpResponse:
    """Write a team's protocol. POST saves, shows or rearranges what the form holds; for htmx only the
    preview of it."""
    found = protocol_for(request.user, protocol_id, "study.manage")
    if found.team is None:
        raise Conflict("A built-in protocol stays as it is. Copy it, then change the copy.")
    if request.method != "POST":
        tree = drafting.tree_of(found.title, Definition.read(found.definition))
        return _form(request, found, tree, seen=protocols.digest(found))
    tree, seen, do = drafting.read(request.POST), request.POST.get("seen", ""), request.POST.get("do", "")
    if request.htmx:
        return render(request, "annotation/_protocol_preview.html", _preview(tree))
    if do in ("save", "preview"):
        problems = drafting.problems_of(tree)
        if do == "save" and not problems:
            return _save(request, found, tree, seen)
        return _form(request, found, tree, seen=seen, problems=problems)
    focus = drafting.rearrange(tree, do)
    return _form(request, found, tree, seen=seen, focus=focus or "parts")


def _save(request: SignedInRequest, protocol: Protocol, tree: drafting.Tree, seen: str) -> HttpResponse:
    try:
        saved = protocols.change_protocol(protocol, tree, seen=seen, by=request.user)
    except (Conflict, InvalidInput) as refusal:
        return _form(request, protocol, tree, seen=seen, refusal=refusal.message, status=refusal.status)
    if saved.pk == protocol.pk:
        messages.success(request, "Saved.")
    else:
        messages.success(request, f"Saved as version {saved.version}. Studies that have started keep theirs.")
    return redirect("annotation:protocol", saved.pk)


def _form(
    request: SignedInRequest,
    protocol: Protocol,
    tree: drafting.Tree,
    *,
    seen: str,
    problems: list[Problem] | None = None,
    focus: str = "",
    refusal: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "protocol": protocol,
        "form": form_of(tree, problems or []),
        "problems": None if problems is None else [(each, where(each.field)) for each in problems],
        "refusal": refusal,
        "seen": seen,
        "focus": focus,
        "is_fixed": protocols.is_fixed(protocol),
        **_preview(tree),
    }
    return render(request, "annotation/edit_protocol.html", context, status=422 if problems else status)


def _preview(tree: drafting.Tree) -> dict[str, Any]:
    """The questions as annotators would see them; none while something is wrong."""
    if drafting.problems_of(tree):
        return {"asked": None}
    return {"asked": asked_in(Definition.read(drafting.definition_of(tree)))}
