"""Reads of accounts."""

from __future__ import annotations

from medbench.accounts.models import User


def nobody_is_here() -> bool:
    """Whether the site has no user at all: then its first visitor may make the first curator."""
    return not User.objects.exists()
