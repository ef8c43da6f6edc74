"""Reads of accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Prefetch, Value
from django.db.models.functions import Lower
from django.db.models.lookups import Exact

from medbench.accounts.models import ApiToken, Invitation, Membership, Team, User

if TYPE_CHECKING:
    from django.db.models import QuerySet


def nobody_is_here() -> bool:
    """Whether the site has no user at all: then its first visitor may make the first curator."""
    return not User.objects.exists()


def is_taken(field: str, value: str, by_other_than: User) -> bool:
    """Whether another person has this sign-in name or e-mail address, in any case of letters."""
    same = User.objects.filter(Exact(Lower(field), Lower(Value(value))))
    return same.exclude(pk=by_other_than.pk).exists()


def teams_of(person: User) -> QuerySet[Team]:
    """The teams in which `person` holds a role, each with `.held`: those roles. All for site curators."""
    held = Membership.objects.filter(user=person, ended_at=None).order_by("role")
    teams = Team.objects.order_by("name", "pk").prefetch_related(
        Prefetch("memberships", held, to_attr="held")
    )
    return teams if person.is_superuser else teams.filter(pk__in=person.roles_by_team)


def people_of(team: Team) -> QuerySet[User]:
    """Whoever holds a role in `team` now, each with `.held`: those roles; and their profile."""
    held = Membership.objects.filter(team=team, ended_at=None).order_by("role")
    now = User.objects.filter(pk__in=held.values("user")).select_related("annotator_profile")
    return now.prefetch_related(Prefetch("memberships", held, to_attr="held")).order_by("name", "username")


def ended_roles(team: Team) -> QuerySet[Membership]:
    """Roles of `team` that were ended, newest first."""
    return team.memberships.exclude(ended_at=None).select_related("user").order_by("-ended_at", "pk")


def open_invitations(team: Team) -> QuerySet[Invitation]:
    """Invitations of `team` that can still be accepted, newest first."""
    open_ones = Invitation.objects.open().filter(team=team)
    return open_ones.select_related("created_by").order_by("-created_at")


def tokens_of(person: User) -> QuerySet[ApiToken]:
    """The tokens of `person` that were not revoked, newest first; expired ones among them."""
    return person.api_tokens.filter(revoked_at=None).order_by("-created_at", "-pk")
