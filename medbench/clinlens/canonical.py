"""One spelling of a JSON document, and the digests of files and trees.

Every digest can be checked by hand with `sha256sum`: it is taken over the lines that this program
prints, sorted by path, each "digest, two spaces, path, line feed".
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from medbench.clinlens.layout import CHECKSUMS, MANIFEST, QC, SALT
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SALT_BYTES = 32


def canonical_json(value: Any) -> bytes:
    """UTF-8, sorted keys, no spaces, a line feed at the end. Raises ValueError for NaN and infinities."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def sha256_hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_of(folder: Path) -> list[str]:
    """The relative paths of all files of a tree, sorted. Raises InvalidInput at a link or a device."""
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise InvalidInput(f"{folder}/{name} is no regular file.", code="special_file")
        if path.is_file():
            found.append(name)
    return sorted(found)


def checksum_lines(folder: Path, leave_out: Iterable[str] = ()) -> str:
    """What `sha256sum` prints for the files of a tree but those left out, sorted by path."""
    names = [name for name in files_of(folder) if name not in set(leave_out)]
    return "".join(f"{file_sha256(folder / name)}  {name}\n" for name in names)


def write_checksums(task: Path) -> None:
    """Write the checksum file of a public task: one line for every file but itself."""
    (task / CHECKSUMS).write_text(checksum_lines(task, [CHECKSUMS]), newline="\n")


def package_digest(task: Path) -> str:
    """The digest of a public task: of its checksum lines without the manifest, which holds it."""
    return sha256_hex(checksum_lines(task, [MANIFEST, CHECKSUMS]).encode())


def read_salt(private_task: Path) -> bytes:
    """The salt of a task's commitment and key hashes; raises InvalidInput."""
    try:
        salt = bytes.fromhex((private_task / SALT).read_text().strip())
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{private_task / SALT} cannot be read as a salt.", code="salt") from error
    if len(salt) != SALT_BYTES:
        raise InvalidInput(f"{private_task / SALT} must hold {SALT_BYTES} bytes.", code="salt")
    return salt


def private_commitment(private_task: Path) -> str:
    """What proves later that the reference was not changed: of the salt and then the checksum lines.

    Lines of all files but the salt and the record of quality control, which is written afterwards.
    Without the salt, a short answer such as 0.0312 could be found by trying all.
    """
    lines = checksum_lines(private_task, [SALT, QC])
    return sha256_hex(read_salt(private_task) + lines.encode())
