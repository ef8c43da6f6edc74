"""What workers do for leaderboard."""

from __future__ import annotations

from leaderboard.services import evaluations, floors, judges, profiles
from medbench import jobs

# Scoring a case takes milliseconds; one that takes a minute is stuck.
jobs.register(evaluations.KIND, step_s=60)(evaluations.evaluate)
jobs.register(floors.KIND, step_s=120)(floors.compute)
jobs.register(judges.KIND, step_s=300, max_attempts=1)(judges.test_judge)
# One question may be tried again for minutes; a check that broke costs its answers, so it is not repeated.
jobs.register(profiles.KIND, step_s=1_800, max_attempts=1)(profiles.check)
