"""Background work as rows: `register` a function for a kind of work, `services.enqueue` a row.

The row is the job, a broker only rings the bell: nothing is lost with a message, a worker or a
broker. This package knows nothing of what runs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from medbench.jobs.registry import register

if TYPE_CHECKING:
    from types import ModuleType

    from medbench.jobs import queries, services

__all__ = ["queries", "register", "services"]


def __getattr__(name: str) -> ModuleType:
    """`jobs.services` and `jobs.queries` on first use: they need Django's models, which are not
    ready when an application imports this package to register its tasks."""
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
