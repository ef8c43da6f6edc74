"""The people of a team: roles, invitations, reset links. Views ask for `people.manage` first."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth.tokens import default_token_generator
from django.db import transaction
from django.utils import timezone

from medbench.accounts.models import Invitation, Membership, Team, User
from medbench.accounts.permissions import Role, may
from medbench.accounts.secrets import hashed, new_secret
from medbench.errors import Conflict, NotAllowed, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)


def give_role(team: Team, person: User, role: str) -> Membership:
    """Let `person` hold `role` in `team` from now on; nothing changes if they do already."""
    membership, made = Membership.objects.get_or_create(team=team, user=person, role=role)
    if not made and membership.ended_at is not None:
        membership.ended_at = None
        membership.save(update_fields=["ended_at"])
    person.__dict__.pop("roles_by_team", None)  # read once for each user object
    return membership


def open_to_researchers(team: Team, *, is_open: bool) -> None:
    """Let anybody who signs in read the open cases and submit, and visitors read the boards; or stop it."""
    team.open_to_researchers = is_open
    team.save(update_fields=["open_to_researchers"])


def end_role(membership: Membership) -> None:
    """End one role. The row stays: whoever could see held-out references keeps that conflict.

    With the role of a curator end the invitations they made: none of them is a way back.

    Raises:
        Conflict: it is the team's last curator.
    """
    with transaction.atomic():
        # Two curators who end each other's role at once wait for one another here.
        Team.objects.select_for_update().get(pk=membership.team_id)
        if membership.role == Role.CURATOR and not _has_curator_beside(membership):
            raise Conflict("A team keeps at least one curator. Make somebody else a curator first.")
        Membership.objects.filter(pk=membership.pk, ended_at=None).update(ended_at=timezone.now())
        if membership.role == Role.CURATOR:
            made = Invitation.objects.open().filter(team=membership.team_id, created_by=membership.user_id)
            made.update(revoked_at=timezone.now())


def _has_curator_beside(membership: Membership) -> bool:
    curators = Membership.objects.filter(
        team=membership.team_id, role=Role.CURATOR, ended_at=None, user__is_active=True
    )
    return curators.exclude(pk=membership.pk).exists()


def invite(team: Team, role: str, *, note: str, days: int, by: User) -> tuple[Invitation, str]:
    """An invitation that works once, within `days`, and its secret, which is kept nowhere."""
    secret = new_secret()
    invitation = Invitation.objects.create(
        team=team,
        role=role,
        note=note,
        secret_sha256=hashed(secret),
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    return invitation, secret


def find_invitation(secret: str) -> Invitation:
    """The open invitation with `secret`.

    Raises:
        NotFound: there never was one.
        Conflict: it was used or revoked, or it expired. Only whoever holds the link learns that.
    """
    invitation = (
        Invitation.objects.select_related("team", "created_by").filter(secret_sha256=hashed(secret)).first()
    )
    if invitation is None:
        raise NotFound
    if not Invitation.objects.open().filter(pk=invitation.pk).exists():
        raise _over()
    return invitation


def _over() -> Conflict:
    return Conflict("This invitation was used or revoked, or it has expired. Ask the curator for a new link.")


def accept(invitation: Invitation, who: Callable[[], User]) -> User:
    """Give the invitation's role to `who()`: whoever is signed in, or an account made just now.

    One transaction, so that a link that was used meanwhile leaves no account behind.

    Raises:
        Conflict: somebody else was quicker.
    """
    with transaction.atomic():
        if not Invitation.objects.open().filter(pk=invitation.pk).update(accepted_at=timezone.now()):
            raise _over()
        person = who()
        Invitation.objects.filter(pk=invitation.pk).update(accepted_by=person)
        give_role(invitation.team, person, invitation.role)
    return person


def revoke_invitation(invitation: Invitation) -> None:
    """Close the link if nobody used it yet."""
    Invitation.objects.open().filter(pk=invitation.pk).update(revoked_at=timezone.now())


def require_reset(issuer: User, person: User) -> None:
    """Raise NotAllowed unless `issuer` may set a new password for `person`.

    Whoever resets a password can act as that person. So it is allowed only where this gives the
    issuer no team and no power that they lack:

    - never for site curators and operators, except by a site curator;
    - only if the issuer curates every team in which the person holds a role now. Whoever also
      works for another team asks a curator of both, or a site curator.

    What remains: a curator could act in the name of an annotator of their own team. So each link is
    logged with its issuer, works once, and replaces the old password, which the person notices.
    """
    if issuer.is_superuser:
        return
    if person.is_superuser or person.is_staff:
        raise NotAllowed("Only a site curator can give this person a new password.")
    teams = Team.objects.filter(memberships__user=person, memberships__ended_at=None).distinct()
    if not all(may(issuer, "people.manage", team) for team in teams):
        raise NotAllowed(
            "This person also works for a team that you do not curate. Ask a site curator for the link."
        )


def make_reset_token(issuer: User, person: User) -> str:
    """What lets `person` set a new password, once, within PASSWORD_RESET_TIMEOUT. For sites without
    mail: the issuer passes the link with it on.

    Raises:
        NotAllowed: see `require_reset`.
    """
    require_reset(issuer, person)
    log.warning("reset link for user %s issued by user %s", person.pk, issuer.pk)
    return default_token_generator.make_token(person)
