"""The tiles of a TIFF exactly where the file has them, through tifffile and imagecodecs. No Django.

For levels whose size is no whole fraction of level 0 (a factor of 2.0005): OpenSlide is asked for
places in pixels of level 0 and answers between the pixels there.
"""

from __future__ import annotations

import logging
import threading
from itertools import islice
from typing import TYPE_CHECKING, Self

import numpy as np
import tifffile
from PIL import Image, ImageChops

if TYPE_CHECKING:
    from pathlib import Path

    from medbench.slides.geometry import Level

RGB, JPEG_2000_YCBCR = 2, 33003
MOST_PAGES = 64  # tifffile follows a chain of directories that is a loop for ever
SAME = 2  # two decoders of JPEG 2000 may differ by a rounding step or two; a mistaken colour by 50
logging.getLogger("tifffile").setLevel(logging.CRITICAL)  # it complains of every odd tag


class ExactTiles:
    """The tiles of one directory of an open TIFF."""

    def __init__(self, tiff: tifffile.TiffFile, page: tifffile.TiffPage) -> None:
        self._tiff, self._page = tiff, page
        self._lock = threading.Lock()  # one file handle, one place in it

    @classmethod
    def open(cls, path: Path, level: Level, first: Image.Image | None) -> Self | None:
        """The tiles of `level`, whose tile (0, 0) is `first` by OpenSlide, None where it is damaged.

        None where the TIFF has no such level, or other pixels; without a first tile to compare, where
        its colours need a conversion that might not be OpenSlide's.
        """
        try:
            tiff = tifffile.TiffFile(path)
        except (OSError, ValueError, tifffile.TiffFileError):
            return None
        shape = level.height, level.width, level.tile_height, level.tile_width
        for page in (each.aspage() for each in islice(tiff.pages, MOST_PAGES)):
            if _shape(page) == shape:
                tiles = cls(tiff, page)
                if first is None:
                    if page.photometric == RGB and page.compression != JPEG_2000_YCBCR:
                        return tiles
                elif (own := tiles.tile(0, 0)) and _is_same(own.crop((0, 0, *first.size)), first):
                    return tiles
        tiff.close()
        return None

    def tile(self, column: int, row: int) -> Image.Image | None:
        """One whole tile as RGB; None where it is empty, or nothing that is RGB."""
        page = self._page
        number = row * (-(-page.imagewidth // page.tilewidth)) + column
        if number >= min(len(page.dataoffsets), len(page.databytecounts)) or not page.databytecounts[number]:
            return None
        with self._lock:
            self._tiff.filehandle.seek(page.dataoffsets[number])
            content = self._tiff.filehandle.read(page.databytecounts[number])
        try:
            pixels = page.decode(content, number, jpegtables=page.jpegtables)[0]
        except Exception:  # noqa: BLE001  # decoders of a dozen kinds, each with errors of its own
            return None
        if pixels is None or pixels.dtype != np.uint8 or pixels.shape[-1] != 3:
            return None
        return Image.fromarray(pixels.reshape(pixels.shape[-3:]))

    def close(self) -> None:
        self._tiff.close()


def _shape(page: tifffile.TiffPage) -> tuple[int, ...]:
    return (page.imagelength, page.imagewidth, page.tilelength, page.tilewidth) if page.is_tiled else ()


def _is_same(one: Image.Image, other: Image.Image) -> bool:
    return max(ImageChops.difference(one, other).tobytes()) <= SAME
