"""What annotation adds to the bar and the home page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation import queries
from medbench.accounts.permissions import Role, visible_teams
from medbench.web.navigation import Block, Link, add_home_block, add_link

if TYPE_CHECKING:
    from django.http import HttpRequest


def register() -> None:
    """Called once, when the application is ready."""
    add_link(Link("My work", "annotation:my_work", 20, _waiting))
    add_link(Link("Studies", "annotation:studies", 30, _if_may_read_studies))
    add_home_block(Block("annotation/home_continue.html", 10, _continue))


def _waiting(request: HttpRequest) -> int | bool | None:
    """How many items wait for this person; no link for those who never annotate."""
    works = _works(request)
    if works is None:
        return False
    return sum(work.waiting for work in works) or None


def _works(request: HttpRequest) -> list[queries.Work] | None:
    """One's part of each study; None for those who never annotate, at no query."""
    person = request.user
    if not person.is_authenticated or not any(
        Role.ANNOTATOR in held for held in person.roles_by_team.values()
    ):
        return None
    return queries.work_of(person, queries.studies_of(person))


def _if_may_read_studies(request: HttpRequest) -> bool | None:
    if request.user.is_authenticated and visible_teams(request.user, "study.read").exists():
        return None
    return False


def _continue(request: HttpRequest) -> dict[str, Any] | None:
    works = _works(request)
    return None if works is None else {"works": works}
