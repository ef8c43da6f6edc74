"""One mail to an annotator who gets work, with no word of what it is about."""

import smtplib

import pytest
from django.core import mail as outbox

from annotation.models import StudyAnnotator
from annotation.services import mail, studies
from medbench.jobs.attempt import Attempt, run
from medbench.jobs.models import Job
from tests.annotation.build import make_draft


@pytest.fixture
def site(settings):
    settings.SENDS_MAIL = True
    settings.SITE_ADDRESS = "https://medbench.example"


@pytest.fixture
def draft(benchmark, bruno, chen, ada):
    for person in (bruno, chen):
        person.email = f"{person.username}@clinic.example"
        person.save()
    return make_draft(benchmark, [bruno, chen], ada, title="Outputs of MedInsightAgent")


def work():
    """Run the mail jobs that wait."""
    for job in Job.objects.filter(kind=mail.KIND, state=Job.State.QUEUED):
        Job.objects.filter(pk=job.pk).update(state=Job.State.RUNNING, attempt=job.attempt + 1)
        job.refresh_from_db()
        run(Attempt(job))


def told():
    return sorted(message.to[0] for message in outbox.outbox)


def test_each_is_told_once_where_to_go_and_nothing_else(site, draft, benchmark, bruno):
    study = studies.start_study(draft)
    work()
    assert told() == ["bruno@clinic.example", "chen@clinic.example"]
    message = next(each for each in outbox.outbox if each.to == [bruno.email])
    assert f"https://medbench.example/annotate/next/{study.pk}/" in message.body
    assert "4 items wait" in message.body
    for secret in ("MedInsightAgent", "TCGA", "Chen", str(benchmark), "6 cm"):
        assert secret not in message.subject + message.body
    studies.resume_study(studies.pause_study(study))
    work()
    assert len(outbox.outbox) == 2


def test_nobody_is_told_who_does_not_want_it_or_where_the_site_sends_none(site, settings, draft, bruno, chen):
    bruno.mail_about_work = False
    bruno.save()
    settings.SENDS_MAIL = False
    study = studies.start_study(draft)
    assert not Job.objects.filter(kind=mail.KIND).exists()
    settings.SENDS_MAIL = True
    studies.resume_study(studies.pause_study(study))
    work()
    assert told() == [chen.email]


class Refusing:
    """A mail server that refuses at first."""

    def __init__(self):
        self.refused = 0

    def send_messages(self, messages):
        if not self.refused:
            self.refused += 1
            raise smtplib.SMTPServerDisconnected("gone")
        outbox.outbox.extend(messages)
        return len(messages)


def test_a_mail_that_was_refused_is_sent_by_the_next_attempt(site, draft, monkeypatch):
    server = Refusing()
    monkeypatch.setattr("django.core.mail.get_connection", lambda *_args, **_options: server)
    monkeypatch.setattr("django.core.mail.message.EmailMessage.get_connection", lambda *_args: server)
    studies.start_study(draft)
    work()
    assert not StudyAnnotator.objects.exclude(mailed_at=None).exists()
    work()
    assert len(told()) == 2
