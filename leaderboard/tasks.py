"""What workers do for leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leaderboard import stages
from leaderboard.services import evaluations, floors, judges, notices, profiles, rankings, rescorings
from medbench import jobs

if TYPE_CHECKING:
    from medbench.jobs.attempt import Attempt


def evaluate(attempt: Attempt) -> None:
    """Evaluate, then say so: a job that was stopped in between says it when it runs again."""
    evaluations.evaluate(attempt)
    notices.finished(attempt)


# Scoring a case takes milliseconds; one that takes a minute is stuck.
jobs.register(stages.WORDS_KIND, step_s=60, given_up=notices.gave_up)(evaluate)
# One question may be tried again for minutes. Going on costs nothing, so a worker may die a few times.
jobs.register(stages.JUDGES_KIND, step_s=1_800, max_attempts=5, given_up=notices.gave_up)(evaluate)
jobs.register(notices.MAIL, step_s=60)(notices.send)
# A thousand entries are compared within a minute or two.
jobs.register(rankings.KIND, step_s=900)(rescorings.refresh)
jobs.register(floors.KIND, step_s=120)(floors.compute)
jobs.register(judges.KIND, step_s=300, max_attempts=1)(judges.test_judge)
# One question may be tried again for minutes; a check that broke costs its answers, so it is not repeated.
jobs.register(profiles.KIND, step_s=1_800, max_attempts=1)(profiles.check)
