"""Stands for a web process: enqueues a job of as many steps as each line says, and answers its id."""

import sys

import django

django.setup()

from medbench import jobs  # noqa: E402  # needs Django
from tests.jobs.steps_app import tasks  # noqa: E402, F401  # registers the work

for line in sys.stdin:
    print(jobs.services.enqueue("steps.take", {"steps": int(line), "pause_s": 0.02}).pk, flush=True)
