"""Small tiled JPEG TIFFs of every kind that scanners write, from a few hundred pixels."""

import io
import itertools
import struct

import numpy as np
import tifffile
from PIL import Image

TILE = 64
APERIO = "Aperio Image Library v12.0.0\r\n{0}x{1} [0,0 {0}x{1}] (64x64) JPEG|AppMag = 20|MPP = 0.4990"
TABLES = (0xDB, 0xC4, 0xDD)
JFIF = b"\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
COMMENT = b"\xff\xfe\x00\x0fCANARY-PERSON"
ADOBE_YCBCR = b"\xff\xee\x00\x0eAdobe\0\x64\0\0\0\0\x01"


def pixels(width, height, *, grey=False):
    """Colours that change along both axes, so that a moved, swapped or mistaken tile is another one."""
    x, y = np.arange(width)[None, :], np.arange(height)[:, None]
    red, green = (x * 255 // max(width - 1, 1)) + 0 * y, (y * 255 // max(height - 1, 1)) + 0 * x
    blue = ((x // 8 + y // 8) % 2) * 160 + 40
    picture = np.stack([red, green, blue], axis=-1).astype(np.uint8)
    return picture[..., 1] if grey else picture


def segments(jpeg):
    """(marker, bytes) of each header segment, then the rest from the scan on as (0xDA, bytes)."""
    at = 2
    while jpeg[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
        yield jpeg[at + 1], jpeg[at:end]
        at = end
    yield 0xDA, jpeg[at:]


def encode(picture, *, rgb=False, subsampling=0, quality=80, **options):
    """A JPEG of an array without application segments, of one set of tables for all of a kind."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(
        buffer, "JPEG", quality=quality, keep_rgb=rgb, subsampling=subsampling, **options
    )
    kept = (part for marker, part in segments(buffer.getvalue()) if not 0xE0 <= marker <= 0xEF)
    return b"\xff\xd8" + b"".join(kept)


def apart(jpeg):
    """(tile without tables, tables) as TIFF stores them."""
    parts = list(segments(jpeg))
    tables = b"".join(part for marker, part in parts if marker in TABLES)
    return b"\xff\xd8" + b"".join(p for m, p in parts if m not in TABLES), b"\xff\xd8" + tables + b"\xff\xd9"


def with_ids(tile, ids):
    """The same JPEG with other component ids in its frame and its scan."""
    result = [b"\xff\xd8"]
    for marker, part in segments(tile):
        changed = bytearray(part)
        if marker in (0xC0, 0xC1, 0xC2):
            changed[10 : 10 + 3 * len(ids) : 3] = ids
        if marker == 0xDA:
            changed[5 : 5 + 2 * len(ids) : 2] = ids
        result.append(bytes(changed))
    return b"".join(result)


def cells(picture, tile=TILE):
    """The tiles of an array row by row, padded at the far edges with their last pixels."""
    for top, left in itertools.product(range(0, picture.shape[0], tile), range(0, picture.shape[1], tile)):
        part = picture[top : top + tile, left : left + tile]
        missing = [(0, tile - part.shape[0]), (0, tile - part.shape[1])]
        yield np.ascontiguousarray(np.pad(part, missing + [(0, 0)] * (part.ndim - 2), mode="edge"))


def write(
    path,
    sizes=((200, 150), (100, 75)),
    *,
    kind="ycbcr",
    subsampling=(1, 1),
    shared_tables=True,
    change=lambda tile: tile,
    aperio=False,
    profile=None,
    missing=(),
    sub_directories=False,
    tile=TILE,
    **options,
):
    """A pyramid of `sizes`; `change` has each stored tile before it is written.

    `kind` is ycbcr, rgb or grey; `missing` holds (level, number) of places that are left empty.
    """
    code = {(1, 1): 0, (2, 1): 1, (2, 2): 2}[subsampling]
    with tifffile.TiffWriter(path, **options) as tiff:
        for number, size in enumerate(sizes):
            tiles = []
            for cell in cells(pixels(*size, grey=kind == "grey"), tile):
                whole = encode(cell, rgb=kind == "rgb", subsampling=code)
                body, tables = apart(whole)
                tiles.append(change(body if shared_tables else whole))
            for level, place in missing:
                if level == number:
                    tiles[place] = b""
            words = (APERIO if number == 0 else APERIO.replace("[0,0", "->")).format(*size)
            tiff.write(
                iter(tiles),
                shape=(size[1], size[0], 3) if kind != "grey" else (size[1], size[0]),
                dtype=np.uint8,
                tile=(tile, tile),
                photometric={"ycbcr": "ycbcr", "rgb": "rgb", "grey": "minisblack"}[kind],
                compression="jpeg",
                compressionargs={"outcolorspace": "rgb"} if kind == "rgb" else None,
                subsampling=subsampling if kind == "ycbcr" else (1, 1),
                jpegtables=tables if shared_tables else None,
                metadata=None,
                subfiletype=1 if number and not aperio else 0,
                subifds=len(sizes) - 1 if sub_directories and number == 0 else 0,
                iccprofile=profile if number == 0 else None,
                description=words if aperio else None,
            )
    return path


def synthesise(path, columns, rows, tile=256):
    """A BigTIFF of one level of columns x rows tiles that are all the same one: a large table only."""
    body, tables = apart(encode(next(cells(pixels(tile, tile), tile))))
    count = columns * rows
    tags = [
        (256, 4, [columns * tile]),
        (257, 4, [rows * tile]),
        (258, 3, [8, 8, 8]),
        (259, 3, [7]),
        (262, 3, [6]),
        (277, 3, [3]),
        (284, 3, [1]),
        (322, 3, [tile]),
        (323, 3, [tile]),
        (324, 16, np.full(count, 16, "<u8").tobytes()),
        (325, 16, np.full(count, len(body), "<u8").tobytes()),
        (347, 7, tables),
        (530, 3, [1, 1]),
    ]
    entries, data = b"", body
    for tag, kind, value in tags:
        letter = {3: "H", 4: "I"}.get(kind)
        raw = struct.pack(f"<{len(value)}{letter}", *value) if letter else value
        number = len(raw) // {3: 2, 4: 4, 7: 1, 16: 8}[kind]
        if len(raw) > 8:
            entries += struct.pack("<HHQQ", tag, kind, number, 16 + len(data))
            data += raw
        else:
            entries += struct.pack("<HHQ", tag, kind, number) + raw.ljust(8, b"\0")
    start = struct.pack("<2sHHHQ", b"II", 43, 8, 0, 16 + len(data))
    path.write_bytes(start + data + struct.pack("<Q", len(tags)) + entries + bytes(8))
    return path
