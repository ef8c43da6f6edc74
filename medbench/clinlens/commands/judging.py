"""pack, check, evaluate: from a built suite to the scores of a submission."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from medbench.clinlens.commands import Commands


def add(commands: Commands[Any]) -> None:
    """Add the subcommands."""
