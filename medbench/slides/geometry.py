"""Where the tiles of a slide lie: levels, grids, units. Arithmetic only: no pixels, no Django.

Level 0 is full resolution; the others follow in the order of the file. Names carry their plane:
`_l0_px` pixels of level 0, `_l_px` pixels of the level at hand, `_um` micrometres; all start at the
top left corner of the slide.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

# Whole-slide scanners work between 1x (10 µm/px) and 100x (0.1 µm/px, less with doublers). What
# lies outside is a default of other software: 72 dpi reads as 352.8 µm/px.
MPP_MIN_UM, MPP_MAX_UM = 0.05, 10.0
OBJECTIVE_MIN, OBJECTIVE_MAX = 0.5, 150.0

# A file's own tile is also one request of the browser, unless it is a strip (NDPI: 3968 x 8), a
# postage stamp (a request for each nucleus) or a poster (megabytes for one corner).
TILE_MIN_PX, TILE_MAX_PX = 64, 2048
TILE_DEFAULT_PX = 512

# Levels that a file leaves out are composed from the next finer one, by 2, 4 or 8: the scales at which
# a JPEG is cheap to decode small. None where the file's own level is nearer than 1.5.
VIRTUAL_FACTORS = (2, 4, 8)
VIRTUAL_GAP = 1.5
OVERVIEW_MAX_PX = 1024  # the coarsest level is at most so long where virtual levels can make it so

SAME_PX = 1e-3  # of level 0: what OpenSlide's factors of whole numbers may be off by
VIRTUAL = "virtual"  # composed, so no stored tile could be sent
PASSTHROUGH_NOT_BUILT = "decoded"  # every tile is decoded and encoded again, whatever the file


class OutsideGrid(LookupError):
    """There is no such level, or no such tile in it."""


@dataclass(frozen=True)
class Level:
    """One resolution of a slide and its grid of tiles.

    `downsample` = level-0 pixels for one pixel of this level. `passthrough` says whether the stored
    tiles are sent as they are; `reason` is a short code that says why not. `stored` is where they are
    found again (`slides.stored`): {"directory": byte, "profile": byte or None}.
    """

    width: int
    height: int
    tile_width: int
    tile_height: int
    columns: int
    rows: int
    downsample: float
    passthrough: bool
    reason: str
    stored: dict[str, int | None] | None = field(default=None, kw_only=True)

    def as_dict(self) -> dict[str, Any]:
        """As in pyramid.json, `slide_info` and the slide row."""
        return asdict(self)


@dataclass(frozen=True)
class VirtualLevel(Level):
    """A level that the file does not hold. `name` ("v2") stands in addresses where native levels
    have their number; one of its tiles is `factor` x `factor` tiles of native level `source`."""

    name: str
    source: int
    factor: int


@dataclass(frozen=True)
class TileRectangle:
    """The pixels of its level that one tile shows; smaller than the grid's tile at the far edges."""

    x_l_px: int
    y_l_px: int
    width_l_px: int
    height_l_px: int


def make_level(size: tuple[int, int], downsample: float, own_tile: tuple[int, int] | None = None) -> Level:
    """A level of `size` (width, height) whose file reports tiles of `own_tile`, if it has any."""
    width, height = size
    tile_width, tile_height = tile_size(own_tile)
    return Level(
        width=width,
        height=height,
        tile_width=tile_width,
        tile_height=tile_height,
        columns=math.ceil(width / tile_width),
        rows=math.ceil(height / tile_height),
        downsample=downsample,
        passthrough=False,
        reason=PASSTHROUGH_NOT_BUILT,
    )


def virtual_levels(levels: Sequence[Level]) -> tuple[VirtualLevel, ...]:
    """The levels, finest first, that are missing between `levels` and after the last of them.

    Their downsample is exact; width and height are rounded up, so that no pixel of the source is lost.
    """
    found = []
    for source, level in enumerate(levels):
        next_downsample = levels[source + 1].downsample if source + 1 < len(levels) else math.inf
        for factor in VIRTUAL_FACTORS:
            if level.downsample * factor * VIRTUAL_GAP >= next_downsample:
                break
            is_last = source + 1 == len(levels)
            if is_last and max(level.width, level.height) * 2 <= OVERVIEW_MAX_PX * factor:
                break
            found.append(_virtual(level, source, factor))
    return tuple(found)


