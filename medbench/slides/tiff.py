"""Tiled JPEG TIFFs (TIFF, BigTIFF, SVS, OME-TIFF): their levels, and their stored tiles. No Django.

    with TiffFile(path) as file:
        levels = file.levels()
        jpeg = file.tiles(levels[0].directory).tile(column, row)

A file is read by its directories alone, whatever it claims: each count and offset is held against the
size of the file and the bounds below, so that a hostile one costs milliseconds and is refused. The
table of tiles stays in the file (two small reads a tile), so opening costs the same for five thousand
tiles and for half a million. TIFF 6.0, its Technical Note 2 (JPEG) and the BigTIFF layout.

Which levels of a *slide* are sent this way is decided at registration: `slides.proof.prove`.
"""

from __future__ import annotations

import os
import struct
import sys
from array import array
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

from medbench.slides import splice
from medbench.slides.splice import NotStored

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

MAX_DIRECTORIES = 256
MAX_TAGS = 512  # of one directory; real ones have about 20
MAX_SIDE_PX = 65_500  # of a tile: what a JPEG can be
MAX_TABLES_BYTES = 65_536
MAX_TILE_BYTES = 8 << 20
MAX_INDEX_BYTES = 64 << 20  # 8 million tiles
MAX_PROFILE_BYTES = 4_096  # sent with each tile: a larger one costs more than the tile

WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC, FILL_ORDER = 256, 257, 258, 259, 262, 266
ORIENTATION, SAMPLES, PLANAR, TILE_WIDTH, TILE_HEIGHT = 274, 277, 284, 322, 323
TILE_OFFSETS, TILE_COUNTS, SUB_DIRECTORIES, EXTRA_SAMPLES, JPEG_TABLES, PROFILE = (
    324,
    325,
    330,
    338,
    347,
    34675,
)
JPEG, GREY, RGB, YCBCR = 7, 1, 2, 6

# What this program reads of the kinds of values: how struct and array spell them.
KINDS = {1: "B", 2: "B", 3: "H", 4: "I", 7: "B", 13: "I", 16: "Q", 18: "Q"}
NATIVE = "<" if sys.byteorder == "little" else ">"


