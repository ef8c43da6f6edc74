"""What happened to a submission in plain sentences, and about how long its evaluation still takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.utils import timezone

from medbench.jobs.models import Job

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator

    from leaderboard.models import Evaluation, Submission

FEWEST_DONE = 5  # steps, before a guess of the time left is worth showing


class Line(NamedTuple):
    at: dt.datetime
    text: str


def log(submission: Submission, evaluations: Iterable[Evaluation]) -> list[Line]:
    """Newest first. Sentences are made of what the rows say, so nothing can be said that is not so."""
    lines = [Line(submission.created_at, f"Received as submission {submission.number} and checked.")]
    for evaluation in evaluations:
        lines += [Line(at, text) for at, text in _of(evaluation) if at]
    if submission.withdrawn_at:
        lines.append(Line(submission.withdrawn_at, "Withdrawn from its board."))
    return sorted(lines, key=lambda line: line.at, reverse=True)


def _of(evaluation: Evaluation) -> Iterator[tuple[dt.datetime | None, str]]:
    job, number = evaluation.job, evaluation.generation
    yield evaluation.created_at, f"Evaluation {number} queued."
    if job.attempt:
        yield job.started_at, f"Evaluation {number}: attempt {job.attempt} started."
    if job.state == Job.State.QUEUED and job.error_text:
        yield job.heartbeat_at, f"Evaluation {number}: attempt {job.attempt} stopped: {job.error_text}"
    if job.state == Job.State.FAILED:
        yield job.finished_at, f"Evaluation {number} failed: {job.error_text}"
    if job.state == Job.State.CANCELLED:
        yield job.finished_at, f"Evaluation {number} cancelled. It does not count for the day's quota."
    if evaluation.finished_at:
        score = "incomplete" if evaluation.f1 is None else f"F1 {evaluation.f1:.3f}"
        yield evaluation.finished_at, f"Evaluation {number} finished: {score}."
    if evaluation.cleared_at:
        yield evaluation.cleared_at, f"A curator cleared the flags: {evaluation.cleared_reason}"


def seconds_left(job: Job) -> float | None:
    """A guess from the pace of the first attempt; None where there is none worth showing. A later
    attempt begins where the first one stopped, so its pace is not known."""
    if job.state != Job.State.RUNNING or job.attempt != 1 or not job.started_at or job.done < FEWEST_DONE:
        return None
    spent = (timezone.now() - job.started_at).total_seconds()
    return spent / job.done * max(job.total - job.done, 0)
