"""From the JPEG pieces that a TIFF stores to one JPEG that every browser shows alike. Nothing is decoded.

A stored tile often lacks its tables (they stand once a level) and says nothing, or something wrong,
about its colours: the TIFF does. A browser then guesses, and takes RGB for YCbCr (differences up to
215 of 255). So each tile gets its tables and an explicit Adobe marker. The tile's own application
segments go: a JFIF one would overrule the marker, and others may hold names. No Django.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SPLICE = "stored-1"  # part of each ETag: raise the number when the bytes made here change

START, SCAN = b"\xff\xd8", b"\xff\xda"
_ADOBE = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00"  # APP14, version 100; the transform follows
ADOBE_RGB, ADOBE_YCBCR = _ADOBE + b"\x00", _ADOBE + b"\x01"

_TABLES = {0xDB, 0xC4, 0xDD}  # quantisation, Huffman, restart interval
_FRAMES = {0xC0, 0xC1, 0xC2}  # baseline, extended, progressive: what browsers decode
_PRIVATE = {*range(0xE0, 0xF0), 0xFE}  # application segments and comments


class NotStored(LookupError):
    """These bytes cannot be sent as they are; the decoder may still make a picture of the tile."""


def head(tables: bytes, adobe: bytes, profile: bytes) -> bytes:
    """What stands before the body of every tile of a level: marker, colour profile, tables.

    `tables` is the TIFF's JPEGTables, b"" where it has none; `profile` at most 65,519 bytes of ICC.
    """
    segments = [START, adobe]
    if profile:
        payload = b"ICC_PROFILE\0\x01\x01" + profile
        segments += [b"\xff\xe2", (2 + len(payload)).to_bytes(2, "big"), payload]
    if tables:
        segments += [tables[begin:end] for marker, begin, end in _segments(tables) if marker in _TABLES]
    return b"".join(segments)


def frame(width: int, height: int, components: int) -> bytes:
    """How the frame header of a tile of this size begins, after its length: 8 bits a sample."""
    return b"\x08" + height.to_bytes(2, "big") + width.to_bytes(2, "big") + bytes([components])


def header_and_scan(tile: bytes, expected_frame: bytes) -> tuple[bytes, int]:
    """The header segments of a stored tile that are sent, and where in `tile` its scan begins.

    Raises NotStored unless it is a JPEG of one frame as `expected_frame` says.
    """
    kept: list[bytes] = []
    frames = 0
    for marker, begin, end in _segments(tile):
        if marker == SCAN[1]:
            if frames != 1:
                break
            return b"".join(kept), begin
        if marker in _PRIVATE:
            continue
        if marker in _FRAMES:
            frames += 1
            if tile[begin + 4 : begin + 10] != expected_frame:
                raise NotStored("The stored tile has another size or kind of colour than its level.")
        elif marker not in _TABLES:
            raise NotStored("The stored tile is a kind of JPEG that browsers do not show.")
        kept.append(tile[begin:end])
    raise NotStored("The stored tile is no JPEG.")


def _segments(jpeg: bytes) -> Iterator[tuple[int, int, int]]:
    """(marker, begin, end) of each segment up to the scan or the end. Raises NotStored."""
    if jpeg[:2] != START:
        raise NotStored("The stored tile is no JPEG.")
    at, size = 2, len(jpeg)
    while at + 4 <= size:
        marker = jpeg[at + 1]
        if jpeg[at] != 0xFF or marker == 0x00:
            raise NotStored("The stored tile is a damaged JPEG.")
        if marker == 0xFF:  # a fill byte
            at += 1
            continue
        end = at + 2 + (jpeg[at + 2] << 8 | jpeg[at + 3])
        if end > size or end < at + 4:
            raise NotStored("The stored tile is a damaged JPEG.")
        yield marker, at, end
        if marker == SCAN[1]:
            return
        at = end