class NotTiff(ValueError):
    """The file is no TIFF, or its directories are damaged: `reason` is "not_tiff" or "damaged"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Entry(NamedTuple):
    """Where the values of a tag stand: so many of `kind` (struct letter) from byte `position`."""

    kind: str
    n_values: int
    position: int


Tags = dict[int, Entry]


@dataclass(frozen=True, slots=True)
class TiledLevel:
    """One tiled directory. `directory` is its byte offset; `reason` says why its tiles cannot be sent
    as they are stored, "" where they can."""

    width: int
    height: int
    tile_width: int
    tile_height: int
    directory: int
    reason: str

    @property
    def columns(self) -> int:
        return -(-self.width // self.tile_width)

    @property
    def rows(self) -> int:
        return -(-self.height // self.tile_height)


class TiffFile:
    """An open TIFF. Reads are thread-safe; nothing may be read after `close`.

    Raises NotTiff, and OSError where the file cannot be opened.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.size = os.fstat(self._descriptor).st_size
            self._read_start()
        except BaseException:
            self.close()
            raise

    def _read_start(self) -> None:
        start = os.pread(self._descriptor, 16, 0)
        self.order = {b"II": "<", b"MM": ">"}.get(start[:2], "")
        magic = struct.unpack(self.order + "H", start[2:4])[0] if self.order and len(start) >= 8 else 0
        if magic not in (42, 43):
            raise NotTiff("not_tiff")
        # Letters of: number of entries, and every count and offset; bytes of a value kept in its entry.
        self._number, self._word, self._inline = ("H", "I", 4) if magic == 42 else ("Q", "Q", 8)
        (self._first,) = self.unpack(self._word, self._inline)

    def levels(self) -> list[TiledLevel]:
        """Every tiled directory, in the order of the file; those in sub-directories follow their own.

        Raises NotTiff for a chain that is damaged, endless or a loop.
        """
        levels = (self.level(at, tags) for at, tags in self._directories())
        return [level for level in levels if level is not None]

    def tiles(self, directory: int, profile_directory: int | None = None) -> StoredTiles:
        """The stored tiles of one directory, with the colour profile of another where one is given.

        Raises NotTiff, NotStored.
        """
        return StoredTiles(self, directory, profile_directory)

    def profile(self, directory: int) -> bytes:
        """The colour profile of a directory; b"" where there is none or it is too large to send."""
        entry = self.tags(directory)[0].get(PROFILE)
        if entry is None or entry.n_values > MAX_PROFILE_BYTES:
            return b""
        return self.read(entry.position, entry.n_values * struct.calcsize(entry.kind))

    def tags(self, at: int) -> tuple[Tags, int]:
        """The entries of the directory at byte `at`, and where the next one stands (0: none)."""
        (count,) = self.unpack(self._number, at)
        if count > MAX_TAGS:
            raise NotTiff("damaged")
        at += struct.calcsize(self._number)
        entry = struct.Struct(f"{self.order}HH{self._word}{self._inline}s")
        body = self.read(at, count * entry.size + self._inline)
        found: Tags = {}
        for start in range(0, count * entry.size, entry.size):
            tag, kind, length, value = entry.unpack_from(body, start)
            if kind not in KINDS:
                continue
            position = at + start + entry.size - self._inline
            if length * struct.calcsize(KINDS[kind]) > self._inline:
                (position,) = struct.unpack(self.order + self._word, value)
            found[tag] = Entry(KINDS[kind], length, position)
        return found, struct.unpack_from(self.order + self._word, body, count * entry.size)[0]

    def numbers(self, entry: Entry | None, default: int, *, most: int = 64) -> tuple[int, ...]:
        """The values of a tag, `default` alone without one. Raises NotTiff beyond `most` of them."""
        if entry is None:
            return (default,)
        if not 0 < entry.n_values <= most:
            raise NotTiff("damaged")
        return self.unpack(f"{entry.n_values}{entry.kind}", entry.position)

    def unpack(self, letters: str, at: int) -> tuple[int, ...]:
        return struct.unpack(self.order + letters, self.read(at, struct.calcsize(self.order + letters)))

    def read(self, at: int, count: int) -> bytes:
        """`count` bytes from byte `at`. Raises NotTiff where the file has not as many."""
        if at + count > self.size:
            raise NotTiff("damaged")
        content = os.pread(self._descriptor, count, at)
        if len(content) != count:  # the file was cut after it was opened
            raise NotTiff("damaged")
        return content

    def close(self) -> None:
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _directories(self) -> Iterator[tuple[int, Tags]]:
        waiting, seen = [self._first], set[int]()
        while waiting:
            if not (at := waiting.pop()):
                continue
            if at in seen or len(seen) == MAX_DIRECTORIES:
                raise NotTiff("damaged")
            seen.add(at)
            tags, following = self.tags(at)
            yield at, tags
            below = self.numbers(tags.get(SUB_DIRECTORIES), 0, most=MAX_DIRECTORIES)
            waiting += [following, *reversed(below)]

    def level(self, at: int, tags: Tags) -> TiledLevel | None:
        """What the directory `tags` at byte `at` says; None for one without tiles. Raises NotTiff."""
        if TILE_WIDTH not in tags:
            return None
        sides = [self.numbers(tags.get(tag), 0)[0] for tag in (WIDTH, HEIGHT, TILE_WIDTH, TILE_HEIGHT)]
        if not all(sides):
            raise NotTiff("damaged")
        width, height, tile_width, tile_height = sides
        level = TiledLevel(width, height, tile_width, tile_height, at, self._why_not(tags))
        return level if level.reason or self._has_index(tags, level) else replace(level, reason="damaged")

    def _has_index(self, tags: Tags, level: TiledLevel) -> bool:
        """Whether the file has room for one offset and one count for each tile of the level."""
        return all(
            entry is not None
            and entry.n_values >= level.columns * level.rows
            and (size := entry.n_values * struct.calcsize(entry.kind)) <= MAX_INDEX_BYTES
            and entry.position + size <= self.size
            for entry in (tags.get(TILE_OFFSETS), tags.get(TILE_COUNTS))
        )

    def _why_not(self, tags: Tags) -> str:
        """Why the stored tiles of a directory are no JPEGs for a browser; "" where they are."""

        def values(tag: int, default: int) -> tuple[int, ...]:
            return self.numbers(tags.get(tag), default)

        photometric, samples = values(PHOTOMETRIC, 0)[0], values(SAMPLES, 1)[0]
        plain = {PLANAR: "planar", ORIENTATION: "orientation", FILL_ORDER: "fill_order"}
        if values(COMPRESSION, 1)[0] != JPEG:
            return "compression"
        if set(values(BITS, 1)) != {8}:
            return "bits"
        if (photometric, samples) not in ((GREY, 1), (RGB, 3), (YCBCR, 3)) or EXTRA_SAMPLES in tags:
            return "photometric"
        if max(values(TILE_WIDTH, 0)[0], values(TILE_HEIGHT, 0)[0]) > MAX_SIDE_PX:
            return "tile_size"
        return next((reason for tag, reason in plain.items() if values(tag, 1)[0] != 1), "")


