"""Stored tiles of the slides that are being looked at: a bounded number of open files.

One tile costs a look at the file's identity and three reads. No Django.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from medbench.slides.splice import NotStored
from medbench.slides.tiff import NotTiff, TiffFile

if TYPE_CHECKING:
    from medbench.slides.tiff import StoredTiles

OPEN_FILES = 256  # of one process; each costs a descriptor and a few kB


class Identity(NamedTuple):
    """A file as it is now: one that is replaced or changed has another."""

    path: str
    device: int
    inode: int
    size_bytes: int
    changed_ns: int


def identify(path: str) -> Identity:
    """Raises OSError where there is no file."""
    status = os.stat(path)  # noqa: PTH116  # half the time of Path.stat, and once a tile
    return Identity(path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


class _OpenSlide:
    """An open file, the levels of it that were asked for, and how many readers are at it."""

    def __init__(self, path: str) -> None:
        self.file = TiffFile(path)
        self.levels: dict[int, StoredTiles] = {}
        self.readers = 0
        self.is_retired = False  # out of the pool: closed after its last reader

    def tile(self, stored: dict[str, Any], column: int, row: int) -> bytes:
        directory = stored["directory"]
        tiles = self.levels.get(directory)
        if tiles is None:
            tiles = self.levels[directory] = self.file.tiles(directory, stored["profile"])
        return tiles.tile(column, row)


class StoredSlides:
    """Open files, the least recently used closed first, each after its last reader."""

    def __init__(self, files: int = OPEN_FILES) -> None:
        self._files = files
        self._open: OrderedDict[Identity, _OpenSlide] = OrderedDict()
        self._lock = threading.Lock()

    def tile(self, file: Identity, stored: dict[str, Any], column: int, row: int) -> bytes:
        """The tile of a level whose table says `stored`, from `file` if it still is that file.

        Raises NotStored, and LookupError outside the grid; OSError where the file is gone.
        """
        if identify(file.path) != file:
            raise NotStored("The file is not the one that was registered.")
        try:
            slide = self._take(file)
            try:
                return slide.tile(stored, column, row)
            finally:
                self._leave(slide)
        except NotTiff as error:
            raise NotStored("The file is not the one that was registered.") from error

    def close(self) -> None:
        """Close every file that nobody reads; the next tile opens its file again."""
        with self._lock:
            closed, self._open = list(self._open.values()), OrderedDict()
            for slide in closed:
                slide.is_retired = True
            idle = [slide for slide in closed if not slide.readers]
        for slide in idle:
            slide.file.close()

    def __len__(self) -> int:
        """Files open now and not retired."""
        return len(self._open)

    def _take(self, file: Identity) -> _OpenSlide:
        with self._lock:
            slide = self._open.get(file)
            if slide is not None:
                self._open.move_to_end(file)
                slide.readers += 1
                return slide
        return self._add(file, _OpenSlide(file.path))

    def _add(self, file: Identity, opened: _OpenSlide) -> _OpenSlide:
        """Files are opened outside the lock: where two opened the same one, the first stays."""
        idle: list[_OpenSlide] = []
        with self._lock:
            slide = self._open.setdefault(file, opened)
            slide.readers += 1
            if slide is not opened:
                idle.append(opened)
            while len(self._open) > self._files:
                _, oldest = self._open.popitem(last=False)
                oldest.is_retired = True
                if not oldest.readers:
                    idle.append(oldest)
        for each in idle:
            each.file.close()
        return slide

    def _leave(self, slide: _OpenSlide) -> None:
        with self._lock:
            slide.readers -= 1
            is_last = slide.is_retired and not slide.readers
        if is_last:
            slide.file.close()
