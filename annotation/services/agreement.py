"""Agreement is computed in the background: once for a burst of verdicts, at once when asked for."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation import queries
from annotation.agreement import again, analysis, machine, outside, ratings
from annotation.models import Agreement
from medbench import jobs
from medbench.jobs.models import Job

if TYPE_CHECKING:
    from annotation.models import Study
    from medbench.accounts.models import User
    from medbench.jobs.attempt import Attempt

KIND = "annotation.agreement"
REST = dt.timedelta(seconds=20)  # after the first verdict of a burst; one job answers for all of them
RESAMPLES = 2_000


def verdicts_changed(study: Study) -> None:
    """Have agreement computed anew, soon after the caller's transaction commits.

    Only then: a job that waits now will see what was committed before, one that runs may not.
    """
    transaction.on_commit(partial(_queue, study, delay=REST), robust=True)


def recompute(study: Study, by: User) -> Agreement:
    """Have agreement computed now; a job that waits already is hastened, a failed one left behind."""
    waiting = _queue(study, by=by)
    jobs.services.hasten(waiting.job)
    return waiting


def _queue(study: Study, *, by: User | None = None, delay: dt.timedelta | None = None) -> Agreement:
    """The generation whose job waits; a new one where none does."""
    newest = study.agreements.select_related("job").first()
    if newest and newest.job.state == Job.State.QUEUED:
        return newest
    generation = newest.generation + 1 if newest else 1
    wanted = {"study": str(study.pk), "generation": generation}
    try:
        with transaction.atomic():
            return Agreement.objects.create(
                study=study,
                generation=generation,
                job=jobs.services.enqueue(KIND, wanted, requested_by=by, delay=delay),
                seed=study.seed,
                resamples=RESAMPLES,
                software_version=settings.VERSION,
            )
    except IntegrityError:  # somebody else asked at the same moment
        return study.agreements.select_related("job")[0]


def compute(attempt: Attempt) -> None:
    """Compute one generation. Again after a crash: what is computed stays as it is."""
    row = (
        Agreement.objects.select_related("study__protocol", "study__benchmark")
        .filter(**attempt.payload, computed_at=None)
        .first()
    )
    if row is None:  # computed already, or a later generation took its place
        return
    state = queries.state_of_verdicts(row.study)  # before the verdicts, so never newer than they
    tables = ratings.of_study(row.study)
    groups = analysis.groups_of(row.study)
    questions = []
    for done, table in enumerate(tables):
        attempt.progress(done=done, total=len(tables), stage=table.question.title)
        questions.append(analysis.of_question(table, groups, seed=row.seed, resamples=row.resamples))
    attempt.progress(done=len(tables), total=len(tables), stage="Human against machine")
    compared = machine.of_study(
        row.study.protocol.kind,
        machine.judged(row.study),
        tables,
        seed=row.seed,
        resamples=row.resamples,
    )
    apart = outside.of_study(row.study, tables, seed=row.seed, resamples=row.resamples)
    steady = again.of_study(row.study, seed=row.seed, resamples=row.resamples)
    found = {"questions": questions, "machine": compared, "outside": apart, "again": steady}
    with attempt.writing():
        _keep(row, state, found)


def _keep(row: Agreement, state: str, result: dict[str, Any]) -> None:
    """Write the result, unless a later generation took the place of this one meanwhile."""
    Agreement.objects.filter(pk=row.pk).update(verdicts=state, result=result, computed_at=timezone.now())
    earlier = row.study.agreements.filter(generation__lt=row.generation)
    earlier.filter(software_version=row.software_version).delete()