class StoredTiles:
    """The tiles of one directory as JPEGs. At the far edges they are as large as all others: what lies
    beyond the level is padding of the scanner, which viewers cut off."""

    def __init__(self, file: TiffFile, at: int, profile_directory: int | None) -> None:
        tags, _ = file.tags(at)
        level = file.level(at, tags)
        if level is None or level.reason:
            raise NotStored(level.reason if level else "not_tiled")
        tables, photometric = tags.get(JPEG_TABLES), file.numbers(tags[PHOTOMETRIC], 0)[0]
        if tables is not None and tables.n_values > MAX_TABLES_BYTES:
            raise NotStored("damaged")
        self._file, self._columns, self._rows = file, level.columns, level.rows
        self._offsets, self._counts = tags[TILE_OFFSETS], tags[TILE_COUNTS]
        self._offset, self._count = (
            struct.Struct(file.order + entry.kind) for entry in (self._offsets, self._counts)
        )
        self._head = splice.head(
            file.read(tables.position, tables.n_values) if tables else b"",
            {GREY: b"", RGB: splice.ADOBE_RGB, YCBCR: splice.ADOBE_YCBCR}[photometric],
            b"" if profile_directory is None else file.profile(profile_directory),
        )
        self._header = b"\0 none yet", b""  # of the last tile: as stored, as sent; most are the same
        self._frame = splice.frame(level.tile_width, level.tile_height, 1 if photometric == GREY else 3)

    def tile(self, column: int, row: int) -> bytes:
        """One tile as a complete JPEG of the level's tile size.

        Raises LookupError outside the grid; NotStored (one, too) where the file holds no such JPEG
        there, an empty place or damage: the decoder knows what to show instead.
        """
        if not (0 <= column < self._columns and 0 <= row < self._rows):
            raise LookupError(f"This level has {self._columns} x {self._rows} tiles, counted from 0.")
        number, read = row * self._columns + column, self._file.read
        offset, count = self._offset, self._count
        try:
            (at,) = offset.unpack(read(self._offsets.position + number * offset.size, offset.size))
            (size,) = count.unpack(read(self._counts.position + number * count.size, count.size))
            if size > MAX_TILE_BYTES:
                raise NotStored("The stored tile is too large.")
            stored = read(at, size)
        except NotTiff as error:
            raise NotStored("The stored tile lies outside the file.") from error
        known, sent = self._header
        if not stored.startswith(known):
            header, scan = splice.header_and_scan(stored, self._frame)
            scan += 2  # the marker of the scan is in both, so that a tile without one is never "known"
            known, sent = self._header = stored[:scan], self._head + header + splice.SCAN
        return b"".join((sent, memoryview(stored)[len(known) :]))

    def sizes(self) -> array[int]:
        """The stored bytes of each tile, row by row; 0 is an empty place. Raises NotTiff."""
        entry = self._counts
        sizes = array(entry.kind)
        sizes.frombytes(self._file.read(entry.position, self._columns * self._rows * sizes.itemsize))
        if self._file.order != NATIVE:
            sizes.byteswap()
        return sizes
