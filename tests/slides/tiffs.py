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


def synthesise(path, columns, rows, *, factors=(1,), jpegs=None, words="", tile=256):
    """A BigTIFF whose tiles are few in the file and many in its tables: any number costs 16 bytes each.

    `factors` are the downsamples of its levels; `jpegs` complete JPEGs of `tile` x `tile` (YCbCr) that it
    repeats, by default one; `words` its description.
    """
    jpegs = jpegs or [encode(next(cells(pixels(tile, tile), tile)))]
    places = np.cumsum([16, *map(len, jpegs)])
    with path.open("wb") as file:
        file.write(struct.pack("<2sHHHQ", b"II", 43, 8, 0, 0) + b"".join(jpegs))
        link = 8  # where the offset of the next directory is to be written
        for number, factor in enumerate(factors):
            width, height = columns * tile // factor, rows * tile // factor
            which = np.arange(-(-width // tile) * -(-height // tile)) % len(jpegs)
            link = _directory(
                file,
                link,
                [
                    (254, 4, [1 if number else 0]),
                    (256, 4, [width]),
                    (257, 4, [height]),
                    (258, 3, [8, 8, 8]),
                    (259, 3, [7]),
                    (262, 3, [6]),
                    (270, 2, f"{words}\n{width}x{height}|AppMag = 20|MPP = 0.499\0".encode()),
                    (277, 3, [3]),
                    (284, 3, [1]),
                    (322, 3, [tile]),
                    (323, 3, [tile]),
                    (324, 16, places[which].astype("<u8").tobytes()),
                    (325, 16, np.array([len(each) for each in jpegs])[which].astype("<u8").tobytes()),
                    (530, 3, [1, 1]),
                ],
            )
    return path


def _directory(file, link, tags):
    """Write one directory at the end of a BigTIFF; answers where the link to the next one stands."""
    entries = []
    for tag, kind, values in tags:
        raw = values if isinstance(values, bytes) else struct.pack(f"<{len(values)}{'?BBHI'[kind]}", *values)
        number = len(raw) // {2: 1, 3: 2, 4: 4, 16: 8}[kind]
        if len(raw) > 8:
            place = file.seek(0, io.SEEK_END)
            file.write(raw)
            raw = struct.pack("<Q", place)
        entries.append(struct.pack("<HHQ8s", tag, kind, number, raw))
    start = file.seek(0, io.SEEK_END)
    file.write(struct.pack("<Q", len(tags)) + b"".join(entries) + bytes(8))
    file.seek(link)
    file.write(struct.pack("<Q", start))
    return file.seek(0, io.SEEK_END) - 8
