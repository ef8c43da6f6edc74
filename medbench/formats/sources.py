"""A bundle's files, in a folder or a zip archive. Nothing outside of it is ever read."""

from __future__ import annotations

import lzma
import shutil
import stat
import struct
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

NAME_LONGEST = 240  # characters of a path in a bundle
UNPACKED_PER_BYTE = 200  # an archive that promises more is a bomb
UNPACKED_FREE = 50_000_000  # bytes that any archive may unpack to
MEMBERS_MOST = 100_000
BENCHMARK_FILE = "benchmark.json"
# What zipfile raises on damage, a password, an unknown method; RuntimeError has NotImplementedError.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)


class Unfit(Exception):
    """A file or an archive that cannot be used: a stable code and what is wrong."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Source(Protocol):
    """Where the files of a bundle are. Names are paths that `check_name` has passed."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def read(self, name: str, most: int) -> bytes:
        """The bytes of a file of at most `most` bytes; raises Unfit."""

    def find(self, name: str, unpack_to: Path | None) -> Path | None:
        """A file on disk, None where it is still packed and stays so; raises Unfit."""


def open_source(path: Path) -> Source:
    """The source for a folder or an archive; raises Unfit."""
    if path.is_dir():
        return Folder(path)
    if not path.is_file():
        raise Unfit("file_missing", "There is no such folder or zip archive.")
    return Archive(path)


def check_name(name: str, folder: str) -> None:
    """Raise Unfit unless `name` is a plain relative path inside `folder` of a bundle."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise Unfit("bad_path", "The path leads out of the bundle.")
    if str(path) != name or "\\" in name or not name.isprintable() or len(name.encode()) > NAME_LONGEST:
        raise Unfit("bad_path", "The path is not a plain file name in a folder.")
    if path.parts[0] != folder or len(path.parts) < 2:
        raise Unfit("bad_path", f"The file must be in {folder}/.")


class Folder:
    """A bundle that is a folder."""

    def __init__(self, path: Path) -> None:
        self._root = path.resolve()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def read(self, name: str, most: int) -> bytes:
        path = self.find(name, None)
        try:
            with path.open("rb") as file:
                return _bounded(file.read(most + 1), most)
        except OSError as error:
            raise Unfit("file_missing", f"The file cannot be read: {error.strerror}.") from error

    def find(self, name: str, unpack_to: Path | None) -> Path:  # noqa: ARG002  # nothing to unpack
        path = self._root / name
        try:
            real = path.resolve(strict=True)
            if not real.is_relative_to(self._root):
                raise Unfit("bad_path", "A symbolic link leads out of the bundle.")
            if not stat.S_ISREG(real.stat().st_mode):
                raise Unfit("file_missing", "It is not a file.")
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
            raise Unfit("file_missing", "There is no such file in the bundle.") from error
        return real


class Archive:
    """A bundle that is a zip archive; it may have one folder around everything."""

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except _DAMAGE as error:
            raise Unfit("bad_zip", "This is not a zip archive that can be read.") from error
        try:
            self._members = self._checked_members(path.stat().st_size)
        except Unfit:
            self._zip.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()

    def read(self, name: str, most: int) -> bytes:
        member = self._member(name)
        with _damage_told(), self._zip.open(member) as packed:
            return _bounded(packed.read(most + 1), most)

    def find(self, name: str, unpack_to: Path | None) -> Path | None:
        member = self._member(name)
        if unpack_to is None:
            return None
        target = unpack_to / name
        with _damage_told():
            target.parent.mkdir(parents=True, exist_ok=True)
            with self._zip.open(member) as packed, target.open("wb") as file:
                shutil.copyfileobj(packed, file)
        return target

    def _member(self, name: str) -> zipfile.ZipInfo:
        member = self._members.get(name)
        if member is None:
            raise Unfit("file_missing", "There is no such file in the bundle.")
        return member

    def _checked_members(self, packed_bytes: int) -> dict[str, zipfile.ZipInfo]:
        files = [member for member in self._zip.infolist() if not member.filename.endswith("/")]
        if len(files) > MEMBERS_MOST:
            raise Unfit("too_large", f"The archive has {len(files):,} files, limit {MEMBERS_MOST:,}.")
        unpacked_bytes = sum(member.file_size for member in files)
        if unpacked_bytes > UNPACKED_FREE + UNPACKED_PER_BYTE * packed_bytes:
            raise Unfit("zip_bomb", f"{packed_bytes:,} bytes would unpack to {unpacked_bytes:,}.")
        names = [member.filename for member in files]
        for name in names:
            if name.startswith("/") or ".." in PurePosixPath(name).parts:
                raise Unfit("bad_path", f"The path {name[:NAME_LONGEST]} leads out of the archive.")
        if len(set(names)) < len(names):
            raise Unfit("bad_zip", "The archive has two files of one name.")
        return {name.removeprefix(_folder_around(names)): m for name, m in zip(names, files, strict=True)}


def _folder_around(names: list[str]) -> str:
    """The one folder that holds everything, as "x/", or "" where the bundle lies at the top."""
    if BENCHMARK_FILE in names:
        return ""
    around = {name.removesuffix(BENCHMARK_FILE) for name in names if name.endswith(f"/{BENCHMARK_FILE}")}
    return next(iter(around)) if len(around) == 1 else ""


@contextmanager
def _damage_told() -> Iterator[None]:
    """Tell whatever goes wrong in unpacking as Unfit."""
    try:
        yield
    except _DAMAGE as error:
        raise Unfit("bad_zip", "The archive is damaged or encrypted, or cannot be unpacked here.") from error


def _bounded(data: bytes, most: int) -> bytes:
    if len(data) > most:
        raise Unfit("too_large", f"The file has more than {most:,} bytes.")
    return data
