"""The people of a team, for its curators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from medbench.accounts import queries
from medbench.accounts.forms import InvitationForm, RoleForm
from medbench.accounts.models import Team
from medbench.accounts.permissions import may, require
from medbench.accounts.services import teams as services
from medbench.errors import NotFound

if TYPE_CHECKING:
    from django.http import HttpResponse

    from medbench.accounts.requests import SignedInRequest

takes_get_and_post = require_http_methods(["GET", "HEAD", "POST"])


def _team(request: SignedInRequest, pk: int) -> Team:
    """The team whose people the person of `request` may manage."""
    team = Team.objects.filter(pk=pk).first()
    if team is None:
        raise NotFound
    require(request.user, "people.manage", team)
    return team


@require_safe
@login_required
def teams(request: SignedInRequest) -> HttpResponse:
    """One's teams and roles, with the way to their people for curators."""
    found = queries.teams_of(request.user)
    curated = {team.pk for team in found if may(request.user, "people.manage", team)}
    return render(request, "accounts/teams.html", {"teams": found, "curated": curated})


@takes_get_and_post
@login_required
def people(request: SignedInRequest, team: int) -> HttpResponse:
    """Members and invitations; a POST invites. Only its answer ever shows the link."""
    its_team = _team(request, team)
    form = InvitationForm(request.POST or None)
    link = None
    if form.is_valid():
        _, secret = services.invite(its_team, by=request.user, **form.cleaned_data)
        link = request.build_absolute_uri(resolve_url("accounts:invitation", secret))
        form = InvitationForm()
    context = {
        "team": its_team,
        "people": queries.people_of(its_team),
        "invitations": queries.open_invitations(its_team),
        "ended": queries.ended_roles(its_team),
        "form": form,
        "role_form": RoleForm(team=its_team),
        "link": link,
    }
    return render(request, "accounts/people.html", context)


@require_POST
@login_required
def add_role(request: SignedInRequest, team: int) -> HttpResponse:
    """One more role for somebody of the team."""
    its_team = _team(request, team)
    form = RoleForm(request.POST, team=its_team)
    if form.is_valid():
        role = services.give_role(its_team, form.cleaned_data["user"], form.cleaned_data["role"])
        messages.success(request, f"{role.user} is {role.get_role_display().lower()} now.")
    else:
        messages.error(request, "No role was added: choose a person of this team and a role.")
    return redirect("accounts:people", its_team.pk)


@require_POST
@login_required
def open_to_researchers(request: SignedInRequest, team: int) -> HttpResponse:
    """Open the team's boards to whoever signs in, or close them again."""
    its_team = _team(request, team)
    is_open = request.POST.get("open") == "yes"
    services.open_to_researchers(its_team, is_open=is_open)
    if is_open:
        messages.success(request, "Whoever signs in can read the open cases and submit.")
    else:
        messages.success(request, "Only people with a role can read and submit.")
    return redirect("accounts:people", its_team.pk)


@require_POST
@login_required
def end_role(request: SignedInRequest, team: int, membership: int) -> HttpResponse:
    its_team = _team(request, team)
    role = its_team.memberships.filter(pk=membership, ended_at=None).select_related("user").first()
    if role is None:
        raise NotFound
    services.end_role(role)
    messages.success(request, f"{role.user} is no longer {role.get_role_display().lower()}.")
    return redirect("accounts:people", its_team.pk)


@require_POST
@login_required
def revoke_invitation(request: SignedInRequest, team: int, invitation: str) -> HttpResponse:
    its_team = _team(request, team)
    invited = its_team.invitations.filter(pk=invitation).first()
    if invited is None:
        raise NotFound
    services.revoke_invitation(invited)
    messages.success(request, "The invitation is revoked. Its link opens nothing.")
    return redirect("accounts:people", its_team.pk)


@takes_get_and_post
@login_required
def reset_link(request: SignedInRequest, team: int, person: int) -> HttpResponse:
    """A link by which somebody who forgot their password sets a new one; for sites without mail."""
    its_team = _team(request, team)
    member = queries.people_of(its_team).filter(pk=person).first()
    if member is None:
        raise NotFound
    services.require_reset(request.user, member)
    link = None
    if request.method == "POST":
        token = services.make_reset_token(request.user, member)
        link = request.build_absolute_uri(resolve_url("accounts:reset", member.pk, token))
    return render(request, "accounts/reset_link.html", {"team": its_team, "person": member, "link": link})