def _virtual(level: Level, source: int, factor: int) -> VirtualLevel:
    size = math.ceil(level.width / factor), math.ceil(level.height / factor)
    own = make_level(size, level.downsample * factor, (level.tile_width, level.tile_height))
    fields = asdict(own) | {"reason": VIRTUAL}
    return VirtualLevel(**fields, name=f"v{own.downsample:g}", source=source, factor=factor)


def directories(levels: Sequence[Level]) -> dict[int, int]:
    """Where the stored tiles of the proven ones among `levels` are found: number -> byte of the file."""
    return {
        number: at
        for number, level in enumerate(levels)
        if level.stored and (at := level.stored["directory"]) is not None
    }


def find_level(levels: Sequence[Level], virtual: Sequence[VirtualLevel], key: int | str) -> Level:
    """A native level by its number, a virtual one by its name. Raises OutsideGrid."""
    if isinstance(key, int):
        if 0 <= key < len(levels):
            return levels[key]
        raise OutsideGrid(f"This slide has {len(levels)} levels, counted from 0.")
    for level in virtual:
        if level.name == key:
            return level
    raise OutsideGrid("This slide has no virtual level of this name.")


def tile_size(own_tile: tuple[int, int] | None) -> tuple[int, int]:
    """The file's own tile size where it can be one request, else 512 x 512."""
    if own_tile is not None and all(TILE_MIN_PX <= side <= TILE_MAX_PX for side in own_tile):
        return own_tile
    return TILE_DEFAULT_PX, TILE_DEFAULT_PX


def tile_rectangle(level: Level, column: int, row: int) -> TileRectangle:
    """The pixels of tile (column, row). Raises OutsideGrid."""
    if not (0 <= column < level.columns and 0 <= row < level.rows):
        raise OutsideGrid(f"This level has {level.columns} x {level.rows} tiles, counted from 0.")
    x_l_px, y_l_px = column * level.tile_width, row * level.tile_height
    return TileRectangle(
        x_l_px,
        y_l_px,
        min(level.tile_width, level.width - x_l_px),
        min(level.tile_height, level.height - y_l_px),
    )


def l0_from_level(x_l_px: float, y_l_px: float, level: Level) -> tuple[float, float]:
    """The level-0 place of a place on `level`."""
    return x_l_px * level.downsample, y_l_px * level.downsample


def level_from_l0(x_l0_px: float, y_l0_px: float, level: Level) -> tuple[float, float]:
    """The place on `level` of a level-0 place."""
    return x_l0_px / level.downsample, y_l0_px / level.downsample


def um_from_l0(x_l0_px: float, y_l0_px: float, mpp_um: tuple[float, float]) -> tuple[float, float]:
    """Micrometres from the top left corner; `mpp_um` = micrometres per level-0 pixel along x and y."""
    return x_l0_px * mpp_um[0], y_l0_px * mpp_um[1]


def l0_from_um(x_um: float, y_um: float, mpp_um: tuple[float, float]) -> tuple[float, float]:
    """The level-0 place that lies so many micrometres from the top left corner."""
    return x_um / mpp_um[0], y_um / mpp_um[1]


def plausible_mpp(x_um: float | None, y_um: float | None) -> tuple[float, float] | None:
    """Micrometres per level-0 pixel, or None where either side is missing or no scanner makes it."""
    if x_um is None or y_um is None:
        return None
    if all(MPP_MIN_UM <= side <= MPP_MAX_UM for side in (x_um, y_um)):  # false for NaN
        return x_um, y_um
    return None


def plausible_objective(power: float | None) -> float | None:
    """The magnification of the objective, or None where there is no such objective."""
    if power is not None and OBJECTIVE_MIN <= power <= OBJECTIVE_MAX:
        return power
    return None
