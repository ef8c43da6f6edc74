"""The other side of `decoder`: starts it, asks it, and turns every way it can end into an answer."""

from __future__ import annotations

import json
import logging
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings

from medbench.errors import MedBenchError, Unavailable
from medbench.slides.findings import refusal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 5.0  # between two calls of `tick`
LOOK_SECONDS = 120.0  # of the clock and of the processor; a flat picture is made into a pyramid in it
TILE_SECONDS = 20.0
QUEUE_SECONDS = 30.0  # a tile waits so long for a free decoder
MEMORY_BYTES = 3_000_000_000  # of address space; what is resident is a fraction of it
REQUESTS = 5_000  # then a decoder is replaced: libraries may leak


class ChildEnded(MedBenchError):
    """The decoder ended before it answered: `code` too_slow or reader_crashed."""

    code = "reader_crashed"
    status = 410


class Child:
    """One decoder process. Ask from one thread at a time; close it always."""

    def __init__(self, memory_bytes: int = MEMORY_BYTES) -> None:
        self.requests = 0
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  # close() closes it
        # An environment without our secrets: the child reads what strangers made.
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and module
            [sys.executable, "-m", "medbench.slides.decoder", str(memory_bytes)],
            cwd=settings.BASE_DIR,
            env={"LANG": "C.UTF-8", "VIPS_CONCURRENCY": "1", "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(
        self,
        request: dict[str, Any],
        *,
        seconds: float,
        tick: Callable[[], object] = lambda: None,
    ) -> tuple[dict[str, Any], bytes]:
        """The decoder's answer and the bytes that come with it.

        Raises ChildEnded when there is none within `seconds`; after that, and after anything that
        `tick` raises, this object can only be closed.
        """
        self.requests += 1
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request | {"seconds": seconds}).encode() + b"\n")
            self._process.stdin.flush()
            return self._receive(time.monotonic() + seconds, tick)
        except (EOFError, BrokenPipeError):
            raise self._ended(request) from None
        except TimeoutError:
            raise ChildEnded(TOO_SLOW, code="too_slow") from None

    def _receive(self, deadline: float, tick: Callable[[], object]) -> tuple[dict[str, Any], bytes]:
        assert self._process.stdout is not None
        received, head, needed = bytearray(), None, 0
        with selectors.DefaultSelector() as ready:
            ready.register(self._process.stdout, selectors.EVENT_READ)
            while head is None or len(received) < needed:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                if not ready.select(min(left, PATIENCE_SECONDS)):
                    tick()
                    continue
                piece = self._process.stdout.read1(1 << 20)  # type: ignore[attr-defined]  # a BufferedReader
                if not piece:
                    raise EOFError
                received += piece
                if head is None and (end := received.find(b"\n")) >= 0:
                    head = json.loads(received[:end])
                    del received[: end + 1]
                    needed = head.pop("bytes")
        return head, bytes(received)

    def _ended(self, request: dict[str, Any]) -> ChildEnded:
        status = self._process.wait()
        if status in (-signal.SIGXCPU, -signal.SIGKILL):
            return ChildEnded(TOO_SLOW, code="too_slow")
        self._complaints.seek(0)
        words = self._complaints.read()[-2000:].decode(errors="replace")
        log.error("The decoder ended with %d at %s: %s", status, request["path"], words)
        return ChildEnded(CRASHED)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):  # a request that the child did not live to read
                pipe.close()
        self._complaints.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


TOO_SLOW = "Reading this file takes too long. Convert it to a pyramidal TIFF."
CRASHED = "The file broke the program that reads it. Export it again, or convert it."


class ChildPool:
    """At most `size` decoders that answer for many files, started when they are first needed."""

    def __init__(self, size: int) -> None:
        self._free = threading.BoundedSemaphore(size)
        self._idle: list[Child] = []
        self._lock = threading.Lock()

    def ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """As Child.ask, within TILE_SECONDS. Raises ChildEnded, and Unavailable where all are busy."""
        if not self._free.acquire(timeout=QUEUE_SECONDS):
            raise Unavailable("The slide server is busy. Try again in a minute.", code="busy")
        try:
            child = self._take()
            try:
                answer = child.ask(request, seconds=TILE_SECONDS)
            except BaseException:
                child.close()
                raise
            self._give_back(child)
        finally:
            self._free.release()
        return answer

    def close(self) -> None:
        """End the decoders that are idle; the next request starts new ones."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.close()

    def _take(self) -> Child:
        with self._lock:
            return self._idle.pop() if self._idle else Child()

    def _give_back(self, child: Child) -> None:
        if child.requests >= REQUESTS:
            child.close()
            return
        with self._lock:
            self._idle.append(child)


def look(
    path: Path,
    *,
    pyramid: Path | None = None,
    tick: Callable[[], object] = lambda: None,
    seconds: float = LOOK_SECONDS,
) -> dict[str, Any]:
    """What `probe.look` finds in the file at `path` within `seconds`, whatever the file does to its
    reader. Works in a process of its own, and ends it.

    `tick` is called every few seconds of waiting; what it raises ends the child and passes on.
    """
    request = {
        "do": "look",
        "path": str(path.absolute()),
        "pyramid": str(pyramid.absolute()) if pyramid else None,
    }
    with Child() as child:
        try:
            answer, _ = child.ask(request, seconds=seconds, tick=tick)
        except ChildEnded as error:
            return refusal(error.code, error.message)
    return answer
