"""Open slide files and read tiles: the only module that talks to OpenSlide. No Django.

Of all that a file says about itself only what `SlideFile` names is ever read: never its label or
macro picture, never its free properties (they hold names, dates and barcodes).
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, Self

import openslide
from openslide import OpenSlideError, OpenSlideUnsupportedFormatError
from PIL import Image

from medbench.errors import InvalidInput, MedBenchError
from medbench.slides import colour, geometry
from medbench.slides.exact import ExactTiles
from medbench.slides.geometry import VirtualLevel
from medbench.slides.splice import NotStored
from medbench.slides.tiff import NotTiff, TiffFile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from medbench.slides.geometry import Level, TileRectangle
    from medbench.slides.tiff import StoredTiles

GRID_VENDORS = ("aperio", "generic-tiff")  # their tiles lie where the TIFF says
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

    `stored` = {number of a level: byte of its directory} for levels proven to be OpenSlide's pixels
    (slides.proof): their JPEGs are decoded small where a small picture is wanted.

    Reading is thread-safe. OpenSlide latches the first error: after a TileUnreadable every later
    read of this object fails too, so it must be closed and the file opened again.
    """

    def __init__(
        self,
        path: Path,
        cache: openslide.OpenSlideCache | None = None,
        stored: Mapping[int, int] | None = None,
    ) -> None:
        self._path = path
        self._exact: dict[int, ExactTiles | None] = {}
        self._tiff: TiffFile | None = None
        self._stored: dict[int, StoredTiles] = {}
        self._slide = _open(path)
        try:
            if cache is not None:
                self._slide.set_cache(cache)
            self._read_facts()
            if stored:
                self.use_stored(stored)
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
        self.virtual_levels = geometry.virtual_levels(self.levels)
        self.mpp = geometry.plausible_mpp(
            _number(value(openslide.PROPERTY_NAME_MPP_X)), _number(value(openslide.PROPERTY_NAME_MPP_Y))
        )
        self.objective = geometry.plausible_objective(_number(value(openslide.PROPERTY_NAME_OBJECTIVE_POWER)))
        self.bounds = self._bounds()
        self._background = _rgb(value(openslide.PROPERTY_NAME_BACKGROUND_COLOR))
        self.profile: bytes | None = slide._profile  # noqa: SLF001  # the only way to its bytes
        self._transform = colour.srgb_transform(self.profile)
        _check_size(self)

    def _bounds(self) -> tuple[int, int, int, int] | None:
        """x, y, width and height of what was scanned, where the file says them and they can be."""
        names = (
            openslide.PROPERTY_NAME_BOUNDS_X,
            openslide.PROPERTY_NAME_BOUNDS_Y,
            openslide.PROPERTY_NAME_BOUNDS_WIDTH,
            openslide.PROPERTY_NAME_BOUNDS_HEIGHT,
        )
        said = [_number(self._slide.properties.get(name)) for name in names]
        x, y, width, height = (int(each) if each is not None and each.is_integer() else -1 for each in said)
        is_inside = 0 <= x < x + width <= self.width and 0 <= y < y + height <= self.height
        return (x, y, width, height) if is_inside else None

    def _own_tile(self, number: int) -> tuple[int, int] | None:
        value = self._slide.properties.get
        width = _number(value(f"openslide.level[{number}].tile-width"))
        height = _number(value(f"openslide.level[{number}].tile-height"))
        return (int(width), int(height)) if width and height else None

    def use_stored(self, directories: Mapping[int, int]) -> None:
        """Take stored JPEGs for small pictures of these levels. Raises TileUnreadable where they are gone."""
        try:
            self._tiff = self._tiff or TiffFile(self._path)
            self._stored = {number: self._tiff.tiles(at) for number, at in directories.items()}
        except (NotTiff, NotStored, OSError) as error:
            raise TileUnreadable("The slide's file is not the one that was registered.") from error

    def level(self, key: int | str) -> Level:
        """A native level by number, a virtual one by name. Raises geometry.OutsideGrid."""
        return geometry.find_level(self.levels, self.virtual_levels, key)

    def tile(self, key: int | str, column: int, row: int) -> Image.Image:
        """The pixels of one tile as RGB in sRGB. Raises geometry.OutsideGrid, TileUnreadable."""
        level = self.level(key)
        place = geometry.tile_rectangle(level, column, row)
        if isinstance(level, VirtualLevel):
            picture = self._compose(level, column, row, place)
        else:
            picture = self._read(self.levels.index(level), place)
        return self._transform.apply(picture) if self._transform else picture

    def _compose(self, level: VirtualLevel, column: int, row: int, place: TileRectangle) -> Image.Image:
        """A tile of a virtual level out of those of its source, before conversion to sRGB."""
        source, factor = self.levels[level.source], level.factor
        picture = Image.new("RGB", (place.width_l_px, place.height_l_px), colour.WHITE)
        for down in range(min(factor, source.rows - row * factor)):
            for right in range(min(factor, source.columns - column * factor)):
                part = self._small(level, column * factor + right, row * factor + down)
                left = right * source.tile_width // factor
                picture.paste(part, (left, down * source.tile_height // factor))
        return picture

    def _small(self, level: VirtualLevel, column: int, row: int) -> Image.Image:
        """A tile of the source of `level` at 1/factor."""
        source, factor = self.levels[level.source], level.factor
        place = geometry.tile_rectangle(source, column, row)
        size = source.tile_width // factor, source.tile_height // factor
        is_whole = (place.width_l_px, place.height_l_px) == (size[0] * factor, size[1] * factor)
        if is_whole and level.source in self._stored:
            # What is no JPEG, or a damaged one, is OpenSlide's to judge.
            with suppress(NotStored, OSError, ValueError):
                return colour.decode_small(self._stored[level.source].tile(column, row), size)
        return self._read(level.source, place).reduce(factor)

    def _read(self, number: int, place: TileRectangle) -> Image.Image:
        """The pixels of a place on a native level, as the file has them."""
        level = self.levels[number]
        corner = geometry.l0_from_level(place.x_l_px, place.y_l_px, level)
        start = round(corner[0]), round(corner[1])
        # OpenSlide is asked in whole pixels of level 0. Where a tile does not begin at one, it would
        # answer up to half of one beside it, and resampled; a TIFF's own tile is exact.
        if max(abs(corner[0] - start[0]), abs(corner[1] - start[1])) > geometry.SAME_PX:
            exact = self._exact_tiles(number)
            picture = exact and exact.tile(
                place.x_l_px // level.tile_width, place.y_l_px // level.tile_height
            )
            if picture:
                return picture.crop((0, 0, place.width_l_px, place.height_l_px))
        try:
            region = self._slide.read_region(start, number, (place.width_l_px, place.height_l_px))
        except OpenSlideError as error:
            raise TileUnreadable("This part of the slide cannot be read: its data is damaged.") from error
        return colour.on_background(region, self._background)

    def _exact_tiles(self, number: int) -> ExactTiles | None:
        """The tiles of a TIFF's level as the file has them; None where they are not OpenSlide's."""
        if number not in self._exact:
            level = self.levels[number]
            self._exact[number] = None
            if self.vendor in GRID_VENDORS:
                first = None
                # By another handle: where the first tile is damaged, it must not kill this one.
                with suppress(TileUnreadable), SlideFile(self._path) as other:
                    first = other._read(number, geometry.tile_rectangle(level, 0, 0))
                self._exact[number] = ExactTiles.open(self._path, level, first)
        return self._exact[number]

    def close(self) -> None:
        self._slide.close()
        if self._tiff is not None:
            self._tiff.close()
            self._tiff = None
        for exact in self._exact.values():
            if exact is not None:
                exact.close()
        self._exact.clear()

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


class RecentSlides:
    """The slides that were read last, kept open: a bounded number, for one thread."""

    def __init__(self, handles: int, cache_bytes: int) -> None:
        """`cache_bytes` of decoded tiles are shared by all: alone, each would keep 32 MB."""
        self._handles = handles
        self._cache = openslide.OpenSlideCache(cache_bytes)
        self._open: OrderedDict[tuple[Path, int], SlideFile] = OrderedDict()

    def tile(
        self,
        path: Path,
        revision: int,
        place: tuple[int | str, int, int],
        stored: Mapping[int, int] | None = None,
    ) -> Image.Image:
        """The tile at `place` (level, column, row) as RGB. Raises as SlideFile does; a file of which
        a tile was unreadable is opened again for the next one."""
        key = (path, revision)
        slide = self._open.pop(key, None) or SlideFile(path, self._cache, stored)
        try:
            picture = slide.tile(*place)
        except BaseException:
            slide.close()
            raise
        self._open[key] = slide
        if len(self._open) > self._handles:
            self._open.popitem(last=False)[1].close()
        return picture

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Slides open now."""
        return len(self._open)
