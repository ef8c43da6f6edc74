"""Synthetic H&E slides for the demo: procedural only, no patient behind any pixel.

A slide is drawn row of tiles by row of tiles from periodic noise textures (stroma, nuclei) and
smooth fields (tissue outline, glands), in optical densities of haematoxylin and eosin (Ruifrok and
Johnston, 2001), and written as a tiled pyramidal JPEG TIFF as Aperio scanners write them.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import tifffile
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Field = NDArray[np.float32]
    Pixels = NDArray[np.uint8]

TILE_PX = 256
TEXTURE_PX = 2048
FIELD_STEP_PX = 16  # smooth fields are computed once per 16 level-0 pixels and interpolated
MPP_UM = 0.499
DOWNSAMPLES = (1, 4, 16)
HAEMATOXYLIN_OD = np.array([0.65, 0.70, 0.29], np.float32)
EOSIN_OD = np.array([0.07, 0.99, 0.11], np.float32)
GLASS = 243


def band_noise(rng: np.random.Generator, n: int, shortest_px: float, longest_px: float) -> Field:
    """Periodic n x n noise with wavelengths in a band, standard deviation 1."""
    spectrum = np.fft.rfft2(rng.standard_normal((n, n)))
    radius = np.hypot(np.fft.fftfreq(n)[:, None], np.fft.rfftfreq(n)[None, :])
    spectrum *= np.exp(-((radius * shortest_px) ** 2)) - np.exp(-((radius * longest_px) ** 2))
    noise = np.fft.irfft2(spectrum, s=(n, n))
    return np.asarray(noise / noise.std(), np.float32)


def soft_step(field: Field, at: float, width: float) -> Field:
    """0 below `at`, 1 above, smooth over about `width`."""
    return np.asarray(np.clip((field - at) / width + 0.5, 0, 1), np.float32)


class Tissue:
    """The fields of one slide, evaluated for any level-0 rectangle."""

    def __init__(self, seed: int, width_px: int, height_px: int) -> None:
        rng = np.random.default_rng(seed)
        self.eosin = 0.5 * band_noise(rng, TEXTURE_PX, 3, 25) + 0.5 * band_noise(rng, TEXTURE_PX, 40, 300)
        self.nuclei = band_noise(rng, TEXTURE_PX, 10, 18)
        self.chromatin = band_noise(rng, TEXTURE_PX, 2.5, 7)
        n = 1 << (max(width_px, height_px) // FIELD_STEP_PX + 32).bit_length()
        outline = band_noise(rng, n, 60, 200)
        # Tissue keeps away from the slide's edge, as on glass.
        y, x = np.mgrid[0:n, 0:n] * FIELD_STEP_PX
        edge = np.maximum(abs(x / width_px - 0.5), abs(y / height_px - 0.5)).astype(np.float32)
        self.outline = Image.fromarray(soft_step(outline + 3.2 - 8 * edge, 0, 0.15))
        self.glands = Image.fromarray(band_noise(rng, n, 14, 40))

    def smooth(self, field: Image.Image, x_l0_px: int, y_l0_px: int, w_px: int, h_px: int) -> Field:
        left, top = x_l0_px / FIELD_STEP_PX, y_l0_px / FIELD_STEP_PX
        box = (left, top, left + w_px / FIELD_STEP_PX, top + h_px / FIELD_STEP_PX)
        return np.asarray(field.resize((w_px, h_px), Image.Resampling.BICUBIC, box=box))

    def texture(self, field: Field, x_l0_px: int, y_l0_px: int, w_px: int, h_px: int) -> Field:
        rows = np.arange(y_l0_px, y_l0_px + h_px) % TEXTURE_PX
        columns = np.arange(x_l0_px, x_l0_px + w_px) % TEXTURE_PX
        return field[rows[:, None], columns[None, :]]

    def pixels(self, *rect_l0_px: int) -> Pixels:
        """RGB of a level-0 rectangle (x, y, width, height)."""
        gland = self.smooth(self.glands, *rect_l0_px)
        lumen = soft_step(gland, 1.15, 0.08)
        epithelium = soft_step(gland, 0.35, 0.1) * (1 - lumen)
        tissue = self.smooth(self.outline, *rect_l0_px) * (1 - 0.92 * lumen)
        # Nuclei crowd along the epithelium and are scattered in the stroma.
        crowding = 1.55 - 1.0 * epithelium - 0.5 * np.exp(-(((gland - 0.45) / 0.12) ** 2))
        nucleus = soft_step(self.texture(self.nuclei, *rect_l0_px) - crowding, 0, 0.25)
        haematoxylin = nucleus * (0.85 + 0.2 * self.texture(self.chromatin, *rect_l0_px)) + 0.05 * epithelium
        eosin = 0.42 + 0.13 * self.texture(self.eosin, *rect_l0_px) - 0.1 * epithelium
        density = (
            np.clip(haematoxylin, 0, 1.6)[..., None] * HAEMATOXYLIN_OD * 0.95
            + np.clip(eosin, 0.05, 1.2)[..., None] * EOSIN_OD * 0.8
        )
        rgb = GLASS * np.exp(-density * tissue[..., None])
        return np.asarray(np.clip(rgb, 0, 255), np.uint8)


def jpeg(pixels: Pixels) -> bytes:
    """One tile as a complete JPEG stream, YCbCr 4:2:0."""
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=75, subsampling="4:2:0")
    return out.getvalue()


def tiles(image: Pixels) -> Iterator[bytes]:
    """The tiles of an image in TIFF order; those at the edge are filled up with its last pixels."""
    height, width = image.shape[:2]
    down, right = -height % TILE_PX, -width % TILE_PX
    padded = np.pad(image, ((0, down), (0, right), (0, 0)), mode="edge")
    for y in range(0, padded.shape[0], TILE_PX):
        for x in range(0, padded.shape[1], TILE_PX):
            yield jpeg(padded[y : y + TILE_PX, x : x + TILE_PX])


def shrink(image: Pixels, factor: int) -> Pixels:
    """The image at 1/factor, each pixel the mean of a square; a rest at the edge is dropped."""
    return np.asarray(Image.fromarray(image).reduce(factor))


def write_slide(path: Path, *, seed: int, width_px: int = 4608, height_px: int = 3456) -> None:
    """Write a pyramidal slide of width_px x height_px at 0.499 µm/px (20x) to `path`."""
    tissue = Tissue(seed, width_px, height_px)
    strips = [
        tissue.pixels(0, y, width_px, min(TILE_PX, height_px - y)) for y in range(0, height_px, TILE_PX)
    ]
    full = np.concatenate(strips)
    with tifffile.TiffWriter(path) as tiff:
        for downsample in DOWNSAMPLES:
            image = full if downsample == 1 else shrink(full, downsample)
            height, width = image.shape[:2]
            note = f"Aperio Image Library (MedBench demo)\n{width_px}x{height_px} -> {width}x{height}"
            tiff.write(
                tiles(image),
                shape=image.shape,
                dtype=np.uint8,
                tile=(TILE_PX, TILE_PX),
                photometric="ycbcr",
                subsampling=(2, 2),
                compression="jpeg",
                metadata=None,
                subfiletype=0,
                description=f"{note}|AppMag = 20|MPP = {MPP_UM}",
            )
