"""What templates/jobs/_progress.html says of a job."""

from __future__ import annotations

import datetime as dt

from django import template
from django.utils import timezone
from django.utils.html import format_html

from medbench.jobs import queries
from medbench.jobs.models import Job

register = template.Library()

_SHAPES = {
    Job.State.QUEUED: "idle",
    Job.State.RUNNING: "run",
    Job.State.DONE: "ok",
    Job.State.FAILED: "bad",
    Job.State.CANCELLED: "idle",
}


@register.filter
def shape(job: Job) -> str:
    """The kind of status shape of a job's state."""
    return _SHAPES[Job.State(job.state)]


@register.filter
def headline(job: Job) -> str:
    """State and stage: what is worth announcing when it changes."""
    state = job.get_state_display()
    return f"{state}: {job.stage}" if job.state == Job.State.RUNNING and job.stage else state


@register.filter
def place(job: Job) -> int:
    """1 for the queued job that starts next."""
    return queries.place_in_queue(job)


@register.simple_tag
def workers_are_away() -> bool:
    """Whether nobody has looked for work lately."""
    age = queries.last_sweep_age()
    return age is None or age > queries.AWAY


@register.filter
def ago(moment: dt.datetime) -> str:
    """The age of something live, beside its exact time: "3 s ago", "2 min 05 s ago", "1 h 02 min ago"."""
    minutes, seconds = divmod(max(0, round((timezone.now() - moment).total_seconds())), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        text = f"{hours} h {minutes:02d} min"
    else:
        text = f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"
    exact = moment.astimezone(dt.UTC)
    return format_html(
        '<time datetime="{}" title="{} UTC">{} ago</time>',
        exact.isoformat(),
        exact.strftime("%Y-%m-%d %H:%M:%S"),
        text.replace(" ", "\u202f"),
    )
