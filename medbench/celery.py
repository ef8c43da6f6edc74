"""The Celery application: it hosts the workers and carries the bell.

The work itself is rows of `medbench.jobs`; no message holds any of it. Start a worker with
`celery -A medbench worker` or `manage.py worker`.
"""

from __future__ import annotations

import logging
import os

from celery import Celery
from celery.signals import setup_logging
from kombu.common import Broadcast
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "medbench.settings")
app = Celery("medbench")
app.config_from_object("django.conf:settings", namespace="CELERY")

# Every worker hears every ring: the one that a plain queue would choose may have no free slot. What
# nobody hears is not kept: whoever starts later looks by itself.
RING = "medbench.jobs.ring"
_bells = Broadcast("medbench.jobs")
app.conf.task_queues = [_bells]
app.conf.task_default_queue = "medbench.jobs"


def ring() -> None:
    """Have every worker look for work now. An unheard ring costs only the time to their next look."""
    try:
        app.send_task(RING, declare=[_bells.exchange])
    except OperationalError as problem:
        logger.warning("The broker did not take a ring, workers will find the work later: %s", problem)


@setup_logging.connect
def keep_logging(**_: object) -> None:
    """Celery configures logging unless someone else does: Django's settings are the one place."""
