"""Does the waiting work in this process, as a worker would."""

from medbench.jobs import services
from medbench.jobs.attempt import Attempt, run


def work():
    """Run every job that is due, one after the other."""
    while job := services.claim("test"):
        run(Attempt(job))
