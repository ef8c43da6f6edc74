"""Tiny slides that show what goes wrong with large ones, each made here from a few pixels."""

import io
import shutil
import struct

import numpy as np
import pydicom
import tifffile
from PIL import Image, ImageFilter
from pydicom.encaps import encapsulate
from pydicom.uid import JPEGBaseline8Bit

from tests.slides import damage

APERIO = "Aperio Image Library v12.0.0\r\n"


def texture(width, height, seed=1):
    """Smooth stained-looking noise: JPEG keeps it nearly as it is."""
    noise = np.random.default_rng(seed).integers(0, 255, (height // 8 + 2, width // 8 + 2, 3), np.uint8)
    picture = Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(picture.filter(ImageFilter.GaussianBlur(1)))


def write_pyramid(path, sizes, *, tile=(256, 256), compression="jpeg", **fields):
    """A generic TIFF with one directory for each (width, height)."""
    whole = Image.fromarray(texture(*sizes[0]))
    with tifffile.TiffWriter(path) as tiff:
        for number, size in enumerate(sizes):
            tiff.write(
                np.asarray(whole.resize(size, Image.Resampling.BOX)),
                tile=tile,
                photometric="rgb",
                compression=compression,
                compressionargs={"level": 90} if compression == "jpeg" else None,
                subfiletype=0 if number == 0 else 1,
                metadata=None,
                **fields,
            )
    return path


def empty_tile(source, target, column, row):
    """A copy of a tiled TIFF in which a tile of level 0 has neither place nor bytes."""
    shutil.copyfile(source, target)
    with tifffile.TiffFile(target) as tiff:
        page = tiff.pages[0]
        number = row * -(-page.imagewidth // page.tilewidth) + column
        tags = [page.tags[name] for name in ("TileOffsets", "TileByteCounts")]
        places = [(tag.valueoffset, {3: 2, 4: 4, 16: 8}[int(tag.dtype)]) for tag in tags]
    with target.open("r+b") as file:
        for at, size in places:
            file.seek(at + number * size)
            file.write(bytes(size))
    return target


def aperio_clone(path, *, scale="|MPP = 0.499", compression="jpeg", size=(700, 500)):
    """An SVS with all that must not leave the server: label, macro, file name, user, barcode."""
    pixels = texture(*size)
    if compression == 33003:  # JPEG 2000 of YCbCr: tifffile stores what it is given
        pixels = np.asarray(Image.fromarray(pixels).convert("YCbCr"))
    small = np.asarray(Image.fromarray(pixels).resize((size[0] // 4, size[1] // 4)))
    about = (
        f"{APERIO}{size[0]}x{size[1]} [0,0 {size[0]}x{size[1]}] (240x240) JPEG/RGB Q=70"
        f"|AppMag = 20{scale}|Filename = CANARY-FILE|User = CANARY-USER|Barcode = CANARY-BARCODE"
    )
    with tifffile.TiffWriter(path) as tiff:

        def page(data, note, **fields):
            tiff.write(data, photometric="rgb", metadata=None, description=note, **fields)

        page(pixels, about, tile=(240, 240), compression=compression)
        page(small, APERIO + "thumbnail", rowsperstrip=16, compression="jpeg")
        page(small, about, tile=(240, 240), compression=compression)
        label = damage.plain(120, 90, (1, 254, 3))
        page(
            label,
            APERIO + "label 120x90",
            rowsperstrip=90,
            compression="lzw",
            subfiletype=1,
        )
        macro = damage.plain(160, 64, (3, 1, 254))
        page(
            macro,
            APERIO + "macro 160x64",
            rowsperstrip=64,
            compression="jpeg",
            subfiletype=9,
        )
    return path


def write_dicom(template, path, size, *, flavour="VOLUME", spacing_mm=0.0005, number=1, paths=1, planes=1):
    """A TILED_FULL slide of JPEG frames of 256 px; `template` is a sound one whose other tags it takes."""
    image = pydicom.dcmread(template)
    pixels = Image.fromarray(texture(*size))
    frames = []
    for top in range(0, size[1], 256):
        for left in range(0, size[0], 256):
            buffer = io.BytesIO()
            pixels.crop((left, top, left + 256, top + 256)).save(buffer, "JPEG", quality=90)
            frames.append(buffer.getvalue())
    image.PixelData = encapsulate(frames)
    image["PixelData"].is_undefined_length = True
    image.file_meta.TransferSyntaxUID = JPEGBaseline8Bit
    image.Rows = image.Columns = 256
    image.TotalPixelMatrixColumns, image.TotalPixelMatrixRows = size
    image.NumberOfFrames, image.PhotometricInterpretation = len(frames), "YBR_FULL_422"
    image.NumberOfOpticalPaths, image.TotalPixelMatrixFocalPlanes = paths, planes
    image.DimensionOrganizationType = "TILED_FULL"
    image.ImageType = ["ORIGINAL", "PRIMARY", flavour, "NONE" if number == 1 else "RESAMPLED"]
    measures = image.SharedFunctionalGroupsSequence[0].PixelMeasuresSequence[0]
    measures.PixelSpacing = [spacing_mm, spacing_mm]
    image.SOPInstanceUID = image.file_meta.MediaStorageSOPInstanceUID = f"1.2.3.4.{number}"
    image.SeriesInstanceUID = "1.2.3.5"
    image.PatientName, image.PatientID = "CANARY^PATIENT", "CANARY-ID"
    for name in ("ExtendedOffsetTable", "ExtendedOffsetTableLengths"):
        if name in image:
            del image[name]
    image.save_as(path)
    return path


def write_mrxs(path, *, across=4, down=3, side=128, levels=2):
    """A MIRAX slide: head file, Slidedat.ini, Index.dat and one data file; answers (path, its pixels)."""
    folder, slide_id = path.with_suffix(""), "0123456789ABCDEF0123456789ABCDEF"
    folder.mkdir()
    pixels = texture(across * side, down * side)
    stored, pages = bytearray(b"01.02" + slide_id.encode() + b"  0"), []
    for level in range(levels):
        small = Image.fromarray(pixels).reduce(2**level)
        page = []
        for y in range(0, down, 2**level):
            for x in range(0, across, 2**level):
                left, top = (x >> level) * side, (y >> level) * side
                buffer = io.BytesIO()
                tile = small.crop((left, top, left + side, top + side))
                tile.save(buffer, "JPEG", quality=95, subsampling="4:4:4")
                page.append((y * across + x, len(stored), buffer.tell(), 0))
                stored += buffer.getvalue()
        pages.append(page)
    (folder / "Data0000.dat").write_bytes(stored)
    (folder / "Index.dat").write_bytes(_mirax_index(slide_id, pages))
    sections = "".join(
        f"[LEVEL_{level}]\nOVERLAP_X = 0\nOVERLAP_Y = 0\nMICROMETER_PER_PIXEL_X = {0.25 * 2**level}\n"
        f"MICROMETER_PER_PIXEL_Y = {0.25 * 2**level}\nIMAGE_CONCAT_FACTOR = {int(level > 0)}\n"
        f"IMAGE_FILL_COLOR_BGR = 16777215\nDIGITIZER_WIDTH = {side}\nDIGITIZER_HEIGHT = {side}\n"
        "IMAGE_FORMAT = JPEG\n"
        for level in range(levels)
    )
    names = "".join(f"HIER_0_VAL_{level}_SECTION = LEVEL_{level}\n" for level in range(levels))
    (folder / "Slidedat.ini").write_text(
        f"[GENERAL]\nSLIDE_ID = {slide_id}\nSLIDE_NAME = CANARY-NAME\nIMAGENUMBER_X = {across}\n"
        f"IMAGENUMBER_Y = {down}\nOBJECTIVE_MAGNIFICATION = 20\nCameraImageDivisionsPerSide = 1\n"
        f"[HIERARCHICAL]\nHIER_COUNT = 1\nNONHIER_COUNT = 0\nINDEXFILE = Index.dat\n"
        f"HIER_0_NAME = Slide zoom level\nHIER_0_COUNT = {levels}\n{names}"
        f"[DATAFILE]\nFILE_COUNT = 1\nFILE_0 = Data0000.dat\n{sections}"
    )
    Image.fromarray(pixels).save(path, "JPEG")
    return path, pixels


def _mirax_index(slide_id, pages):
    """Root, one list for each zoom level, one page in each list."""
    head = b"01.02" + slide_id.encode()
    root = len(head) + 8
    lists = root + 4 * len(pages)
    index = head + struct.pack("<2i", root, 0)
    index += b"".join(struct.pack("<i", lists + 8 * number) for number in range(len(pages)))
    at = lists + 8 * len(pages)
    body = b""
    for page in pages:
        index += struct.pack("<2i", 0, at + len(body))
        body += struct.pack("<2i", len(page), 0) + b"".join(struct.pack("<4i", *entry) for entry in page)
    return index + body


SCN = """<?xml version="1.0" encoding="UTF-8"?>
<scn xmlns="http://www.leica-microsystems.com/scn/2010/10/01">
<collection name="c" sizeX="2048000" sizeY="2048000">{}{}</collection></scn>"""
SCN_IMAGE = """<image name="{name}"><creationDate>2026-01-01T00:00:00Z</creationDate>
<device model="L" version="1"/><pixels sizeX="{side}" sizeY="{side}">{levels}</pixels>
<view sizeX="{nm}" sizeY="{nm}" offsetX="{x}" offsetY="{y}" spacingZ="0"/><scanSettings>
<objectiveSettings><objective>20</objective></objectiveSettings><illuminationSettings>
<numericalAperture>0.4</numericalAperture><illuminationSource>brightfield</illuminationSource>
</illuminationSettings></scanSettings></image>"""
SCN_LEVEL = '<dimension sizeX="{0}" sizeY="{0}" r="{1}" ifd="{2}"/>'


def write_scn(path):
    """A Leica slide of 4096 x 4096 pixels in two levels. Of it texture(1024, 1024) was scanned, from
    (1000, 2000) on."""
    levels = SCN_LEVEL.format(1024, 0, 1) + SCN_LEVEL.format(256, 1, 2)
    macro = SCN_LEVEL.format(256, 0, 0)
    words = SCN.format(
        SCN_IMAGE.format(name="macro", side=256, levels=macro, nm=2_048_000, x=0, y=0),
        SCN_IMAGE.format(name="scan", side=1024, levels=levels, nm=512_000, x=500_000, y=1_000_000),
    )
    scan = texture(1024, 1024)
    pages = (texture(256, 256), words), (scan, ""), (scan[::4, ::4].copy(), "")
    how = {"tile": (256, 256), "photometric": "rgb", "compression": "jpeg", "metadata": None}
    how |= {"compressionargs": {"level": 95}, "resolutionunit": "CENTIMETER"}
    with tifffile.TiffWriter(path, bigtiff=True) as tiff:
        for pixels, description in pages:  # a pixel of the scan is half a micrometre wide
            per_cm = len(pixels) / 1024 * 20_000
            tiff.write(pixels, description=description, resolution=(per_cm, per_cm), **how)
    return path
