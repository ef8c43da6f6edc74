"""Secrets that are shown once and stored hashed: API tokens and invitation links."""

from __future__ import annotations

import hashlib
import secrets


def new_secret() -> str:
    """256 random bits as text that fits into an address or a header."""
    return secrets.token_urlsafe(32)


def hashed(secret: str) -> str:
    """What is stored and looked up. Plain SHA-256 is enough: nobody can guess 256 random bits, and
    a look-up by the hash tells nothing about the secret by its duration."""
    return hashlib.sha256(secret.encode()).hexdigest()
