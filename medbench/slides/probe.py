"""What registration finds out about one file. Runs in a decoder process; no Django.

Of all that a file says about itself only what is named in `reader` and `truth` is read.
"""

from __future__ import annotations

import base64
import io
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medbench.slides import colour, companions, converting, geometry, overview, proof, quality, truth
from medbench.slides.findings import refusal
from medbench.slides.overview import THUMBNAIL_MAX_PX
from medbench.slides.reader import SlideFile, SlideRefused, TileUnreadable
from medbench.slides.truth import UNKNOWN, Scale

if TYPE_CHECKING:
    from PIL import Image

CONVERTIBLE = {"unsupported_format", "no_overview"}


@dataclass(frozen=True)
class Opened:
    """The file that is served, what it is called, and its scale."""

    served: Path
    vendor: str
    scale: Scale
    objective: float | None
    converted: bool


def look(path: Path, pyramid: Path | None = None) -> dict[str, Any]:
    """What `slide_info` answers (contract, section 2) and more: see findings.NOTHING; for a sound file
    also `thumbnail` (JPEG) and `tissue_mask` (PNG) in base64.

    A file that OpenSlide cannot serve is made into a pyramid, kept as `pyramid` where that is given.
    Never raises for a bad file: `refused` holds code and message.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            opened = open_slide(path, pyramid or Path(folder) / "pyramid.tif")
            return _facts(opened)
        except TileUnreadable as error:
            return refusal("unreadable", error.message)
        except SlideRefused as error:
            return refusal(error.code, error.message)
        except MemoryError:
            return refusal("too_costly", "Reading this file takes more memory than a slide may.")


def open_slide(path: Path, pyramid: Path) -> Opened:
    companions.check(path)
    try:
        with SlideFile(path) as slide:
            scale = _checked(path, slide)
            return Opened(path, slide.vendor, scale, slide.objective, converted=False)
    except SlideRefused as error:
        # A TIFF that OpenSlide knows and cannot open is damaged; of DICOM it knows a part.
        may_convert = error.code in CONVERTIBLE or (
            error.code == "unopenable" and not truth.is_tiff(converting.start_of(path))
        )
        source = converting.source_of(path) if may_convert else None
        if source is None:
            raise
    if not pyramid.exists():
        converting.write_pyramid(source, pyramid)
    return Opened(pyramid, source.vendor, source.scale, source.objective, converted=True)


def _checked(path: Path, slide: SlideFile) -> Scale:
    """The scale of a file that OpenSlide opens. Raises SlideRefused where it would not show it truly."""
    own = Scale(slide.mpp, "scanner") if slide.mpp else UNKNOWN
    if slide.vendor == "dicom":
        with truth.reading_dicom():
            truth.check_dicom(truth.read_dicom(path, pixels=False))
        return Scale(slide.mpp, "dicom") if slide.mpp else UNKNOWN
    # NDPI files beyond 4 GB are TIFFs by their first bytes, not by their offsets.
    if slide.vendor == "hamamatsu" or not truth.is_tiff(converting.start_of(path)):
        return own
    with truth.open_tiff(path) as tiff:
        if slide.vendor == "generic-tiff":
            truth.check_tiff(tiff)
            return truth.tiff_scale(tiff)
        truth.check_depth(tiff)
    return own


def _facts(opened: Opened) -> dict[str, Any]:
    with SlideFile(opened.served) as slide:
        levels = proof.proven(opened.served, slide.levels)
        stored = geometry.directories(levels)
        picture = overview.overview(opened.served, THUMBNAIL_MAX_PX, stored)
        mask = quality.tissue_mask(picture.picture)
        tissue = quality.fraction(mask)
        checks = quality.checks(tissue, _tissue_tiles(slide, mask), picture.holes)
        return refusal("", "") | {
            "vendor": opened.vendor,
            "width": slide.width,
            "height": slide.height,
            "bounds": slide.bounds,
            "mpp": opened.scale.mpp,
            "mpp_source": opened.scale.source or None,
            "objective": opened.objective,
            "profile": colour.profile_kind(slide.profile),
            "levels": [level.as_dict() for level in levels],
            "virtual_levels": [level.as_dict() for level in slide.virtual_levels],
            "converted": opened.converted,
            "tissue_fraction": round(tissue, 4),
            "quality": [check.as_dict() for check in checks],
            "refused": None,
            "thumbnail": base64.b64encode(colour.jpeg(picture.picture)).decode(),
            "tissue_mask": base64.b64encode(_png(mask)).decode(),
        }


def _tissue_tiles(slide: SlideFile, mask: Image.Image) -> list[Image.Image]:
    """Level-0 tiles with tissue, as far as they can be read."""
    tiles = []
    for column, row in quality.sharp_places(mask, slide.levels[0].columns, slide.levels[0].rows):
        try:
            tiles.append(slide.tile(0, column, row))
        except TileUnreadable:
            break  # the handle is dead after it
    return tiles


def _png(mask: Image.Image) -> bytes:
    buffer = io.BytesIO()
    mask.convert("1").save(buffer, "PNG")
    return buffer.getvalue()
