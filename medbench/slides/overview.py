"""The whole slide as one small picture, read tile by tile so that a hole stays a hole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PIL import Image

from medbench.slides import geometry
from medbench.slides.reader import ReaderPool, TileUnreadable

if TYPE_CHECKING:
    from pathlib import Path

    from medbench.slides.geometry import Level, TileRectangle

THUMBNAIL_MAX_PX = 512
HOLE = (128, 128, 128)  # neither tissue nor glass: where a tile cannot be read


def thumbnail(path: Path, longest_px: int = THUMBNAIL_MAX_PX) -> Image.Image:
    """The slide with its longer side at most `longest_px`, never enlarged. Raises SlideRefused, and
    TileUnreadable where not one tile of the level it is made from can be read."""
    pool = ReaderPool(handles=1)
    with pool.borrow(path, 0) as slide:
        number = _level_for(slide.levels, longest_px)
        level = slide.levels[number]
    scale = min(1.0, longest_px / max(level.width, level.height))
    size = max(1, round(level.width * scale)), max(1, round(level.height * scale))
    picture, tiles_read = Image.new("RGB", size, HOLE), 0
    for row in range(level.rows):
        for column in range(level.columns):
            try:
                tile = pool.tile(path, 0, number, column, row)
            except TileUnreadable:
                continue
            _paste(picture, tile, geometry.tile_rectangle(level, column, row), scale)
            tiles_read += 1
    if not tiles_read:
        raise TileUnreadable("No part of this slide can be read: its image data is damaged.")
    return picture


def _level_for(levels: tuple[Level, ...], side_px: int) -> int:
    """The coarsest level that need not be enlarged to `side_px`, else the finest."""
    enough = [number for number, level in enumerate(levels) if max(level.width, level.height) >= side_px]
    return enough[-1] if enough else 0


def _paste(picture: Image.Image, tile: Image.Image, place: TileRectangle, scale: float) -> None:
    left, top = round(place.x_l_px * scale), round(place.y_l_px * scale)
    right = round((place.x_l_px + place.width_l_px) * scale)
    bottom = round((place.y_l_px + place.height_l_px) * scale)
    if right > left and bottom > top:
        picture.paste(tile.resize((right - left, bottom - top), Image.Resampling.BOX), (left, top))
