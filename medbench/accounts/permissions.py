"""The one table of who may do what: role x action.

Every view and API route names its action here, and asks through `require` (one object) or
`teams_where` (lists). A generated test visits every address as every role and compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet, TextChoices

from medbench.errors import NotAllowed, NotFound

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from medbench.accounts.models import Team, User


class Role(TextChoices):
    """A person's role in a team."""

    CURATOR = "curator", "Curator"
    ANNOTATOR = "annotator", "Annotator"
    ADJUDICATOR = "adjudicator", "Adjudicator"
    RESEARCHER = "researcher", "Researcher"


VISITOR = "visitor"  # nobody signed in, or somebody without a role, at a team open to researchers

_MEMBERS = frozenset(Role)
_CURATOR = frozenset({Role.CURATOR})
_READERS = frozenset({Role.CURATOR, Role.ANNOTATOR, Role.ADJUDICATOR})

MAY: dict[str, frozenset[str]] = {
    # cases
    "case.read": _MEMBERS,  # open cases, with their references
    "case.read_held_out": _CURATOR,
    "case.edit": _CURATOR,
    "slide.manage": _CURATOR,
    "slide.read_held_out": _READERS,  # whoever may be asked to judge a held-out case
    "benchmark.import": _CURATOR,
    "benchmark.export": _CURATOR,
    "release.freeze": _CURATOR,
    "kit.download": _MEMBERS,
    # people
    "people.manage": _CURATOR,
    # verification
    "study.manage": _CURATOR,
    "study.read": frozenset({Role.CURATOR, Role.ADJUDICATOR}),
    "item.verify": frozenset({Role.ANNOTATOR}),
    "item.adjudicate": frozenset({Role.CURATOR, Role.ADJUDICATOR}),  # items that they did not read
    # leaderboard
    "board.read": _MEMBERS | {VISITOR},
    "board.manage": _CURATOR,
    "judge.manage": _CURATOR,  # the judges of the site: held by whoever curates any team
    "submission.create": _MEMBERS,
    "submission.read_any": _CURATOR,  # beyond one's own and the published ones
}

# Whoever could see held-out references cannot compete on them.
CONFLICTED_ROLES = frozenset({Role.CURATOR, Role.ANNOTATOR, Role.ADJUDICATOR})


def roles(person: User | AnonymousUser, team: Team) -> frozenset[str]:
    """The roles `person` holds in `team` now. One query a person, whatever the number of teams."""
    held: set[str] = set()
    if person.is_authenticated:
        held |= person.roles_by_team.get(team.pk, frozenset())
        if person.is_superuser:
            held.add(Role.CURATOR)
        if team.open_to_researchers:
            held.add(Role.RESEARCHER)
    elif team.open_to_researchers:
        held.add(VISITOR)
    return frozenset(held)


def may(person: User | AnonymousUser, action: str, team: Team) -> bool:
    """Whether `person` may do `action` in `team`. An unknown action is a KeyError, never a yes."""
    return not MAY[action].isdisjoint(roles(person, team))


def require(person: User | AnonymousUser, action: str, team: Team, *, seen_by: str = "case.read") -> None:
    """Raise NotAllowed (403) for whoever can at least do `seen_by`, NotFound (404) for others."""
    if may(person, action, team):
        return
    if may(person, seen_by, team):
        raise NotAllowed("Your role does not allow this. Ask a curator of this benchmark.")
    raise NotFound


def teams_where(person: User | AnonymousUser, action: str) -> Q:
    """A condition on Team for lists: the teams in which `person` may do `action`."""
    allowed = MAY[action]
    where = Q(pk__in=())
    if person.is_authenticated:
        if person.is_superuser and Role.CURATOR in allowed:
            return Q()
        where |= Q(pk__in=[t for t, held in person.roles_by_team.items() if held & allowed])
        if Role.RESEARCHER in allowed:
            where |= Q(open_to_researchers=True)
    elif VISITOR in allowed:
        where |= Q(open_to_researchers=True)
    return where


def visible_teams(person: User | AnonymousUser, action: str) -> QuerySet[Team]:
    """The teams in which `person` may do `action`."""
    from medbench.accounts.models import Team  # models import this module for Role

    return Team.objects.filter(teams_where(person, action))
