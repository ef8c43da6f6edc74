"""The stages of an evaluation, as the worker names them and as pages show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from medbench.jobs.models import Job
from medbench.jobs.templatetags.jobs import shape

if TYPE_CHECKING:
    from leaderboard.models import Evaluation

CHECKED = "Checked"  # the upload was; nothing is queued before that
ROUGE_1 = "ROUGE-1"
JUDGES = "Judges"
NOVELTY = "Novelty"
INTERVALS = "Intervals"
RANK = "Rank"
WORDS_KIND = "leaderboard.evaluate"  # of the job, which names its stages
JUDGES_KIND = "leaderboard.judge"
ALL = {
    WORDS_KIND: (CHECKED, ROUGE_1, INTERVALS, RANK),
    JUDGES_KIND: (CHECKED, JUDGES, NOVELTY, INTERVALS, RANK),
}


@dataclass(frozen=True)
class Stage:
    """One stage: `kind` is a status shape, `word` what a screen reader says of it."""

    name: str
    kind: str
    word: str


def of(evaluation: Evaluation) -> list[Stage]:
    """Every stage with how far the evaluation's newest attempt is."""
    job = evaluation.job
    names = ALL[job.kind]
    at = names.index(job.stage) if job.stage in names else 1
    shown = []
    for place, name in enumerate(names):
        if place < at or job.state == Job.State.DONE:
            shown.append(Stage(name, "ok", "done"))
        elif place > at or job.state == Job.State.QUEUED:
            shown.append(Stage(name, "idle", "not started"))
        else:
            shown.append(Stage(name, shape(job), job.get_state_display().lower()))
    return shown
