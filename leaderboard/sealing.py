"""API keys at rest: sealed with a secret of the site, opened by the worker that needs them.

To change the secret, put the new one first in MEDBENCH_JUDGE_SECRETS and keep the old one after it, run
`manage.py reseal_judge_keys`, then take the old one away.
"""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from medbench.errors import Conflict


def seal(key: str) -> bytes:
    """Encrypted with the first secret, and signed."""
    return _box().encrypt(key.encode())


def unseal(sealed: bytes | memoryview) -> str:
    """Raises Conflict (code `key_unreadable`) where no secret of the site opens it."""
    try:
        return _box().decrypt(bytes(sealed)).decode()
    except InvalidToken:
        message = "A judge's key was sealed with a secret that this site no longer has. Enter the key again."
        raise Conflict(message, code="key_unreadable") from None


def reseal(sealed: bytes | memoryview) -> bytes:
    """The same key, sealed with the first secret. Raises Conflict as `unseal`."""
    return seal(unseal(sealed))


def _box() -> MultiFernet:
    return MultiFernet([Fernet(_derived(secret)) for secret in settings.JUDGE_SECRETS])


def _derived(secret: str) -> bytes:
    derive = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"medbench judge keys")
    return base64.urlsafe_b64encode(derive.derive(secret.encode()))
