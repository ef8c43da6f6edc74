"""What workers do for leaderboard."""

from __future__ import annotations

from leaderboard.services import evaluations, floors, judges
from medbench import jobs

# Scoring a case takes milliseconds; one that takes a minute is stuck.
jobs.register(evaluations.KIND, step_s=60)(evaluations.evaluate)
jobs.register(floors.KIND, step_s=120)(floors.compute)
jobs.register(judges.KIND, step_s=300, max_attempts=1)(judges.test_judge)
