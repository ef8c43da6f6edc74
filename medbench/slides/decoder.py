"""The process that reads slide files: `python -m medbench.slides.decoder`. No Django.

A hostile file may crash a decoder, fill the memory or never end. Here that ends this process and
nothing else. Requests come as lines of JSON on standard input; each is answered by a line of JSON on
standard output and `bytes` bytes after it. `child` is the other side.

    {"do": "tile", "path", "level", "column", "row", "stored", "seconds"}   the tile as JPEG
    {"do": "look", "path", "pyramid", "seconds"}                            what `probe.look` finds
    {"do": "render", "path", "longest_px", "normalise", "seconds"}          the whole as PNG
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from medbench.slides import colour
from medbench.slides.geometry import OutsideGrid
from medbench.slides.reader import RecentSlides, SlideRefused, TileUnreadable

HANDLES = 8  # open slides of one decoder; each costs a few MB for its index
CACHE_BYTES = 32_000_000

Answer = tuple[dict[str, Any], bytes]


class Decoder:
    """Answers one request after the other."""

    def __init__(self) -> None:
        self._slides = RecentSlides(HANDLES, CACHE_BYTES)

    def answer(self, request: dict[str, Any]) -> Answer:
        """What is asked for, or {"error": kind, "code", "message"}."""
        try:
            return {"tile": self._tile, "look": _look, "render": _render}[request["do"]](request)
        except (TileUnreadable, SlideRefused, OutsideGrid) as error:
            code = getattr(error, "code", "outside")
            return {"error": type(error).__name__, "code": code, "message": str(error)}, b""
        except MemoryError:
            words = "This takes more memory than a slide may. Ask for a smaller picture."
            return {"error": "SlideRefused", "code": "too_costly", "message": words}, b""

    def _tile(self, request: dict[str, Any]) -> Answer:
        path, place = Path(request["path"]), (request["level"], request["column"], request["row"])
        stored = {int(number): at for number, at in request["stored"].items()}
        # A file that was replaced is another file: its time of change is in place of the revision.
        picture = self._slides.tile(path, path.stat().st_mtime_ns, place, stored)
        return {}, colour.jpeg(picture)


def _look(request: dict[str, Any]) -> Answer:
    from medbench.slides import probe  # and with it numpy, pyvips: tiles need none of them

    pyramid = request["pyramid"]
    return probe.look(Path(request["path"]), Path(pyramid) if pyramid else None), b""


def _render(request: dict[str, Any]) -> Answer:
    from medbench.slides import render  # as above

    facts, content = render.render(Path(request["path"]), request["longest_px"], request["normalise"])
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return facts | {"peak_rss_mb": round(peak_kb / 1024)}, content


def main() -> None:
    memory_bytes = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Whatever a library prints goes to the log, not between our answers.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    decoder = Decoder()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        _allow(request["seconds"])
        answer, content = decoder.answer(request)
        out.write(json.dumps(answer | {"bytes": len(content)}).encode() + b"\n" + content)
        out.flush()


def _allow(seconds: float) -> None:
    """So much processor time from now on; then the kernel ends this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    until = int(usage.ru_utime + usage.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
