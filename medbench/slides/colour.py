"""From the pixels of a slide to the JPEG that a browser shows.

Browsers take an untagged picture as sRGB. Pixels of a slide with another profile are converted here,
once for tiles and thumbnails alike, so both show the same colour on every screen and the profile
(3 kB to over 100 kB) is not sent with each tile. Pixels of an sRGB slide stay exactly OpenSlide's.
"""

from __future__ import annotations

import io
import logging
from itertools import product
from typing import TYPE_CHECKING

from PIL import Image, ImageChops, ImageCms

if TYPE_CHECKING:
    from PIL.ImageCms import ImageCmsTransform

log = logging.getLogger(__name__)

# Measured on two H&E slides: colour at half resolution (4:2:0) costs more truth than a lower quality
# saves bytes (rms 4.5 at quality 90 against 2.2 here). About 14 kB for a tile of 240 x 240.
JPEG_QUALITY = 85
JPEG_SUBSAMPLING = "4:4:4"
ENCODING = "q85-444-1"  # part of each ETag: raise the last number when pixels or bytes change

WHITE = (255, 255, 255)


def jpeg(picture: Image.Image) -> bytes:
    """`picture` (RGB) as a baseline JPEG without metadata."""
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=JPEG_QUALITY, subsampling=JPEG_SUBSAMPLING)
    return buffer.getvalue()


def decode_small(content: bytes, size: tuple[int, int]) -> Image.Image:
    """A JPEG at 1/2, 1/4 or 1/8 as RGB of `size`, the decoder computing no pixel that is not kept.

    Raises OSError for a damaged JPEG and ValueError where `size` is no such fraction.
    """
    with Image.open(io.BytesIO(content)) as picture:
        picture.draft("RGB", size)
        small = picture.convert("RGB")
    if small.size != size:
        raise ValueError(f"A JPEG of {small.size} is not {size}.")
    return small


def on_background(region: Image.Image, background: tuple[int, int, int]) -> Image.Image:
    """`region` (RGBA) as RGB, the slide's own background colour where nothing was scanned."""
    alpha = region.getchannel("A")
    least, most = alpha.getextrema()
    if least == 255:
        return region.convert("RGB")
    picture = Image.new("RGB", region.size, background)
    if most:
        picture.paste(region, mask=alpha)
    return picture


def srgb_transform(profile: bytes | None) -> ImageCmsTransform | None:
    """What makes sRGB of pixels under `profile`; None where they are sRGB already.

    A broken or non-RGB profile is no reason to refuse a slide: its pixels are taken as sRGB.
    """
    if not profile:
        return None
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        target = ImageCms.createProfile("sRGB")
        intent = ImageCms.Intent(ImageCms.getDefaultIntent(source))
        transform = ImageCms.buildTransform(source, target, "RGB", "RGB", intent)
    except (ImageCms.PyCMSError, OSError, ValueError) as error:
        log.warning("A colour profile of %d bytes cannot be used: %s", len(profile), error)
        return None
    return transform if _changes_colours(transform) else None


def profile_kind(profile: bytes | None) -> str:
    """What becomes of a profile: "" none, srgb, converted or unusable (models.Slide.Profile)."""
    if not profile:
        return ""
    if srgb_transform(profile) is not None:
        return "converted"
    try:
        ImageCms.ImageCmsProfile(io.BytesIO(profile))
    except OSError:
        return "unusable"
    return "srgb"


def _changes_colours(transform: ImageCmsTransform) -> bool:
    """Whether any of 343 colours spread over the cube moves by more than rounding."""
    steps = (0, 42, 85, 128, 170, 213, 255)
    swatches = Image.new("RGB", (len(steps) ** 3, 1))
    swatches.putdata(list(product(steps, repeat=3)))
    moved = ImageChops.difference(swatches, transform.apply(swatches))
    return max(moved.tobytes()) > 1
