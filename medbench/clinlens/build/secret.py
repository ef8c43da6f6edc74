"""What a builder alone knows: instances are drawn with it, and tasks are salted with it.

The same secret, source and program give the same bytes; without it nobody can tell which instances
a suite took, or find a short answer behind a commitment by trying all.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

SECRET_BYTES = 32


class Secret:
    """Derives what depends on the secret."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def hex(self, *purpose: object) -> str:
        """64 hexadecimal digits for a purpose."""
        text = "|".join(str(part) for part in purpose)
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()

    def share(self, *purpose: object) -> float:
        """A number in [0, 1) for a purpose."""
        return int(self.hex(*purpose)[:12], 16) / 16**12


def read_secret(path: Path) -> Secret:
    """The secret in a file, which is made, readable by its owner alone, where there is none."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(f"{secrets.token_hex(SECRET_BYTES)}\n")
    try:
        key = bytes.fromhex(path.read_text().strip())
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"{path} holds no secret of {SECRET_BYTES} bytes in hexadecimal.", code="secret"
        ) from error
    if len(key) != SECRET_BYTES:
        raise InvalidInput(f"{path} must hold {SECRET_BYTES} bytes in hexadecimal.", code="secret")
    return Secret(key)
