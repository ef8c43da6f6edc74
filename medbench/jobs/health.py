"""For /healthz; named in settings.HEALTH_CHECKS."""

from __future__ import annotations

from medbench.errors import Unavailable
from medbench.jobs import queries


def sweep() -> dict[str, float]:
    """Seconds since any worker last looked for work. Raises Unavailable where that is too long ago."""
    age = queries.last_sweep_age()
    if age is None or age > queries.AWAY:
        raise Unavailable("No worker has looked for work in the last minute.")
    return {"age_s": round(age.total_seconds(), 1)}
