import time
from pathlib import Path

from medbench import jobs
from tests.jobs.steps_app.models import Step


@jobs.register("steps.take", lease_s=2, max_attempts=20)
def take_steps(attempt):
    """Stores the steps 1 to `steps` that are not stored yet, each after a pause of `pause_s`."""
    for number in steps_left(attempt):
        time.sleep(attempt.payload["pause_s"])
        take(attempt, number)


@jobs.register("steps.oversleep", lease_s=1, step_s=1)
def oversleep(attempt):
    """The same, but before step 3 the first attempt sleeps until the file `alarm` exists."""
    for number in steps_left(attempt):
        while number == 3 and attempt.job.attempt == 1 and not Path(attempt.payload["alarm"]).exists():
            time.sleep(0.05)
        take(attempt, number)


def steps_left(attempt):
    steps = attempt.payload["steps"]
    stored = set(Step.objects.filter(job_id=attempt.job.pk).values_list("number", flat=True))
    attempt.progress(done=len(stored), total=steps, stage="Steps")
    return sorted(set(range(1, steps + 1)) - stored)


def take(attempt, number):
    with attempt.writing():
        Step.objects.create(job_id=attempt.job.pk, number=number, attempt=attempt.job.attempt)
        attempt.progress(done=number)
