"""A stranger's submission, as a zip archive or a folder. Nothing is unpacked and no link is followed.

What is against the rules of admission refuses the whole submission (`Rejected`) before a file of it
is read. What is wrong with one file (`Unreadable`) fails the task that needs it.
Source of the rules: ClinLens design, section 4.1.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Protocol

from medbench.clinlens.canonical import file_sha256, sha256_hex
from medbench.clinlens.layout import ARTIFACTS, TASKS
from medbench.errors import InvalidInput
from medbench.formats.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

ENTRIES_MOST = 5_000
UNPACKED_MOST = 256 * 1024 * 1024
DEPTH_MOST = 6
RATIO_MOST, RATIO_FREE = 500, 1024 * 1024  # an entry above both is a bomb
DIRECTORY_MOST = 4_000_000  # bytes of the central directory, which zipfile reads whole
NAME_SHOWN = 120

_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_END = struct.Struct("<4s4H2LH")  # end of central directory; see APPNOTE.TXT 4.3.16
_LOCAL = struct.Struct("<4s5H3L2H")  # local file header; 4.3.7
_LONGEST_COMMENT = 65_535
_ZIP64_LOCATOR = b"PK\x06\x07"
_SECRET = 0x1 | 0x40 | 0x2000  # flags: encrypted, strongly, directory too
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)


class Rejected(InvalidInput):
    """A submission that is not admitted: its code, and the entry that is against the rule."""

    def __init__(self, code: str, message: str, entry: str = "") -> None:
        where = f" Entry: {printable(entry, NAME_SHOWN)}" if entry else ""
        super().__init__(f"The submission is refused: {message}{where}", code=code)


class Unreadable(Exception):
    """A file that cannot be read whole; `code` is file_too_large or unreadable."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Source(Protocol):
    """The admitted files of a submission: bytes by path, with their declared sizes."""

    sizes: dict[str, int]

    def read(self, name: str, most: int) -> bytes:
        """A file of at most `most` bytes; raises Unreadable."""

    def sha256(self) -> str:
        """The digest of the submission."""

    def close(self) -> None: ...


def open_submission(path: Path) -> Source:
    """The source for an archive or a folder; raises Rejected."""
    if path.is_dir():
        return Folder(path)
    if not path.is_file():  # a pipe would make us wait
        raise Rejected("archive_unreadable", f"{path} is neither a file nor a folder.")
    return Archive(path)


class Archive:
    """A submission in a zip archive, which stays open until `close`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise Rejected("archive_unreadable", f"{path} cannot be read: {error.strerror}.") from error
        try:
            self._zip = _opened(self._file)
            self._entries = _admitted(self._zip, self._file)
        except Rejected:
            self._file.close()
            raise
        self.sizes = {name: entry.file_size for name, entry in self._entries.items()}

    def read(self, name: str, most: int) -> bytes:
        entry = self._entries[name]
        if entry.file_size > most:
            raise Unreadable("file_too_large")
        try:
            with self._zip.open(entry) as packed:
                data = packed.read(most + 1)
        except _DAMAGE as error:
            raise Unreadable("unreadable") from error
        if len(data) != entry.file_size:  # the directory lies
            raise Unreadable("unreadable")
        return data

    def sha256(self) -> str:
        return file_sha256(self._path)

    def close(self) -> None:
        self._zip.close()
        self._file.close()


class Folder:
    """A submission in a folder of regular files."""

    def __init__(self, path: Path) -> None:
        self._root = path
        paths = dict(_walk(path))
        self._paths = _by_name(paths)
        self.sizes = {name: paths[under] for name, under in self._paths.items()}
        _check_total(sum(self.sizes.values()))

    def read(self, name: str, most: int) -> bytes:
        try:
            opened = os.open(self._root / self._paths[name], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(opened, "rb") as file:
                data = file.read(most + 1)
        except OSError as error:
            raise Unreadable("unreadable") from error
        if len(data) > most:
            raise Unreadable("file_too_large")
        return data

    def sha256(self) -> str:
        lines = [f"{file_sha256(self._root / self._paths[name])}  {name}\n" for name in sorted(self._paths)]
        return sha256_hex("".join(lines).encode())

    def close(self) -> None:
        pass


def _opened(file: IO[bytes]) -> zipfile.ZipFile:
    _check_directory(file)
    try:
        return zipfile.ZipFile(file)
    except _DAMAGE as error:
        raise Rejected("archive_unreadable", "This is not a zip archive that can be read.") from error


def _admitted(archive: zipfile.ZipFile, file: IO[bytes]) -> dict[str, zipfile.ZipInfo]:
    """The entries of an archive by name, when all of them may come in."""
    found = archive.infolist()
    if len(found) > ENTRIES_MOST:
        raise Rejected("too_many_entries", f"{len(found):,} entries, limit {ENTRIES_MOST:,}.")
    entries = {}
    for entry in found:
        name = entry.orig_filename  # zipfile cuts the other at a NUL
        if _is_litter(name):
            continue
        _check_path(name.removesuffix("/"))
        if stat.S_IFMT(entry.external_attr >> 16) not in {0, stat.S_IFREG, stat.S_IFDIR}:
            raise Rejected("special_file", "A link, device or pipe is not accepted.", name)
        if name.endswith("/"):
            continue
        if name in entries:
            raise Rejected("duplicate_entry", "Two entries have one name.", name)
        _check_packing(entry)
        entries[name] = entry
    _check_total(sum(entry.file_size for entry in entries.values()))
    _check_ranges(file, entries.values(), archive.start_dir)
    return {name: entries[under] for name, under in _by_name(entries).items()}


def _check_directory(file: IO[bytes]) -> None:
    """Refuse a central directory that would fill the memory before its entries are counted."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size - _LONGEST_COMMENT - 20))
    tail = file.read()
    at = len(tail) - _END.size  # where zipfile looks first, and where it looks next
    if not (at >= 0 and tail.startswith(b"PK\x05\x06", at) and tail.endswith(b"\0\0")):
        at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + _END.size > len(tail):
        raise Rejected("archive_unreadable", "This is not a zip archive.")
    *_, n_entries, directory_bytes, _, _ = _END.unpack_from(tail, at)
    if tail[max(0, at - 20) : at].startswith(_ZIP64_LOCATOR):
        raise Rejected("archive_unreadable", "The archive is in the 64-bit form, which is not needed here.")
    if n_entries > ENTRIES_MOST or directory_bytes > DIRECTORY_MOST:
        raise Rejected("too_many_entries", f"More than {ENTRIES_MOST:,} entries.")


