"""A slide as one PNG: choose the level for the size, make it smaller, bring it to one colour. No Django.

The first step of the making of a benchmark (MedInsightBench, section 3).
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medbench.slides import overview, probe, stains

if TYPE_CHECKING:
    from PIL import Image

PNG_LEVEL = 3  # 6, the default, takes three times as long for 4 % fewer bytes


def render(path: Path, longest_px: int, normalise: str) -> tuple[dict[str, Any], bytes]:
    """The picture as PNG and {width, height, level_used}. Raises SlideRefused, TileUnreadable."""
    with tempfile.TemporaryDirectory() as folder:
        served = probe.open_slide(path, Path(folder) / "pyramid.tif").served
        made = overview.overview(served, longest_px, overview.stored_of(served))
    picture = stains.normalise(made.picture, normalise)
    return {"width": picture.width, "height": picture.height, "level_used": made.level}, _png(picture)


def _png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=PNG_LEVEL)
    return buffer.getvalue()
