"""Telling submitters what came of their submissions: a row on the site, and by mail where they want it.

A mail goes to the submitter alone, and names neither method nor person nor score: an anonymous
submission stays anonymous in whatever mailbox it passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from leaderboard import queries
from leaderboard.models import Evaluation, Notice
from medbench import jobs
from medbench.jobs.models import Job

if TYPE_CHECKING:
    from medbench.accounts.models import User
    from medbench.jobs.attempt import Attempt

MAIL = "leaderboard.mail"


def finished(attempt: Attempt) -> None:
    """Tell of an evaluation that this job has finished; once, however often the job runs. One of a
    re-scoring is told of when its board switches."""
    evaluation = _evaluation(pk=attempt.payload["evaluation"])
    if evaluation is not None and evaluation.finished_at and evaluation.rescoring_id is None:
        with attempt.writing():
            _tell(evaluation, Notice.Kind.FINISHED)


def gave_up(job: Job) -> None:
    """Tell of an evaluation that failed for good; who cancels one knows. A second failure is told of
    again."""
    evaluation = _evaluation(job=job)
    if job.state != Job.State.FAILED or evaluation is None:
        return
    Notice.objects.filter(kind=Notice.Kind.FAILED, evaluation=evaluation).delete()
    _tell(evaluation, Notice.Kind.FAILED)


def rescored(evaluations: list[Evaluation]) -> None:
    """Tell of the new generation of a board, in the transaction that shows it."""
    for evaluation in evaluations:
        _tell(evaluation, Notice.Kind.RESCORED)


def _evaluation(**of: Any) -> Evaluation | None:
    return Evaluation.objects.select_related("submission__submitted_by").filter(**of).first()


def _tell(evaluation: Evaluation, kind: Notice.Kind) -> None:
    person = evaluation.submission.submitted_by
    notice, is_new = Notice.objects.get_or_create(person=person, kind=kind, evaluation=evaluation)
    if is_new and settings.SENDS_MAIL and person.mail_about_work and person.email and person.is_active:
        jobs.services.enqueue(MAIL, {"notice": notice.pk})


def read_all(person: User) -> None:
    """Mark every notice of `person` as read."""
    queries.unread(person).update(read_at=timezone.now())


def send(attempt: Attempt) -> None:
    """Mail one notice, once. Marked before it is sent: a crash in between costs a mail, and never makes
    two. Where the mail server refuses, the job tries again."""
    unsent = Notice.objects.filter(pk=attempt.payload["notice"], mailed_at=None)
    notice = unsent.select_related("person", "evaluation__submission").first()
    if notice is None or not notice.person.mail_about_work:
        return
    with attempt.writing():
        is_mine = unsent.update(mailed_at=timezone.now())
    if not is_mine:
        return
    try:
        _message(notice).send()
    except OSError:  # and with it all errors of SMTP
        Notice.objects.filter(pk=notice.pk).update(mailed_at=None)
        raise


def _message(notice: Notice) -> EmailMessage:
    submission = notice.evaluation.submission
    context = {
        "notice": notice,
        "number": submission.number,
        "page": settings.SITE_ADDRESS + reverse("leaderboard:submission", args=[submission.pk]),
        "settings": settings.SITE_ADDRESS + reverse("accounts:settings"),
    }
    text = render_to_string("leaderboard/mail.txt", context)
    subject = f"MedBench: submission {submission.number} {notice.get_kind_display().lower()}"
    if notice.kind == Notice.Kind.RESCORED:
        subject = f"MedBench: the board of submission {submission.number} was scored anew"
    return EmailMessage(subject=subject, body=text, to=[notice.person.email])
