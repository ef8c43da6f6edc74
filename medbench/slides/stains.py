"""Bringing H&E pictures to one colour: Reinhard's and Macenko's normalisation. No Django.

Statistics are taken from at most SAMPLE_PX tissue pixels, and pictures are changed band by band, so a
picture of 12 megapixels needs little more memory than itself. Glass stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from medbench.slides.reader import SlideRefused

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]  # (height, width, 3)
    Colours = NDArray[np.float32]  # (n, 3)
    Change = Callable[[Colours], Colours]

SAMPLE_PX = 200_000
TISSUE_MIN_PX = 500
BAND_PX = 1 << 20
TISSUE_OD = 0.15  # Macenko's threshold: less optical density in any channel is glass

# RGB to LMS (Reinhard et al. 2001, equation 4); log LMS to l-alpha-beta (Ruderman et al. 1998, eq. 6).
LMS = np.array([[0.3811, 0.5783, 0.0402], [0.1967, 0.7244, 0.0782], [0.0241, 0.1288, 0.8444]], np.float32)
LAB = np.diag([3**-0.5, 6**-0.5, 2**-0.5]).astype(np.float32) @ np.array(
    [[1, 1, 1], [1, 1, -2], [1, -1, 0]], np.float32
)
# Of a well-stained breast section (TCGA-A2-A3XS), as the HistomicsTK documentation gives them; natural log.
REINHARD_MEAN = np.array([8.63234435, -0.11501964, 0.03868433], np.float32)
REINHARD_STD = np.array([0.57506023, 0.10403329, 0.01364062], np.float32)

# Optical densities of haematoxylin and eosin (columns), and the 99th percentiles of their amounts, that
# implementations of Macenko et al. 2009 have used since M. Veta's.
MACENKO_STAINS = np.array([[0.5626, 0.2159], [0.7201, 0.8012], [0.4062, 0.5581]], np.float32)
MACENKO_AMOUNTS = np.array([1.9705, 1.0308], np.float32)
MACENKO_PERCENT = 1.0  # of the angles at each end: the stains are taken there, not at outliers


def normalise(picture: Image.Image, method: str) -> Image.Image:
    """`picture` (RGB) by `method`: none, reinhard or macenko.

    Raises SlideRefused (no_tissue) where there is too little tissue to tell its colours.
    """
    if method == "none":
        return picture
    pixels = np.array(picture)
    tissue = _tissue(pixels)
    change = {"reinhard": reinhard, "macenko": macenko}[method](tissue)
    flat = pixels.reshape(-1, 3)
    for start in range(0, len(flat), BAND_PX):
        band = flat[start : start + BAND_PX]
        band[...] = _changed(band, change)
    return Image.fromarray(pixels)


def _changed(band: Pixels, change: Change) -> Pixels:
    """Colours by `change` where there is tissue, unchanged on glass, smoothly between."""
    density = optical_density(band)
    weight = np.clip(density.max(axis=1, keepdims=True) / TISSUE_OD, 0, 1) ** 4
    new = change(band.astype(np.float32))
    mixed = weight * new + (1 - weight) * band
    return np.asarray(np.clip(np.rint(mixed), 0, 255), np.uint8)


def _tissue(pixels: Pixels) -> Colours:
    """A sample of the picture's tissue pixels."""
    flat = pixels.reshape(-1, 3)
    sample = flat[:: max(1, len(flat) // (4 * SAMPLE_PX))]
    tissue = sample[(optical_density(sample) > TISSUE_OD).all(axis=1)]
    if len(tissue) < TISSUE_MIN_PX:
        raise SlideRefused(
            "There is too little stained tissue on this picture to normalise its colours.", code="no_tissue"
        )
    return tissue[:: max(1, len(tissue) // SAMPLE_PX)].astype(np.float32)


def optical_density(colours: NDArray[np.generic]) -> Colours:
    """Beer and Lambert: the natural logarithm of light in over light out, white being 255."""
    return -np.log((colours.astype(np.float32) + 1) / 256)


def _light(density: Colours) -> Colours:
    return 256 * np.exp(-density) - 1


def to_lab(colours: Colours) -> Colours:
    """RGB (0 to 255) to l-alpha-beta."""
    return np.asarray(np.log(np.maximum(colours, 1) @ LMS.T) @ LAB.T, np.float32)


def from_lab(lab: Colours) -> Colours:
    return np.asarray(np.exp(lab @ np.linalg.inv(LAB).T) @ np.linalg.inv(LMS).T, np.float32)


def reinhard(tissue: Colours) -> Change:
    """Mean and standard deviation of each l-alpha-beta axis become those of the reference (Reinhard et
    al. 2001, equations 10 and 11)."""
    lab = to_lab(tissue)
    mean, std = lab.mean(axis=0), np.maximum(lab.std(axis=0), 1e-6)
    return lambda colours: from_lab((to_lab(colours) - mean) / std * REINHARD_STD + REINHARD_MEAN)


def macenko(tissue: Colours) -> Change:
    """The amounts of the picture's own two stains, scaled, are drawn in the reference stains (Macenko et
    al. 2009)."""
    density = optical_density(tissue)
    stains = stain_vectors(density)
    to_amounts = np.linalg.pinv(stains).T
    most = np.maximum(np.percentile(density @ to_amounts, 99, axis=0), 1e-6)
    through = to_amounts @ np.diag(MACENKO_AMOUNTS / most) @ MACENKO_STAINS.T
    return lambda colours: _light(np.asarray(optical_density(colours) @ through, np.float32))


def stain_vectors(density: Colours) -> NDArray[np.float64]:
    """Haematoxylin and eosin as unit columns (3, 2), from tissue's optical densities (n, 3).

    The two directions at the ends of the angles in the plane of most variation; haematoxylin is the one
    that takes more red.
    """
    _, directions = np.linalg.eigh(np.cov(density, rowvar=False))
    plane = directions[:, 1:] * np.where(directions[:, 1:].sum(axis=0) < 0, -1, 1)
    along = density @ plane
    angles = np.arctan2(along[:, 0], along[:, 1])
    ends = np.percentile(angles, (MACENKO_PERCENT, 100 - MACENKO_PERCENT))
    pair = plane @ np.array([np.sin(ends), np.cos(ends)])
    pair /= np.linalg.norm(pair, axis=0)
    return np.asarray(pair[:, np.argsort(-pair[0])])
