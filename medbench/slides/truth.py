"""Can a file be shown truly? Found out from its description before a pixel is shown. No Django.

OpenSlide opens TIFFs of several planes or channels and of 16 bits, and shows the first plane, the
first channel, the upper byte. Such files are refused in words. Only the tags that are named here are
ever read, of TIFF and of DICOM: never names, dates or barcodes.
"""

from __future__ import annotations

import logging
import re
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tifffile

from medbench.slides import geometry
from medbench.slides.reader import SlideRefused
from medbench.slides.tiff import TiffFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pydicom

logging.getLogger("tifffile").setLevel(logging.CRITICAL)  # it complains of every odd tag

WHOLE_SLIDE = "1.2.840.10008.5.1.4.1.1.77.1.6"  # VL Whole Slide Microscopy Image Storage
NO_SLIDES = {"LABEL", "OVERVIEW", "LOCALIZER", "THUMBNAIL"}  # third value of ImageType (DICOM PS3.3 C.8.12.4)
NOT_RGB = {3: "a palette", 5: "CMYK inks", 8: "CIE L*a*b*", 9: "ICC L*a*b*", 32844: "LogL", 32845: "LogLuv"}
UM_PER_UNIT: dict[Any, float] = {2: 25_400.0, 3: 10_000.0}  # ResolutionUnit of TIFF: inch, centimetre
OME_UM = {"µm": 1.0, "μm": 1.0, "um": 1.0, "nm": 1e-3, "mm": 1e3}
DICOM_TAGS = [
    "SOPClassUID",
    "SeriesInstanceUID",
    "ImageType",
    "SamplesPerPixel",
    "PhotometricInterpretation",
    "PlanarConfiguration",
    "BitsAllocated",
    "BitsStored",
    "Rows",
    "Columns",
    "NumberOfFrames",
    "TotalPixelMatrixColumns",
    "TotalPixelMatrixRows",
    "TotalPixelMatrixFocalPlanes",
    "NumberOfOpticalPaths",
    "DimensionOrganizationType",
    "SharedFunctionalGroupsSequence",
    "PerFrameFunctionalGroupsSequence",
    "OpticalPathSequence",
]


@dataclass(frozen=True)
class Scale:
    """Micrometres per pixel along x and y, and a key of findings.MPP_SOURCES."""

    mpp: tuple[float, float] | None = None
    source: str = ""


UNKNOWN = Scale()


def refuse_stack(planes: int) -> SlideRefused:
    return SlideRefused(
        f"The file holds a stack of {planes:,} planes or times, and only one could be shown. Export the "
        "plane that is to be judged as a file of its own.",
        code="stack",
    )


def refuse_channels(channels: int) -> SlideRefused:
    return SlideRefused(
        f"The file holds {channels:,} separate channels, and no picture of them all. Export an RGB "
        "picture of the channels that are to be judged.",
        code="channels",
    )


def refuse_depth(bits: object) -> SlideRefused:
    return SlideRefused(
        f"The pixels have {bits} bits, and only pictures of 8 bits can be shown truly. Export it with 8 "
        "bits, at a contrast of your choice.",
        code="bit_depth",
    )


def refuse_colours(model: str) -> SlideRefused:
    return SlideRefused(
        f"The colours of the file are {model}, which cannot be shown truly. Export it as RGB.",
        code="colour_model",
    )


