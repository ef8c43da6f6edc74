"""Who may do what with boards and submissions, beyond the one table of roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from medbench.accounts.models import Team
from medbench.accounts.permissions import CONFLICTED_ROLES, may
from medbench.cases.models import Split
from medbench.errors import NotAllowed

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django.db.models import QuerySet

    from leaderboard.models import Board, Submission
    from medbench.accounts.models import User

    Person = User | AnonymousUser


def team_of(board: Board) -> Team:
    """The people around the board's benchmark."""
    return board.release.benchmark.team


def has_conflict(person: Person, board: Board) -> bool:
    """Whether `person` can see, or once could see, the references that a held-out board scores
    against. A role that ended keeps its conflict."""
    return board.split == Split.HELD_OUT and conflicted_teams(person).filter(pk=team_of(board).pk).exists()


def conflicted_teams(person: Person) -> QuerySet[Team]:
    """The teams whose held-out references `person` can see, or once could see."""
    if not person.is_authenticated:
        return Team.objects.none()
    if person.is_superuser:
        return Team.objects.all()
    return Team.objects.filter(memberships__user=person, memberships__role__in=CONFLICTED_ROLES).distinct()


def refuse_conflict(person: Person, board: Board) -> None:
    """Raise NotAllowed (code `conflict_of_interest`) where has_conflict()."""
    if has_conflict(person, board):
        raise NotAllowed(
            "You can see, or once could see, the held-out references of this benchmark, so you cannot "
            "submit to a board on them. The board on the open split is open to you.",
            code="conflict_of_interest",
        )


def may_manage(person: Person, submission: Submission) -> bool:
    """Withdraw it, change who sees it, cancel, run again: its submitter and the curators."""
    return submission.submitted_by_id == person.pk or may(person, "board.manage", team_of(submission.board))


def require_manage(person: Person, submission: Submission) -> None:
    """Raise NotAllowed where `person` may see the submission but not change it."""
    if not may_manage(person, submission):
        raise NotAllowed("Only its submitter and the curators of the benchmark can change a submission.")


ANONYMOUS = "Anonymous"


def is_anonymous(submission: Submission) -> bool:
    """Whether readers of the board do not learn who submitted it, as of now."""
    due = submission.public_from
    return submission.visibility == submission.Visibility.ANONYMOUS and (due is None or due > timezone.now())


def is_hidden_from(person: Person, submission: Submission) -> bool:
    """Whether everything that could name the submitter is hidden from `person`: name, link,
    description. The one rule for page, CSV, API and mail."""
    return is_anonymous(submission) and not may_manage(person, submission)


def submitter(person: Person, submission: Submission) -> str:
    """The submitter's name as `person` may read it."""
    return ANONYMOUS if is_hidden_from(person, submission) else str(submission.submitted_by)


def may_tell_together(person: Person, one: Submission, other: Submission) -> bool:
    """Whether `person` may learn that two submissions belong together: not where one is anonymous
    and the other gives its submitter away."""
    return is_hidden_from(person, one) == is_hidden_from(person, other)


def may_see_cases(person: Person, board: Board) -> bool:
    """Scores and outputs of single cases: readers of the open cases. Nobody on a held-out split,
    where they would give the references away."""
    return board.split == Split.OPEN and may(person, "case.read", team_of(board))
