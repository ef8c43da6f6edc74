"""What a page says of a job."""

import datetime as dt
import re

import pytest
from django.utils import timezone
from django.utils.html import strip_tags

from medbench import jobs
from medbench.jobs.attempt import Attempt
from medbench.jobs.models import Job, WorkerBeat
from medbench.jobs.templatetags.jobs import ago

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.jobs.job_page")]


@jobs.register("tests.shown")
def never_called(attempt):
    raise AssertionError


@pytest.fixture
def job():
    return jobs.services.enqueue("tests.shown", {})


@pytest.fixture
def claimed(job):
    return Attempt(jobs.services.claim("worker"))


@pytest.fixture
def worker():
    WorkerBeat.objects.create(worker="one", slots=2, swept_at=timezone.now())


@pytest.fixture
def look(client):
    """The text of the page's main part; `polled` as htmx asks for it, `seen` as it showed before."""

    def look(job, *, polled=False, seen=None):
        headers = {"HX-Request": "true"} if polled else {}
        page = client.get(f"/job/{job.pk}/", {"seen": seen} if seen else {}, headers=headers).content.decode()
        part = page if polled else page[page.index('<div id="job-') : page.index("</main>")]
        look.html = part
        return " ".join(strip_tags(part).split())

    return look


def test_queued_job_says_its_place(job, look, worker):
    assert look(job) == "○ Queued 1st in the queue Cancel"
    assert look(jobs.services.enqueue("tests.shown", {})) == "○ Queued 2nd in the queue Cancel"


def test_queued_job_says_when_nobody_works(job, look):
    assert "No worker is running, so nothing starts." in look(job)


def test_running_job_says_how_far_it_is(claimed, look):
    claimed.progress(done=1204, total=3933, stage="Scoring")
    text = look(claimed.job)
    assert re.fullmatch(r"◐ Running Scoring 1,204 of 3,933 attempt 1 · last sign \d+\Ws ago Cancel", text)
    assert '<progress value="1204" max="3933" aria-label="Progress">' in look.html


def test_failed_job_says_why_and_what_to_do(claimed, look):
    claimed.progress(stage="Judges")
    jobs.services.fail(claimed.job, "auth_failed", "The provider refused the key. Renew it in the settings.")
    text = look(claimed.job)
    assert text.startswith("✕ Failed")
    assert text.endswith(
        "Run again Stopped at Judges: The provider refused the key. Renew it in the settings. (auth_failed)"
    )


def test_job_that_waits_for_its_next_attempt_says_why(claimed, look, worker):
    jobs.services.try_again(claimed.job, "unavailable", "The provider does not answer.")
    text = look(claimed.job)
    assert re.match(r"○ Queued 1st in the queue · attempt 2 not before [-\d]+ [:\d]+ UTC Cancel", text)
    assert text.endswith("Attempt 1: The provider does not answer. (unavailable)")


def test_buttons_do_what_they_say(job, look, client):
    client.post(f"/job/{job.pk}/cancel/")
    assert look(job).startswith("○ Cancelled")
    client.post(f"/job/{job.pk}/retry/")
    assert look(job).startswith("○ Queued")


def test_page_asks_until_the_job_is_over(claimed, look):
    look(claimed.job)
    assert f'hx-get="/job/{claimed.job.pk}/" hx-trigger="every 2s"' in look.html
    jobs.services.finish(claimed.job)
    look(claimed.job)
    assert "hx-get" not in look.html
    assert "<form" not in look.html


def test_only_a_change_of_stage_is_announced(claimed, look):
    claimed.progress(stage="Scoring")
    look(claimed.job)
    assert "data-announce" not in look.html
    (seen,) = re.findall(r'name="seen" value="([^"]*)"', look.html)
    claimed.progress(done=3)
    look(claimed.job, polled=True, seen=seen)
    assert "data-announce" not in look.html
    claimed.progress(stage="Ranking")
    look(claimed.job, polled=True, seen=seen)
    assert '<span class="visually-hidden" data-announce>Running: Ranking</span>' in look.html


def test_hostile_words_are_text(claimed, look):
    claimed.progress(stage='"><script>alert(1)</script>')
    look(claimed.job)
    assert "<script" not in look.html
    jobs.services.fail(claimed.job, "<b>", "<img src=x onerror=alert(1)>")
    look(claimed.job)
    assert "<img" not in look.html
    assert "<b>" not in look.html


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s ago"), (59, "59 s ago"), (125, "2 min 05 s ago"), (3725, "1 h 02 min ago")]
)
def test_age_is_short_and_has_the_exact_time_beside_it(seconds, text):
    moment = timezone.now() - dt.timedelta(seconds=seconds)
    html = ago(moment)
    assert strip_tags(html).replace("\u202f", " ") == text
    assert f'datetime="{moment.isoformat()}"' in html


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_live_page_follows_the_job_and_keeps_the_focus(page, console, colours):
    from tests.chromium import assert_accessible

    page.emulate_media(color_scheme=colours)
    job = jobs.services.enqueue("tests.shown", {})
    attempt = Attempt(jobs.services.claim("worker"))
    attempt.progress(done=1, total=4, stage="Scoring")
    page.goto(f"/job/{job.pk}/")
    assert_accessible(page)
    page.get_by_role("button", name="Cancel").focus()
    said = page.locator("#announcer")

    attempt.progress(done=2)
    page.get_by_text("2 of 4").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Cancel"
    assert said.text_content() == ""

    attempt.progress(stage="Ranking")
    page.get_by_text("Ranking").first.wait_for()
    page.locator("#announcer", has_text="Running: Ranking").wait_for(state="attached")
    jobs.services.fail(attempt.job, "auth_failed", "The provider refused the key. Renew it in the settings.")
    page.get_by_role("button", name="Run again").wait_for()
    page.locator("#announcer", has_text="Failed").wait_for(state="attached")
    assert_accessible(page)
    assert Job.objects.get().state == Job.State.FAILED
