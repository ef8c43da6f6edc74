"""What a Celery worker process does for us: it hosts the sweep, hears the bell and ends cleanly.

Celery imports this by the setting CELERY_IMPORTS; nothing else does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from celery.worker.consumer.gossip import Gossip

from medbench.celery import RING, app
from medbench.jobs.sweep import Sweep

if TYPE_CHECKING:
    from celery.worker.consumer import Consumer

# Gossip is how Celery's workers elect one of them, which none of ours needs; it logs a traceback
# whenever the broker restarts.
Gossip.compatible_transports = set()

sweep = Sweep()


@app.task(name=RING)
def ring() -> None:
    """Some process queued a job."""
    sweep.ring()


@worker_ready.connect
def start(sender: Consumer, **_: object) -> None:
    sweep.start(slots=sender.pool.limit)


@worker_shutting_down.connect
def end(**_: object) -> None:
    sweep.end()


@worker_shutdown.connect
def wait(**_: object) -> None:
    sweep.end()
    sweep.join()
