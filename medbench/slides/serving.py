"""Stored tiles as HTTP answers: the one function behind the WSGI wrapper and the middleware.

It asks no database. A view that has just read a slide remembers its level table here for three seconds,
and only whoever holds a token is answered from memory. All other requests, an expired memory and every
tile that the file does not hold as a JPEG among them, are answered None: the view then asks as any page
does. So a slide that is withdrawn is gone within three seconds in every process, and no refusal is made
here.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from django.utils.http import parse_etags

from medbench.slides import child, geometry, services, tokens
from medbench.slides.geometry import Level, VirtualLevel
from medbench.slides.reader import SlideRefused
from medbench.slides.splice import SPLICE
from medbench.slides.stored import Identity, StoredSlides, identify

if TYPE_CHECKING:
    from collections.abc import Mapping

    from medbench.slides.models import Slide

RECENT_SECONDS = 3.0
RECENT_SLIDES = 1_000

# A tile's address never changes its pixels: other content is another revision.
FOR_EVER = "private, max-age=31536000, immutable"
HEADERS = {
    "Cache-Control": FOR_EVER,
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}

ADDRESS = re.compile(
    r"/slides/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
    r"/tiles/([0-9]{1,9})/([0-9]{1,3})/([0-9]{1,9})_([0-9]{1,9})\.jpg"
)

NO_FILE = Identity("", 0, 0, 0, 0)
files = StoredSlides()
_recent: dict[str, _Recent] = {}


class Place(NamedTuple):
    """A tile as its address says it; virtual levels have a name instead of a number."""

    slide_id: str
    revision: int
    level: int | str
    column: int
    row: int


class Answer(NamedTuple):
    status: int  # 200 or 304
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class _Recent:
    """What a slide said when it was last read from the database."""

    read_at: float
    revision: int
    sha256: str
    file: Identity
    levels: list[dict[str, Any]]

    def stored(self, place: Place) -> dict[str, Any] | None:
        """Where the tiles of the level of `place` are stored; None outside the grid, and for levels
        whose tiles are decoded."""
        if isinstance(place.level, str) or place.level >= len(self.levels):
            return None
        level = self.levels[place.level]
        is_inside = place.column < level["columns"] and place.row < level["rows"]
        return level.get("stored") if is_inside else None


def remember(slide: Slide) -> None:
    """Answer tiles of `slide`, just read from the database, from memory for three seconds."""
    if len(_recent) >= RECENT_SLIDES:
        _recent.clear()
    levels = slide.levels if slide.is_ready else []
    _recent[str(slide.pk)] = _Recent(time.time(), slide.revision, slide.sha256, _file(slide), levels)


def _file(slide: Slide) -> Identity:
    try:
        file = identify(str(services.served(slide)))
        services.served(slide)  # so the file that was identified is the one that was registered
    except (SlideRefused, OSError):
        return NO_FILE
    return file


def requested(environ: Mapping[str, Any]) -> Answer | None:
    """The answer to a WSGI request if it is for a stored tile and holds a token for the slide."""
    is_head = environ["REQUEST_METHOD"] == "HEAD"
    address = ADDRESS.fullmatch(environ["PATH_INFO"])
    if address is None or not (is_head or environ["REQUEST_METHOD"] == "GET"):
        return None
    slide_id, *numbers = address.groups()
    if not tokens.is_held(environ, slide_id):
        return None
    answer = tile(environ, Place(slide_id, *map(int, numbers)))
    return answer._replace(body=b"") if answer and is_head else answer


def tile(environ: Mapping[str, Any], place: Place) -> Answer | None:
    """The stored tile for whoever was found to be allowed to see the slide; None where there is none."""
    slide = _recently(place)
    stored = slide.stored(place) if slide else None
    if slide is None or stored is None:
        return None
    etag = _etag(slide.sha256, place)
    if _has(environ, etag):
        return Answer(304, HEADERS | {"ETag": etag}, b"")
    try:
        body = files.tile(slide.file, stored, place.column, place.row)
    except (LookupError, OSError):
        return None
    more = {"ETag": etag, "Content-Type": "image/jpeg", "Content-Length": str(len(body))}
    return Answer(200, HEADERS | more, body)


def tile_of_file(path: Path, level: int | str, column: int, row: int) -> tuple[bytes, bool, str]:
    """What the server would send for a tile of the file at `path`, were it registered: the JPEG, whether
    it is as stored, and its ETag.

    Raises SlideRefused, TileUnreadable, OutsideGrid.
    """
    with TemporaryDirectory() as folder:
        pyramid = Path(folder) / "pyramid.tif"
        found = child.look(path, pyramid=pyramid)
        if refused := found["refused"]:
            raise SlideRefused(refused["message"], code=refused["code"])
        native = [Level(**each) for each in found["levels"]]
        virtual = [VirtualLevel(**each) for each in found["virtual_levels"]]
        grid = geometry.find_level(native, virtual, level)
        geometry.tile_rectangle(grid, column, row)  # is there such a tile?
        served = pyramid if found["converted"] else path
        sha256 = services.sha256_of(path)
        if grid.stored:
            with suppress(LookupError):
                content = files.tile(identify(str(served)), grid.stored, column, row)
                return content, True, _etag(sha256, Place("", 0, level, column, row))
        content = services.decode(served, found["levels"], level, column, row)
        return content, False, services.tile_etag(sha256, level, column, row)


def _etag(sha256: str, place: Place) -> str:
    """Of a stored tile; decoded ones have services.tile_etag."""
    return f'"{sha256[:16]}-{place.level}-{place.column}-{place.row}-{SPLICE}"'


def _recently(place: Place) -> _Recent | None:
    """The slide as it was read less than three seconds ago, if that is the revision asked for."""
    slide = _recent.get(place.slide_id)
    if slide is None or slide.revision != place.revision:
        return None
    # A clock that was put back makes all of them old.
    return slide if 0 <= time.time() - slide.read_at < RECENT_SECONDS else None


def _has(environ: Mapping[str, Any], etag: str) -> bool:
    """Whether the browser has the picture already (RFC 9110, If-None-Match; weak comparison)."""
    said = environ.get("HTTP_IF_NONE_MATCH")
    if not said:
        return False
    return "*" in (tags := parse_etags(said)) or etag in (tag.removeprefix("W/") for tag in tags)
