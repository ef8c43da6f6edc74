"""Which levels of a slide may be sent as they are stored: those whose tiles are OpenSlide's pixels.

Registration asks once, `levels = proof.proven(path, levels)`, and keeps the answer in the slide's level
table: `passthrough`, `reason` and `stored`, which `slides.stored` needs to find the tiles again. No
Django.
"""

from __future__ import annotations

import heapq
import io
import random
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import openslide
from PIL import Image, ImageChops

from medbench.slides import colour, geometry
from medbench.slides.splice import NotStored
from medbench.slides.tiff import NotTiff, TiffFile

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from medbench.slides.geometry import Level, TileRectangle
    from medbench.slides.tiff import StoredTiles, TiledLevel

SAMPLES = 12  # tiles of a level that are compared: corners, the largest (tissue), some by chance
MAX_REGION_PX = 1 << 20  # of OpenSlide's, where a tile cannot be asked for by itself


def proven(path: Path, levels: Sequence[Level]) -> tuple[Level, ...]:
    """`levels` (OpenSlide's, finest first) with `passthrough`, `reason` and `stored` filled in.

    `reason` is "" for a level whose tiles are sent as stored, else not_tiff, damaged, not_tiled (there
    is no such level in the TIFF, or two), compression, bits, photometric, planar, orientation,
    fill_order, tile_size, profile (its colour profile is too large to send with each tile),
    sparse_below (a finer level has empty places, which OpenSlide fills from elsewhere), unproven (no
    tile could be compared) or differs. Never raises for a bad file.
    """
    try:
        with TiffFile(path) as file:
            proof = _Proof(path, file)
            return tuple(proof.level(number, level) for number, level in enumerate(levels))
    except NotTiff as error:
        reason = error.reason
    except (OSError, openslide.OpenSlideError):
        reason = "damaged"
    return tuple(replace(level, passthrough=False, reason=reason) for level in levels)


class _Proof:
    """The levels of one file in turn, the finest first."""

    def __init__(self, path: Path, file: TiffFile) -> None:
        self._path, self._file, self._tiled = path, file, file.levels()
        with openslide.OpenSlide(path) as slide:
            profile = slide._profile  # noqa: SLF001  # the only way to its bytes
        self._profile = profile if colour.srgb_transform(profile) else None
        self._base: int | None = None  # the directory of level 0
        self._is_sparse = False  # a level so far has empty places

    def level(self, number: int, level: Level) -> Level:
        try:
            stored = self._stored(number, level)
        except NotStored as why_not:
            return replace(level, passthrough=False, reason=str(why_not))
        return replace(level, passthrough=True, reason="", stored=stored)

    def _stored(self, number: int, level: Level) -> dict[str, int | None]:
        """Where the tiles of a level are found again. Raises NotStored with the reason."""
        tiled = self._directory(level)
        if number == 0:
            self._base = tiled.directory
        if tiled.reason:
            raise NotStored(tiled.reason)
        if self._is_sparse:
            raise NotStored("sparse_below")
        tiles = self._file.tiles(tiled.directory)
        sizes = tiles.sizes()
        self._is_sparse = 0 in sizes
        self._compare(number, level, tiles, sizes)
        return {"directory": tiled.directory, "profile": self._profile_directory()}

    def _directory(self, level: Level) -> TiledLevel:
        size = level.width, level.height
        same = [each for each in self._tiled if (each.width, each.height) == size]
        if len(same) != 1:
            raise NotStored("not_tiled")
        if (same[0].tile_width, same[0].tile_height) != (level.tile_width, level.tile_height):
            raise NotStored("tile_size")
        return same[0]

    def _profile_directory(self) -> int | None:
        """The directory whose colour profile goes with each tile; None where pixels are sRGB."""
        if self._profile is None:
            return None
        if self._base is None or self._file.profile(self._base) != self._profile:
            raise NotStored("profile")
        return self._base

    def _compare(self, number: int, level: Level, tiles: StoredTiles, sizes: array[int]) -> None:
        n_compared = 0
        with openslide.OpenSlide(self._path) as slide:
            for column, row in _samples(level, sizes):
                try:
                    with Image.open(io.BytesIO(tiles.tile(column, row))) as picture:
                        ours = picture.convert("RGB")
                except NotStored:
                    continue  # an empty or damaged place: the decoder answers for it
                except OSError as error:
                    raise NotStored("differs") from error
                n_compared += _is_same(ours, slide, number, level, column, row)
        if not n_compared:
            raise NotStored("unproven")


def _is_same(
    ours: Image.Image, slide: openslide.OpenSlide, number: int, level: Level, column: int, row: int
) -> bool:
    """Whether OpenSlide has pixels of this tile; NotStored where they are others than `ours`."""
    place = geometry.tile_rectangle(level, column, row)
    try:
        theirs = _region(slide, number, level, place)
    except openslide.OpenSlideError as error:
        raise NotStored("differs") from error
    solid = theirs.getchannel("A").point(lambda alpha: 255 * (alpha == 255)).getbbox()
    # Where a level is no whole fraction of level 0, its last pixels lie partly beyond the edge.
    if (
        solid is None
        or solid[:2] != (0, 0)
        or min(place.width_l_px - solid[2], place.height_l_px - solid[3]) > 1
    ):
        return False
    difference = ImageChops.difference(ours.crop(solid), theirs.convert("RGB").crop(solid))
    if difference.getbbox() is not None:
        raise NotStored("differs")
    return True


def _region(slide: openslide.OpenSlide, number: int, level: Level, place: TileRectangle) -> Image.Image:
    """OpenSlide's pixels (RGBA) of a place on a level, without resampling."""
    left, top, size = place.x_l_px, place.y_l_px, (place.width_l_px, place.height_l_px)
    if _is_whole(left * level.downsample) and _is_whole(top * level.downsample):
        corner = round(left * level.downsample), round(top * level.downsample)
        return slide.read_region(corner, number, size)
    # Places are asked for in whole pixels of level 0. This one has none, but the corner of the slide has.
    right, bottom = left + size[0], top + size[1]
    return slide.read_region((0, 0), number, (right, bottom)).crop((left, top, right, bottom))


def _samples(level: Level, sizes: array[int]) -> Iterator[tuple[int, int]]:
    """The tiles to compare, at most SAMPLES: the same for the same level."""
    chance = random.Random(len(sizes))  # noqa: S311  # a sample, no secret
    largest = heapq.nlargest(SAMPLES // 3, range(len(sizes)), key=sizes.__getitem__)
    corners = [0, level.columns - 1, level.columns * (level.rows - 1), level.columns * level.rows - 1]
    near = [
        row * level.columns + column
        for row in range(min(4, level.rows))
        for column in range(min(4, level.columns))
    ]
    others = [chance.randrange(len(sizes)) for _ in range(SAMPLES)]
    numbers = dict.fromkeys([*corners, *largest, *others, *near])
    places = ((number % level.columns, number // level.columns) for number in numbers)
    return islice((place for place in places if _can_be_asked_for(level, *place)), SAMPLES)


def _can_be_asked_for(level: Level, column: int, row: int) -> bool:
    left, top = column * level.tile_width, row * level.tile_height
    if _is_whole(left * level.downsample) and _is_whole(top * level.downsample):
        return True
    return (left + level.tile_width) * (top + level.tile_height) <= MAX_REGION_PX


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-6
