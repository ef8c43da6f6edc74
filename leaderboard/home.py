"""What leaderboard adds to the bar and the home page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leaderboard import queries
from leaderboard.permissions import conflicted_teams
from leaderboard.views.boards import with_leaders
from medbench.accounts.permissions import MAY, visible_teams
from medbench.web.navigation import Block, Link, add_home_block, add_link

if TYPE_CHECKING:
    from django.http import HttpRequest

BOARDS_SHOWN = 4
SUBMISSIONS_SHOWN = 5


def register() -> None:
    """Called once, when the application is ready."""
    add_link(Link("Boards", "leaderboard:boards", 40, lambda _: None))
    add_link(Link("Submissions", "leaderboard:submissions", 50, _if_may_submit))
    add_link(Link("Notices", "leaderboard:notices", 60, _unread))
    add_link(Link("Submit results", "leaderboard:submit", 90, _if_may_submit, is_action=True))
    add_link(Link("Judges", "leaderboard:judges", 60, _if_curates, in_menu=True))
    add_home_block(Block("leaderboard/home_attention.html", 20, _attention))
    add_home_block(Block("leaderboard/home_boards.html", 40, _boards))
    add_home_block(Block("leaderboard/home_submissions.html", 50, _submissions))


def _if_may_submit(request: HttpRequest) -> bool | None:
    return None if _may_submit(request) else False


def _if_curates(request: HttpRequest) -> bool | None:
    """Without a query: the roles of a person are read for the other links already."""
    person = request.user
    if not person.is_authenticated:
        return False
    held = frozenset().union(*person.roles_by_team.values())
    return None if person.is_superuser or MAY["judge.manage"] & held else False


def _may_submit(request: HttpRequest) -> bool:
    return request.user.is_authenticated and visible_teams(request.user, "submission.create").exists()


def _unread(request: HttpRequest) -> int | bool | None:
    """How many notices wait, or the link alone; no link for whoever never got one."""
    if not request.user.is_authenticated:
        return False
    read, unread = queries.notice_counts(request.user)
    return unread or (None if read else False)


def _boards(request: HttpRequest) -> dict[str, Any] | None:
    shown = list(queries.boards(request.user)[:BOARDS_SHOWN])
    return {"boards": with_leaders(request.user, shown, places=2)} if shown else None


def _submissions(request: HttpRequest) -> dict[str, Any] | None:
    """The newest of one's own; without any, an invitation for those who are not here to judge."""
    if not _may_submit(request):
        return None
    mine = list(queries.own_submissions(request.user)[:SUBMISSIONS_SHOWN])
    if not mine and conflicted_teams(request.user).exists():
        return None
    standing = queries.current_of(mine)
    return {"rows": [{"submission": each, "evaluation": standing[each.pk]} for each in mine]}


def _attention(request: HttpRequest) -> dict[str, Any] | None:
    """Failed evaluations that one may run again."""
    if not request.user.is_authenticated:
        return None
    failed = list(queries.failed(request.user)[:SUBMISSIONS_SHOWN])
    return {"evaluations": failed} if failed else None
