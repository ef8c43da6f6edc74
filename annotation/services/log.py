"""The log of a study: every step and setting, with its author, time and reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.models import StudyAction

if TYPE_CHECKING:
    from annotation.models import Study
    from medbench.accounts.models import User

What = StudyAction.What


def record(study: Study, what: StudyAction.What, note: str = "", *, by: User | None) -> None:
    """Add a line, in the transaction of what it tells of. `by` None = a command."""
    StudyAction.objects.create(study=study, what=what, note=note, person=by)
