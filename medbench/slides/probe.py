"""Looks at one slide file in a process of its own: `python -m medbench.slides.probe PATH`.

A hostile file may crash the decoder, fill the memory or never end. Here that ends this process and
nothing else; `services` reads the one JSON object on standard output. No Django.
"""

from __future__ import annotations

import argparse
import base64
import json
import resource
import sys
from pathlib import Path
from typing import Any

from medbench.slides import colour, overview
from medbench.slides.reader import SlideFile, SlideRefused, TileUnreadable

SECONDS = 60  # of processor time here; the parent allows as many of the clock
MEMORY_BYTES = 2_000_000_000


def look(path: Path, *, with_thumbnail: bool) -> dict[str, Any]:
    """What `slide_info` answers (contract, section 2), and the thumbnail as base64 JPEG if wanted."""
    try:
        found = _facts(path)
        picture = overview.thumbnail(path)
    except TileUnreadable as error:
        return refusal("unreadable", error.message)
    except SlideRefused as error:
        return refusal(error.code, error.message)
    except MemoryError:
        return refusal("too_costly", "Reading this file takes more memory than a slide may.")
    if with_thumbnail:
        found["thumbnail"] = base64.b64encode(colour.jpeg(picture)).decode()
    return found


def _facts(path: Path) -> dict[str, Any]:
    with SlideFile(path) as slide:
        return {
            "vendor": slide.vendor,
            "width": slide.width,
            "height": slide.height,
            "mpp": slide.mpp,
            "objective": slide.objective,
            "levels": [level.as_dict() for level in slide.levels],
            "refused": None,
        }


def refusal(code: str, message: str) -> dict[str, Any]:
    """The same keys for a file that is not served."""
    return {
        "vendor": None,
        "width": None,
        "height": None,
        "mpp": None,
        "objective": None,
        "levels": [],
        "refused": {"code": code, "message": message},
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="medbench.slides.probe")
    parser.add_argument("path", type=Path)
    parser.add_argument("--thumbnail", action="store_true")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    json.dump(look(arguments.path, with_thumbnail=arguments.thumbnail), sys.stdout)


if __name__ == "__main__":
    main()