def is_tiff(start: bytes) -> bool:
    """Whether a file that starts so is a TIFF or BigTIFF."""
    return start[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def open_tiff(path: Path) -> tifffile.TiffFile:
    """The TIFF at `path`, its chain of directories known to end: tifffile would follow a loop for ever.

    Raises SlideRefused.
    """
    try:
        with TiffFile(path) as own:
            own.levels()
        return tifffile.TiffFile(path)
    except Exception as error:  # what a damaged file does to tifffile is of every kind
        raise SlideRefused(
            "The TIFF's directories are damaged, not all there, or more than 256 in number. Copy or export "
            "it again.",
            code="damaged",
        ) from error


def check_tiff(tiff: tifffile.TiffFile) -> None:
    """Raise SlideRefused where the main picture of an open TIFF cannot be shown truly."""
    try:
        series = tiff.series[0]
        sizes = dict(zip(series.axes, series.shape, strict=True))
        page = series.keyframe
        bits, kind, photometric = page.bitspersample, page.dtype, page.photometric
    except Exception as error:  # what a damaged file does to tifffile is of every kind
        raise SlideRefused(
            "The TIFF's own description is damaged. Export it again.", code="damaged"
        ) from error
    if not all(series.shape):
        raise SlideRefused("The picture has no pixels.", code="empty")
    for axis, size in sizes.items():
        if axis == "C" and size > 1:
            raise refuse_channels(size)
        if axis not in "YXSC" and size > 1:
            raise refuse_stack(size)
    if kind is None or kind.kind != "u" or kind.itemsize != 1 or bits != 8:
        raise refuse_depth(bits if kind is None or kind.kind == "u" else f"{bits} signed or fractional")
    if photometric in NOT_RGB:
        raise refuse_colours(NOT_RGB[photometric])


def check_depth(tiff: tifffile.TiffFile) -> None:
    """Raise SlideRefused where the first directory of a scanner's TIFF has other than 8 bits."""
    bits = tiff.pages.first.bitspersample
    if bits != 8:
        raise refuse_depth(bits)


def tiff_scale(tiff: tifffile.TiffFile) -> Scale:
    """What the OME description, else the resolution tags of the first directory, say."""
    if tiff.is_ome and (mpp := _ome_mpp(tiff.pages.first.description)):
        return Scale(mpp, "ome")
    tags = tiff.pages.first.tags
    per_unit = UM_PER_UNIT.get(tags.valueof("ResolutionUnit", 2), 0.0)
    x, y = (_ratio(tags.valueof(name)) for name in ("XResolution", "YResolution"))
    mpp = geometry.plausible_mpp(per_unit / x, per_unit / y) if x and y else None
    return Scale(mpp, "resolution") if mpp else UNKNOWN


def _ratio(value: Any) -> float:
    try:
        return float(value[0] / value[1])
    except (TypeError, ZeroDivisionError, IndexError):
        return 0.0


def _ome_mpp(description: str) -> tuple[float, float] | None:
    sides = [_ome_side(description, axis) for axis in "XY"]
    return geometry.plausible_mpp(*sides)


def _ome_side(description: str, axis: str) -> float | None:
    """The physical size of a pixel of the first image; OME's own unit where none is named is µm."""
    pixels = re.search(r"<(?:\w+:)?Pixels\b[^>]*>", description)
    size = pixels and re.search(rf'\bPhysicalSize{axis}="([0-9.eE+-]{{1,30}})"', pixels[0])
    unit = pixels and re.search(rf'\bPhysicalSize{axis}Unit="([^"]{{1,4}})"', pixels[0])
    try:
        return float(size[1]) * OME_UM[unit[1] if unit else "µm"] if size else None
    except (KeyError, ValueError):
        return None


def check_dicom(image: pydicom.Dataset) -> None:
    """Raise SlideRefused where a DICOM file is no whole-slide image, or cannot be shown truly."""
    flavour = list(image.get("ImageType") or [])[2:3]
    if image.get("SOPClassUID") != WHOLE_SLIDE or set(flavour) & NO_SLIDES:
        raise SlideRefused(
            "This DICOM file is no slide: it holds annotations, a segmentation, a label or another kind of "
            "picture. Give the file of the volume image.",
            code="not_a_slide",
        )
    planes, paths = (image.get(name) or 1 for name in ("TotalPixelMatrixFocalPlanes", "NumberOfOpticalPaths"))
    if planes > 1:
        raise refuse_stack(planes)
    if paths > 1:
        raise refuse_channels(paths)
    if image.get("BitsAllocated") != 8:
        raise refuse_depth(image.get("BitsStored") or image.get("BitsAllocated"))


def dicom_scale(image: pydicom.Dataset) -> Scale:
    """PixelSpacing: millimetres between rows, then between columns (DICOM PS3.3, 10.7)."""
    try:
        y_mm, x_mm = image.SharedFunctionalGroupsSequence[0].PixelMeasuresSequence[0].PixelSpacing
    except (AttributeError, IndexError, TypeError, ValueError):
        return UNKNOWN
    mpp = geometry.plausible_mpp(1000 * float(x_mm), 1000 * float(y_mm))
    return Scale(mpp, "dicom") if mpp else UNKNOWN


def read_dicom(path: Path, *, pixels: bool) -> pydicom.Dataset:
    """The tags of DICOM_TAGS, and PixelData if wanted. Use inside `reading_dicom`."""
    from pydicom import dcmread

    tags = [*DICOM_TAGS, "PixelData"] if pixels else DICOM_TAGS
    return dcmread(path, stop_before_pixels=not pixels, specific_tags=list(tags))


@contextmanager
def reading_dicom() -> Iterator[None]:
    """Turns whatever a damaged file makes pydicom raise, when a tag is read or used, into SlideRefused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names longer than they may be, and the like
        try:
            yield
        except (SlideRefused, MemoryError):
            raise
        except Exception as error:  # each attribute may lack, or be of another kind
            raise SlideRefused("The DICOM file is damaged. Export it again.", code="damaged") from error