def _check_packing(entry: zipfile.ZipInfo) -> None:
    if entry.flag_bits & _SECRET:
        raise Rejected("encrypted", "Encrypted entries cannot be read.", entry.filename)
    if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise Rejected("compression_method", "Entries must be stored or deflated.", entry.filename)
    if entry.file_size > max(RATIO_FREE, RATIO_MOST * entry.compress_size):
        raise Rejected("compression_ratio", f"It unpacks to more than {RATIO_MOST} times.", entry.filename)


def _check_total(unpacked_bytes: int) -> None:
    if unpacked_bytes > UNPACKED_MOST:
        message = f"{unpacked_bytes:,} bytes unpacked, limit {UNPACKED_MOST:,}."
        raise Rejected("too_large", message)


def _check_ranges(file: IO[bytes], entries: Iterable[zipfile.ZipInfo], directory_at: int) -> None:
    """Refuse entries that share bytes: the trick of bombs that are small on disk."""
    end = 0
    for entry in sorted(entries, key=lambda each: each.header_offset):
        if entry.header_offset < end:
            raise Rejected("overlapping_entries", "Two entries share bytes.", entry.filename)
        file.seek(entry.header_offset)
        header = file.read(_LOCAL.size)
        if len(header) < _LOCAL.size:
            raise Rejected("archive_unreadable", "An entry lies outside of the archive.", entry.filename)
        *_, name_bytes, extra_bytes = _LOCAL.unpack(header)
        end = entry.header_offset + _LOCAL.size + name_bytes + extra_bytes + entry.compress_size
    if end > directory_at:
        raise Rejected("overlapping_entries", "An entry reaches into the directory.")


def _is_litter(name: str) -> bool:
    """Whether a file manager left the entry, not the participant."""
    return name.startswith("__MACOSX/") or PurePosixPath(name).name == ".DS_Store"


def _check_path(name: str) -> None:
    if not all(_PART.fullmatch(part) for part in name.split("/")):
        message = "A path has only letters, digits, '.', '_' and '-', and stays inside the archive."
        raise Rejected("unsafe_path", message, name)


def _by_name(paths: Iterable[str]) -> dict[str, str]:
    """The paths by their names in the submission, without the one folder around everything."""
    paths = list(paths)
    tops = {path.partition("/")[0] for path in paths}
    top = f"{tops.pop()}/" if len(tops) == 1 else ""
    is_around = top.rstrip("/") not in {TASKS, ARTIFACTS} and all(path.startswith(top) for path in paths)
    found: dict[str, str] = {}
    folded = set()
    for path in paths:
        name = path.removeprefix(top) if is_around else path
        if name.count("/") >= DEPTH_MOST:
            raise Rejected("unsafe_path", f"More than {DEPTH_MOST} folders deep.", path)
        if name.casefold() in folded:
            raise Rejected("duplicate_entry", "Two names differ in upper and lower case only.", path)
        folded.add(name.casefold())
        found[name] = path
    return found


def _walk(root: Path) -> Iterator[tuple[str, int]]:
    """The files under a folder with their sizes; raises Rejected at whatever is no regular file."""
    waiting, n_seen = [""], 0
    while waiting:
        folder = waiting.pop()
        try:
            inside = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError as error:
            raise Rejected(
                "archive_unreadable", f"A folder cannot be read: {error.strerror}.", folder
            ) from error
        n_seen += len(inside)
        if n_seen > ENTRIES_MOST:
            raise Rejected("too_many_entries", f"More than {ENTRIES_MOST:,} files and folders.")
        for entry in inside:
            name = f"{folder}{entry.name}"
            if _is_litter(f"{name}/"):
                continue
            _check_path(name)
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{name}/")
            elif entry.is_file(follow_symlinks=False):
                yield name, entry.stat(follow_symlinks=False).st_size
            else:
                raise Rejected("special_file", "A link, device or pipe is not accepted.", name)
