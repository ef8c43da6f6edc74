"""Which function does which kind of work.

Applications fill it when AppConfig.ready() imports their tasks.py. No Django in here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from medbench.errors import MedBenchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from medbench.jobs.attempt import Attempt
    from medbench.jobs.models import Job

Work: TypeAlias = "Callable[[Attempt], object]"


@dataclass(frozen=True)
class Kind:
    """One kind of work, and how long what may take; `register` explains the limits."""

    name: str
    work: Work
    lease_s: float
    step_s: float
    max_attempts: int
    back_off_s: float
    given_up: Callable[[Job], object] = lambda _job: None

    def pause_s(self, failed_attempts: int) -> float:
        """Seconds to wait after so many failed attempts, an hour at most."""
        return min(self.back_off_s * 4.0 ** (failed_attempts - 1), 3600.0)


_kinds: dict[str, Kind] = {}


def register(
    name: str,
    *,
    lease_s: float = 60.0,
    step_s: float = 600.0,
    max_attempts: int = 3,
    back_off_s: float = 5.0,
    given_up: Callable[[Job], object] = lambda _job: None,
) -> Callable[[Work], Work]:
    """Name the function that does a kind of work: `@register("slides.register", lease_s=30)`.

    The function gets an `Attempt`. It may run again after a crash, so no step may leave anything
    double: look what is stored, then write the rest inside `attempt.writing()`.

    lease_s: a worker that was killed is noticed after so many seconds.
    step_s: a worker that lives but is stuck is noticed after so many seconds without a call of
        `progress()` or `writing()`. Longer than the longest single step.
    max_attempts: attempts before the job fails for good.
    back_off_s: pause after the first failed attempt; every further pause is four times longer.
    given_up: called with the job when it was cancelled or failed for good, in the same transaction, so
        that what waits for it can say so. Never called while the job may still go on.

    Raises ValueError where the name is taken.
    """

    def keep(work: Work) -> Work:
        if name in _kinds:
            raise ValueError(f"Two functions are registered for “{name}”.")
        _kinds[name] = Kind(name, work, lease_s, step_s, max_attempts, back_off_s, given_up)
        return work

    return keep


def known(name: str) -> Kind:
    """The kind of this name. Raises LookupError: the caller forgot to register it."""
    return _kinds[name]


def find(name: str) -> Kind:
    """The kind of this name; for an unknown one a kind that fails at once and says why.

    Workers meet unknown names while a new version is rolled out.
    """
    return _kinds.get(name) or Kind(name, _refuse, lease_s=60, step_s=60, max_attempts=1, back_off_s=0)


def _refuse(attempt: Attempt) -> None:
    raise MedBenchError(
        f"The worker does not know the work “{attempt.kind.name}”: it runs another version than the site. "
        "Restart the workers, then run this again.",
        code="unknown_kind",
    )
