"""What judges answered, in a table: asked and paid for once, whoever needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leaderboard.models import JudgeVerdict
from medbench.evals.questions import Verdict
from medbench.evals.stores import AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from django.db.models import QuerySet


class VerdictStore:
    """A `medbench.evals.stores.Store`. A verdict belongs to no attempt: it is kept even where the job
    was given to another worker meanwhile, because it is paid for."""

    def get(self, keys: Collection[str]) -> dict[str, Verdict]:
        return {
            key: Verdict.from_dict(value)
            for rows in _rows(keys)
            for key, value in rows.values_list("key", "value")
        }

    def put(self, verdict: Verdict) -> Verdict:
        row = JudgeVerdict(key=verdict.key, value=storable(verdict.as_dict()))
        JudgeVerdict.objects.bulk_create([row], ignore_conflicts=True)
        return self.get([verdict.key])[verdict.key]

    def known(self, keys: Collection[str]) -> set[str]:
        """Those keys that have a verdict."""
        return {key for rows in _rows(keys) for key in rows.values_list("key", flat=True)}


def _rows(keys: Collection[str]) -> Iterator[QuerySet[JudgeVerdict]]:
    ordered = list(keys)
    for start in range(0, len(ordered), AT_ONCE):
        yield JudgeVerdict.objects.filter(key__in=ordered[start : start + AT_ONCE])


def storable(value: Any) -> Any:
    """The same JSON without null characters and halves of characters, which models may write and
    PostgreSQL refuses."""
    if isinstance(value, str):
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()
    if isinstance(value, dict):
        return {storable(key): storable(each) for key, each in value.items()}
    return [storable(each) for each in value] if isinstance(value, list | tuple) else value
