"""Damaged and unusual slides, made from real ones or from a few pixels."""

import io
import shutil

import numpy as np
import tifffile
from PIL import ImageCms


def overwrite_tile(source, target, column, row, *, page=0):
    """A copy of a tiled TIFF in which the bytes of one tile are zeros."""
    shutil.copyfile(source, target)
    with tifffile.TiffFile(source) as tiff:
        level = tiff.pages[page]
        columns = -(-level.imagewidth // level.tilewidth)
        place = row * columns + column
        offset, count = level.dataoffsets[place], level.databytecounts[place]
    with target.open("r+b") as file:
        file.seek(offset)
        file.write(bytes(count))
    return target


def cut(source, target, *, share):
    """The first `share` of a file."""
    content = source.read_bytes()
    target.write_bytes(content[: int(len(content) * share)])
    return target


def claim(source, target, **tags):
    """A copy of a TIFF in which every page claims other numbers: claim(a, b, ImageWidth=9)."""
    shutil.copyfile(source, target)
    with tifffile.TiffFile(target, mode="r+b") as tiff:
        for page in tiff.pages:
            for name, value in tags.items():
                page.tags[name].overwrite(value, dtype=tifffile.DATATYPE.LONG)
    return target


def write_tiff(path, pixels, *, tile=(256, 256), **fields):
    """A tiled TIFF of one level that OpenSlide reads."""
    tifffile.imwrite(path, pixels, tile=tile, photometric="rgb", compression="deflate", **fields)
    return path


def plain(width, height, colour=(200, 50, 50)):
    return np.full((height, width, 3), colour, np.uint8)


def swapped_profile(*, padding=0):
    """sRGB with its red and blue exchanged: (200, 50, 50) under it is (50, 50, 200) to the eye."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    red, blue = profile.index(b"rXYZ"), profile.index(b"bXYZ")
    profile[red : red + 4], profile[blue : blue + 4] = b"bXYZ", b"rXYZ"
    profile += bytes(padding)
    profile[0:4] = len(profile).to_bytes(4, "big")
    return bytes(profile)


def aperio_copy_with_names(path):
    """A small SVS that tells a name and a date, as real ones do."""
    description = (
        "Aperio Image Library v12\r\n300x300 [0,0 300x300] (256x256) JPEG/RGB Q=70"
        "|AppMag = 20|MPP = 0.5|Filename = CANARY-FILE|User = CANARY-USER|Date = 01/02/03"
    )
    buffer = io.BytesIO()
    with tifffile.TiffWriter(buffer) as tiff:
        tiff.write(
            plain(300, 300),
            tile=(256, 256),
            photometric="rgb",
            compression="deflate",
            description=description,
            metadata=None,
        )
    path.write_bytes(buffer.getvalue())
    return path
