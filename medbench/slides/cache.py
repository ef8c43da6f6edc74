"""Tiles that cost time to make, kept on disk up to a number of bytes. No Django."""

from __future__ import annotations

import os
import tempfile
import threading
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

SLACK = 0.05  # of the limit: what a process may write before it looks at the whole folder


class DiskCache:
    """Contents by key, the least recently used deleted first. Any number of processes may share a
    folder; together they may pass the limit by `SLACK` each until the next one looks."""

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self._folder, self._limit = folder, limit_bytes
        self._written = 0
        self._lock = threading.Lock()

    def get(self, key: str) -> bytes | None:
        """What was kept under `key`, None where there is nothing (any more)."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        with suppress(OSError):
            os.utime(path)
        return content

    def put(self, key: str, content: bytes) -> None:
        """Keep `content`; on a full or read-only disk it is not kept, and nothing else happens."""
        path = self._path(key)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            keep(content, path)
        with self._lock:
            self._written += len(content)
            if self._written <= self._limit * SLACK:
                return
            self._written = 0
        self.prune()

    def prune(self) -> None:
        """Delete the oldest until what is left fits, with room for what comes."""
        found = []
        for path in self._folder.glob("*/*"):
            with suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime_ns, status.st_size, path))
        excess = sum(size for _, size, _ in found) - self._limit * (1 - SLACK)
        for _, size, path in sorted(found):
            if excess <= 0:
                return
            with suppress(OSError):  # deleted by another process, or not ours to delete
                path.unlink()
            excess -= size

    def _path(self, key: str) -> Path:
        name = blake2b(key.encode(), digest_size=16).hexdigest()
        return self._folder / name[:2] / name


def keep(content: bytes, path: Path) -> None:
    """Write the file whole or not at all: others read it at any time."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as half:
        half.write(content)
    Path(half.name).replace(path)
