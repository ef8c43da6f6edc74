"""Open slide files and read tiles: the only module that talks to OpenSlide. No Django.

Of all that a file says about itself only what `SlideFile` names is ever read: never its label or
macro picture, never its free properties (they hold names, dates and barcodes).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import openslide
from openslide import OpenSlideError, OpenSlideUnsupportedFormatError

from medbench.errors import InvalidInput, MedBenchError
from medbench.slides import colour, geometry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PIL import Image

POOL_HANDLES = 32  # open files of one process; each costs a few MB for its index
CACHE_BYTES = 64_000_000  # decoded tiles, shared by all handles: alone, each would keep 32 MB
MAX_SIDE_PX = 4_000_000
MAX_COARSEST_PX = 100_000_000  # a browser shows a whole slide from its coarsest level


class SlideRefused(InvalidInput):
    """The file cannot be served as a slide. `code` says why, `message` what to do."""

    code = "slide_refused"


class TileUnreadable(MedBenchError):
    """The slide is fine, this tile is not: its bytes are damaged or gone."""

    code = "tile_unreadable"
    status = 410


class SlideFile:
    """One open slide.

    Reading is thread-safe. OpenSlide latches the first error: after a TileUnreadable every later
    read of this object fails too, so it must be closed and the file opened again.
    """

    def __init__(self, path: Path, cache: openslide.OpenSlideCache | None = None) -> None:
        self._path = path
        self._slide = _open(path)
        try:
            if cache is not None:
                self._slide.set_cache(cache)
            self._read_facts()
        except BaseException:
            self.close()
            raise

    def _read_facts(self) -> None:
        slide, value = self._slide, self._slide.properties.get
        self.vendor: str = value(openslide.PROPERTY_NAME_VENDOR, "")
        self.width, self.height = slide.dimensions
        self.levels = tuple(
            geometry.make_level(size, slide.level_downsamples[number], self._own_tile(number))
            for number, size in enumerate(slide.level_dimensions)
        )
        self.mpp = geometry.plausible_mpp(
            _number(value(openslide.PROPERTY_NAME_MPP_X)), _number(value(openslide.PROPERTY_NAME_MPP_Y))
        )
        self.objective = geometry.plausible_objective(_number(value(openslide.PROPERTY_NAME_OBJECTIVE_POWER)))
        self._background = _rgb(value(openslide.PROPERTY_NAME_BACKGROUND_COLOR))
        self._transform = colour.srgb_transform(slide._profile)  # noqa: SLF001  # the only way to its bytes
        _check_size(self)

    def _own_tile(self, number: int) -> tuple[int, int] | None:
        value = self._slide.properties.get
        width = _number(value(f"openslide.level[{number}].tile-width"))
        height = _number(value(f"openslide.level[{number}].tile-height"))
        return (int(width), int(height)) if width and height else None

    def tile(self, level_number: int, column: int, row: int) -> Image.Image:
        """The pixels of one tile as RGB in sRGB. Raises geometry.OutsideGrid, TileUnreadable."""
        if not 0 <= level_number < len(self.levels):
            raise geometry.OutsideGrid(f"This slide has {len(self.levels)} levels, counted from 0.")
        level = self.levels[level_number]
        place = geometry.tile_rectangle(level, column, row)
        x_l0_px, y_l0_px = geometry.l0_from_level(place.x_l_px, place.y_l_px, level)
        try:
            region = self._slide.read_region(
                (round(x_l0_px), round(y_l0_px)), level_number, (place.width_l_px, place.height_l_px)
            )
        except OpenSlideError as error:
            raise TileUnreadable("This part of the slide cannot be read: its data is damaged.") from error
        picture = colour.on_background(region, self._background)
        return self._transform.apply(picture) if self._transform else picture

    def close(self) -> None:
        self._slide.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open(path: Path) -> openslide.OpenSlide:
    if not path.is_file():
        raise SlideRefused("There is no such file.", code="file_missing")
    try:
        return openslide.OpenSlide(path)
    except OpenSlideUnsupportedFormatError as error:
        raise SlideRefused(
            "OpenSlide does not know this kind of file. Convert it to a tiled pyramid, for example a "
            "pyramidal TIFF, and register it again.",
            code="unsupported_format",
        ) from error
    except OpenSlideError as error:
        raise SlideRefused(
            f"OpenSlide knows the format but cannot open this file: {_reason(error, path)}. "
            "Export it again, or convert it to a pyramidal TIFF.",
            code="unopenable",
        ) from error


def _reason(error: OpenSlideError, path: Path) -> str:
    """OpenSlide's own words without name and place of the file: annotators may read them."""
    words = str(error).replace(f"Reading {path}: ", "").replace(str(path), "the file")
    words = words.replace(str(path.parent), "its folder").replace(path.name, "the file")
    return " ".join(words.split())[:200].rstrip(".")


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def _rgb(text: str | None) -> tuple[int, int, int]:
    """OpenSlide writes the background as six hexadecimal digits; white where it says nothing."""
    try:
        red, green, blue = bytes.fromhex(text or "")
    except ValueError:
        return colour.WHITE
    return red, green, blue


