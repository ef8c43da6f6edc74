"""Telling annotators by mail that there is work for them: once, and nothing of what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from annotation import queries
from annotation.models import Study, StudyAnnotator
from medbench import jobs

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from medbench.jobs.attempt import Attempt

KIND = "annotation.mail"


def tell_annotators(study: Study) -> None:
    """Have everybody told who was not yet, in the transaction that gives them work. Nothing is done
    on a site that sends no mail."""
    if settings.SENDS_MAIL and _untold(study.pk).exists():
        jobs.services.enqueue(KIND, {"study": str(study.pk)})


def _untold(study: Any) -> QuerySet[StudyAnnotator]:
    """Who is to be told of a running study: those who want mail and have an address."""
    wanting = StudyAnnotator.objects.filter(study=study, study__state=Study.State.RUNNING, mailed_at=None)
    return wanting.filter(user__mail_about_work=True, user__is_active=True).exclude(user__email="")


def send(attempt: Attempt) -> None:
    """Write to each once. Marked before it is sent: a crash in between costs a mail, and never makes
    two of one. Where the mail server refuses, the job tries again."""
    untold = list(_untold(attempt.payload["study"]).select_related("user", "study"))
    for done, each in enumerate(untold):
        attempt.progress(done=done, total=len(untold))
        with attempt.writing():
            mine = StudyAnnotator.objects.filter(pk=each.pk, mailed_at=None)
            is_mine = mine.update(mailed_at=timezone.now())
        if is_mine:
            _send(each)


def _send(to: StudyAnnotator) -> None:
    try:
        _message(to).send()
    except OSError:  # and with it all errors of SMTP
        StudyAnnotator.objects.filter(pk=to.pk).update(mailed_at=None)
        raise


def _message(to: StudyAnnotator) -> EmailMessage:
    """No word of the study stands in it, since its title is free text; the link asks for a sign-in."""
    (work,) = queries.work_of(to.user, Study.objects.filter(pk=to.study_id))
    context = {
        "person": to.user,
        "n_items": work.total,
        "due_at": to.study.due_at,
        "work": settings.SITE_ADDRESS + reverse("annotation:next", args=[to.study_id]),
        "settings": settings.SITE_ADDRESS + reverse("accounts:settings"),
    }
    text = render_to_string("annotation/mail.txt", context)
    return EmailMessage(subject="MedBench: items wait for you", body=text, to=[to.user.email])
