"""Makes a tiled pyramid of a sound picture that OpenSlide does not open. No Django.

Plain PNG and JPEG, TIFFs without tiles, OME-TIFFs by plane, and DICOM slides that lack what OpenSlide
asks for, or use another compression. What comes out is a TIFF like any other: its tiles are sent as
they are stored. Label, macro and free properties are not read, so they cannot get into it.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyvips
from PIL import Image

from medbench.slides import geometry, truth
from medbench.slides.reader import SlideRefused
from medbench.slides.truth import UNKNOWN, Scale

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pydicom
    import tifffile
    from numpy.typing import NDArray

MAX_PX = 500_000_000  # more is hours of work: the person who has the file converts it better
TILE_PX = 256
QUALITY = 90  # with colour at full resolution; tiles are not encoded a second time

JPEG_SYNTAXES = {f"1.2.840.10008.1.2.4.{number}" for number in (50, 51)}
JPEG_LS_SYNTAXES = {f"1.2.840.10008.1.2.4.{number}" for number in (80, 81)}
JPEG_2000_SYNTAXES = {f"1.2.840.10008.1.2.4.{number}" for number in (90, 91)}
PLAIN_SYNTAXES = {"1.2.840.10008.1.2", "1.2.840.10008.1.2.1"}


@dataclass(frozen=True)
class Source:
    """A picture to convert and what its file says of it."""

    picture: pyvips.Image
    vendor: str
    scale: Scale = UNKNOWN
    objective: float | None = None


def source_of(path: Path) -> Source | None:
    """The picture in a file; None for a kind of file that this module does not know.

    Raises SlideRefused for one that cannot be shown truly, or is too large.
    """
    start = start_of(path)
    if path.suffix.lower() == ".vsi":  # a TIFF on the outside: of the preview, not of the slide
        raise SlideRefused(
            "Olympus VSI slides cannot be opened here. Export it as a pyramidal TIFF or OME-TIFF in RGB.",
            code="vsi_unsupported",
        )
    if truth.is_tiff(start):
        source = _tiff(path)
    elif start[128:] == b"DICM":
        source = _dicom(path)
    elif start.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")):
        source = _picture(path)
    else:
        return None
    _check_pixels(source.picture.width, source.picture.height)
    return source


def start_of(path: Path) -> bytes:
    """As many bytes of a file as tell its kind."""
    with path.open("rb") as file:
        return file.read(132)


def write_pyramid(source: Source, target: Path) -> None:
    """Write the picture as a pyramid to `target`, whole or not at all. Raises SlideRefused."""
    half = target.with_suffix(f".{os.getpid()}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        _rgb(source.picture).tiffsave(
            str(half),
            tile=True,
            tile_width=TILE_PX,
            tile_height=TILE_PX,
            pyramid=True,
            compression="jpeg",
            Q=QUALITY,
            bigtiff=True,
            keep="icc",
        )
        half.replace(target)
    except pyvips.Error as error:
        raise SlideRefused(
            "The picture's data is damaged: it cannot be read to its end. Export it again.", code="damaged"
        ) from error
    finally:
        half.unlink(missing_ok=True)


def _check_pixels(width: int, height: int) -> None:
    if width * height > MAX_PX:
        raise SlideRefused(
            f"The picture has {width:,} x {height:,} pixels in one piece. Convert it to a tiled "
            "pyramid, for example a pyramidal TIFF, and register that.",
            code="too_large_to_convert",
        )


def _rgb(picture: pyvips.Image) -> pyvips.Image:
    """Three bands of 8 bits; transparent becomes white."""
    if picture.hasalpha():
        picture = picture.flatten(background=[255] * (picture.bands - 1))
    return picture.colourspace("srgb") if picture.bands == 1 else picture


def _picture(path: Path) -> Source:
    try:
        picture = pyvips.Image.new_from_file(str(path), access="sequential", fail_on="error")
        if picture.get_typeof("orientation") and picture.get("orientation") != 1:
            # A camera's way to say which side is up; browsers follow it, so do we.
            picture = pyvips.Image.new_from_file(str(path), fail_on="error").autorot()
    except pyvips.Error as error:
        raise SlideRefused("The picture is damaged. Export it again.", code="damaged") from error
    if picture.format != "uchar":
        raise truth.refuse_depth(
            picture.get("bits-per-sample") if picture.get_typeof("bits-per-sample") else 16
        )
    if picture.interpretation not in ("srgb", "b-w"):
        raise truth.refuse_colours(str(picture.interpretation))
    # libvips knows pixels per millimetre, and says 1 where the file says nothing.
    mpp = (
        geometry.plausible_mpp(1000 / picture.xres, 1000 / picture.yres)
        if picture.xres > 0 < picture.yres
        else None
    )
    return Source(picture, "picture", Scale(mpp, "picture") if mpp else UNKNOWN)


def _tiff(path: Path) -> Source:
    with truth.open_tiff(path) as tiff:
        truth.check_tiff(tiff)
        page = tiff.series[0].keyframe
        _check_pixels(page.imagewidth, page.imagelength)
        pieces = zip(page.dataoffsets, page.databytecounts, strict=False)
        if max((at + count for at, count in pieces), default=0) > tiff.filehandle.size:
            raise SlideRefused(CUT_SHORT, code="cut_short")
        vendor = "ome" if tiff.is_ome else "tiff"
        return Source(_tiff_picture(path, tiff), vendor, truth.tiff_scale(tiff))


CUT_SHORT = "The file ends before its contents do. Copy it again."


def _tiff_picture(path: Path, tiff: tifffile.TiffFile) -> pyvips.Image:
    """Through libtiff where it knows the compression, row by row; else all at once."""
    page = tiff.series[0].keyframe
    try:
        picture = pyvips.Image.tiffload(str(path), page=page.index, access="sequential", fail_on="error")
        if (picture.width, picture.height, picture.format) == (page.imagewidth, page.imagelength, "uchar"):
            return picture
    except pyvips.Error:
        pass
    try:
        pixels = tiff.series[0].asarray(squeeze=False)
    except Exception as error:  # decoders of a dozen kinds, each with errors of its own
        raise SlideRefused(
            "The picture's data is damaged, or compressed in a way that is not known here. Export it again.",
            code="damaged",
        ) from error
    if page.planarconfig == 2:  # samples stand in planes of their own
        pixels = np.moveaxis(pixels.reshape(-1, page.imagelength, page.imagewidth), 0, -1)
    return _from_array(pixels.reshape(page.imagelength, page.imagewidth, -1))


def _from_array(pixels: NDArray[np.uint8]) -> pyvips.Image:
    picture = pyvips.Image.new_from_array(np.ascontiguousarray(pixels))
    return picture.copy(interpretation="b-w" if pixels.shape[-1] < 3 else "srgb")


def _dicom(path: Path) -> Source:
    with truth.reading_dicom():
        truth.check_dicom(truth.read_dicom(path, pixels=False))
        image = truth.read_dicom(path, pixels=True)
        picture = _from_array(_assemble(image))
        if profile := _optical(image, "ICCProfile"):
            picture = picture.copy()
            picture.set_type(pyvips.GValue.blob_type, "icc-profile-data", bytes(profile))
        objective = geometry.plausible_objective(_float(_optical(image, "ObjectiveLensPower")))
        return Source(picture, "dicom", truth.dicom_scale(image), objective)


def _optical(image: pydicom.Dataset, name: str) -> Any:
    paths = image.get("OpticalPathSequence")
    return paths[0].get(name) if paths else None


def _float(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _assemble(image: pydicom.Dataset) -> NDArray[np.uint8]:
    """The whole picture from its frames, white where there is none: (rows, columns, samples)."""
    width, height = int(image.TotalPixelMatrixColumns), int(image.TotalPixelMatrixRows)
    _check_pixels(width, height)
    samples = int(image.SamplesPerPixel)
    if samples not in (1, 3):
        raise truth.refuse_channels(samples)
    pixels = np.full((height, width, samples), 255, np.uint8)
    frames = [frame.reshape(*frame.shape[:2], samples) for frame in _frames(image)]
    for frame, (left, top) in zip(frames, _places(image, frames), strict=False):
        room = pixels[top : top + frame.shape[0], left : left + frame.shape[1]]
        room[...] = frame[: room.shape[0], : room.shape[1]]
    return pixels


def _places(image: pydicom.Dataset, frames: list[NDArray[np.uint8]]) -> list[tuple[int, int]]:
    """Left and top of each frame: its own where it has one (counted from 1), else row by row, as
    TILED_FULL means. Some writers say neither and go column by column; the seams between the frames
    tell. Raises SlideRefused where they do not."""
    own = image.get("PerFrameFunctionalGroupsSequence")
    order = image.get("DimensionOrganizationType")
    if own and order != "TILED_FULL":
        places = [frame.PlanePositionSlideSequence[0] for frame in own]
        return [
            (
                _index(each.ColumnPositionInTotalImagePixelMatrix),
                _index(each.RowPositionInTotalImagePixelMatrix),
            )
            for each in places
        ]
    lefts = range(0, int(image.TotalPixelMatrixColumns), int(image.Columns))
    tops = range(0, int(image.TotalPixelMatrixRows), int(image.Rows))
    if order == "TILED_FULL" or 1 in (len(lefts), len(tops)):
        return [(left, top) for top in tops for left in lefts]
    by_row, by_column = _seam(frames, len(lefts)), _seam(frames, len(tops), across=0)
    if min(by_row, by_column) > CLEAR_SEAM * max(by_row, by_column):
        raise SlideRefused(
            "The DICOM file does not say where its frames belong, and their seams do not tell. Export it "
            "with the organisation TILED_FULL.",
            code="frames_unplaced",
        )
    if by_row < by_column:
        return [(left, top) for top in tops for left in lefts]
    return [(left, top) for left in lefts for top in tops]


CLEAR_SEAM = 0.6  # the right order has a seam below this part of the wrong one's


def _seam(frames: list[NDArray[np.uint8]], run: int, *, across: int = 1) -> float:
    """How much frames differ (8-bit steps) where they meet, if each `run` of them lies in one line:
    along x (`across` 1) or y (0)."""
    steps = []
    for number, (one, other) in enumerate(pairwise(frames), 1):
        if number % run:
            ends = one.take(-1, axis=across).astype(np.int16) - other.take(0, axis=across)
            steps.append(float(np.abs(ends).mean()))
    return float(np.mean(steps))


def _index(value: Any) -> int:
    number = int(value) - 1
    if number < 0:
        raise ValueError("a frame outside the picture")
    return number


def _frames(image: pydicom.Dataset) -> Iterator[NDArray[np.uint8]]:
    syntax, count = str(image.file_meta.TransferSyntaxUID), int(image.get("NumberOfFrames") or 1)
    if syntax in PLAIN_SYNTAXES:
        if image.get("PlanarConfiguration"):
            raise truth.refuse_colours("stored plane by plane")
        shape = int(image.Rows), int(image.Columns), int(image.SamplesPerPixel)
        whole = np.frombuffer(image.PixelData, np.uint8, count * int(np.prod(shape)))
        yield from whole.reshape(count, *shape)
        return
    from pydicom.encaps import generate_frames

    says_rgb = image.PhotometricInterpretation == "RGB"
    for content in generate_frames(image.PixelData, number_of_frames=count):
        yield _decoded(content, syntax, says_rgb=says_rgb)


def _decoded(content: bytes, syntax: str, *, says_rgb: bool) -> NDArray[np.uint8]:
    import imagecodecs

    if syntax in JPEG_SYNTAXES:
        return _decoded_jpeg(content, says_rgb=says_rgb)
    if syntax in JPEG_LS_SYNTAXES:
        return np.asarray(imagecodecs.jpegls_decode(content), np.uint8)
    if syntax in JPEG_2000_SYNTAXES:
        return np.asarray(imagecodecs.jpeg2k_decode(content), np.uint8)
    raise SlideRefused(
        "The DICOM file is compressed in a way that is not known here. Export it with JPEG.",
        code="unknown_compression",
    )


def _decoded_jpeg(content: bytes, *, says_rgb: bool) -> NDArray[np.uint8]:
    """The file says RGB of JPEGs that are YCbCr often enough: a marker in the JPEG, or colour at half
    resolution, proves it wrong. Only a JPEG without either is taken at the file's word."""
    import imagecodecs

    with Image.open(io.BytesIO(content)) as picture:
        sampling = {component[1:3] for component in picture.layer}  # type: ignore[attr-defined]  # of JpegImageFile
        marked = "jfif" in picture.info or "adobe" in picture.info
        if says_rgb and not marked and sampling == {(1, 1)} and picture.mode == "RGB":
            return np.asarray(imagecodecs.jpeg8_decode(content, colorspace="RGB", outcolorspace="RGB"))
        return np.asarray(picture.convert("L" if picture.mode == "L" else "RGB"))
