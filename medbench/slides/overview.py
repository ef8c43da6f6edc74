"""A slide as one picture of a given size, read tile by tile so that a hole stays a hole. No Django.

The level, native or virtual, that is just large enough is read; of stored JPEGs only every second,
fourth or eighth pixel is ever computed. So a picture of 4,096 px costs a few hundred tiles and little
more memory than itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PIL import Image

from medbench.slides import geometry, proof
from medbench.slides.reader import RecentSlides, SlideFile, TileUnreadable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from medbench.slides.geometry import Level

THUMBNAIL_MAX_PX = 512
CACHE_BYTES = 64_000_000  # decoded tiles of the one file
HOLE = (128, 128, 128)  # neither tissue nor glass: where a tile cannot be read


@dataclass(frozen=True)
class Overview:
    """The picture, the level it was made from, and the share of its tiles that cannot be read."""

    picture: Image.Image
    level: int | str
    holes: float


def thumbnail(path: Path, longest_px: int = THUMBNAIL_MAX_PX) -> Image.Image:
    """The slide with its longer side at most `longest_px`, never enlarged. Raises SlideRefused, and
    TileUnreadable where not one tile of the level it is made from can be read."""
    return overview(path, longest_px, stored_of(path)).picture


def stored_of(path: Path) -> dict[int, int]:
    """The directories of those levels of a file whose stored tiles are OpenSlide's pixels."""
    with SlideFile(path) as slide:
        return geometry.directories(proof.proven(path, slide.levels))


def overview(path: Path, longest_px: int, stored: Mapping[int, int]) -> Overview:
    """As `thumbnail`. `stored` as SlideFile takes it."""
    with SlideFile(path, stored=stored) as slide:
        key = level_for(slide, longest_px)
        level = slide.level(key)
    whole, n_read = Image.new("RGB", (level.width, level.height), HOLE), 0
    with RecentSlides(1, CACHE_BYTES) as slides:
        for row in range(level.rows):
            for column in range(level.columns):
                try:
                    tile = slides.tile(path, 0, (key, column, row), stored)
                except TileUnreadable:
                    continue
                whole.paste(tile, (column * level.tile_width, row * level.tile_height))
                n_read += 1
    if not n_read:
        raise TileUnreadable("No part of this slide can be read: its image data is damaged.")
    whole.thumbnail((longest_px, longest_px), Image.Resampling.BICUBIC, reducing_gap=None)
    return Overview(whole, key, 1 - n_read / (level.columns * level.rows))


def level_for(slide: SlideFile, side_px: int) -> int | str:
    """The coarsest level that need not be enlarged to `side_px`, else the finest."""
    levels: dict[int | str, Level] = dict(enumerate(slide.levels))
    levels |= {level.name: level for level in slide.virtual_levels}
    enough = [key for key, level in levels.items() if max(level.width, level.height) >= side_px]
    return max(enough, key=lambda key: levels[key].downsample, default=0)
