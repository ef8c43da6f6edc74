"""Runs the probe in a child process and turns every way it can end into an answer."""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from django.conf import settings

from medbench.slides import probe

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 5.0  # between two calls of `tick`


def look(
    path: Path,
    *,
    with_thumbnail: bool = False,
    tick: Callable[[], object] = lambda: None,
    seconds: float = probe.SECONDS,
) -> dict[str, Any]:
    """What `probe.look` finds in the file at `path` within `seconds`, whatever the file does to its
    reader.

    `tick` is called every few seconds of waiting; what it raises ends the child and passes on.
    """
    command = [sys.executable, "-m", "medbench.slides.probe"]
    if with_thumbnail:
        command.append("--thumbnail")
    # An environment without our secrets: the child reads what strangers made.
    with subprocess.Popen(  # noqa: S603  # our own interpreter and module
        [*command, "--", str(path.absolute())],
        cwd=settings.BASE_DIR,
        env={"LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        try:
            output = _wait(child, tick, seconds)
        finally:
            child.kill()
    return _answer(output, child.returncode, path)


def _wait(
    child: subprocess.Popen[bytes], tick: Callable[[], object], seconds: float
) -> tuple[bytes, bytes] | None:
    """What the child wrote, or None when its time is over."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        try:
            return child.communicate(timeout=min(left, PATIENCE_SECONDS))
        except subprocess.TimeoutExpired:
            tick()
    return None


def _answer(output: tuple[bytes, bytes] | None, status: int, path: Path) -> dict[str, Any]:
    if output is None or status in (-signal.SIGXCPU, -signal.SIGKILL):
        return probe.refusal("too_slow", "Reading this file takes too long. Convert it to a pyramidal TIFF.")
    found, complaints = output
    if status != 0:
        log.error(
            "The probe of %s ended with %d: %s", path, status, complaints.decode(errors="replace")[-2000:]
        )
        return probe.refusal(
            "reader_crashed", "The file broke the program that reads it. Export it again, or convert it."
        )
    answer: dict[str, Any] = json.loads(found)
    return answer