def _check_size(slide: SlideFile) -> None:
    coarsest = slide.levels[-1]
    if max(slide.width, slide.height) > MAX_SIDE_PX:
        raise SlideRefused(
            f"The file says it is {slide.width:,} x {slide.height:,} pixels. No slide is that large.",
            code="too_large",
        )
    if coarsest.width * coarsest.height > MAX_COARSEST_PX:
        raise SlideRefused(
            f"The smallest level of the file is {coarsest.width:,} x {coarsest.height:,} pixels, too "
            "large to show the whole slide. Convert it to a pyramid with smaller levels.",
            code="no_overview",
        )


@dataclass
class _Shelf:
    """An open file of the pool and how many readers are at it."""

    slide: SlideFile
    readers: int = 0
    retired: bool = False  # out of the pool: closed after its last reader


class ReaderPool:
    """A bounded number of open slides, least recently used closed first, one per (path, revision).

    A retired handle lives until its last reader has left, so the bound may be passed for a moment.
    """

    def __init__(self, handles: int = POOL_HANDLES, cache_bytes: int = CACHE_BYTES) -> None:
        self._handles = handles
        self._cache = openslide.OpenSlideCache(cache_bytes)
        self._shelves: OrderedDict[tuple[Path, int], _Shelf] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def borrow(self, path: Path, revision: int) -> Iterator[SlideFile]:
        """An open SlideFile for the time of the block. Raises SlideRefused.

        A TileUnreadable that leaves the block retires the handle: it is dead for everyone.
        """
        key = (path, revision)
        shelf = self._take(key) or self._add(key, SlideFile(path, self._cache))
        try:
            yield shelf.slide
        except TileUnreadable:
            self._retire(key, shelf)
            raise
        finally:
            self._leave(shelf)

    def tile(self, path: Path, revision: int, level: int, column: int, row: int) -> Image.Image:
        """One tile as RGB. Raises SlideRefused, geometry.OutsideGrid, TileUnreadable."""
        try:
            with self.borrow(path, revision) as slide:
                return slide.tile(level, column, row)
        except TileUnreadable:
            # Another reader's bad tile may have killed the shared handle. One of our own decides.
            with SlideFile(path) as slide:
                return slide.tile(level, column, row)

    def __len__(self) -> int:
        """Handles open now and not retired."""
        return len(self._shelves)

    def _take(self, key: tuple[Path, int]) -> _Shelf | None:
        with self._lock:
            shelf = self._shelves.get(key)
            if shelf is not None:
                self._shelves.move_to_end(key)
                shelf.readers += 1
            return shelf

    def _add(self, key: tuple[Path, int], slide: SlideFile) -> _Shelf:
        """Files are opened outside the lock: where two opened the same one, the first stays."""
        idle: list[SlideFile] = []
        with self._lock:
            shelf = self._shelves.setdefault(key, _Shelf(slide))
            shelf.readers += 1
            if shelf.slide is not slide:
                idle.append(slide)
            while len(self._shelves) > self._handles:
                _, oldest = self._shelves.popitem(last=False)
                oldest.retired = True
                if not oldest.readers:
                    idle.append(oldest.slide)
        for each in idle:
            each.close()
        return shelf

    def _retire(self, key: tuple[Path, int], shelf: _Shelf) -> None:
        with self._lock:
            shelf.retired = True
            if self._shelves.get(key) is shelf:
                del self._shelves[key]

    def _leave(self, shelf: _Shelf) -> None:
        with self._lock:
            shelf.readers -= 1
            last = shelf.retired and not shelf.readers
        if last:
            shelf.slide.close()
