"""Is there tissue on a slide, and is it sharp? The image-quality step of a benchmark's making. No Django.

Checks say what they saw; nothing is refused for it. A curator sees them and may overrule them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image, ImageFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Plane = NDArray[np.float32]

TISSUE_MIN = 0.005  # of the slide's area; a needle biopsy covers about 0.02
BLUR_MAX = 0.55  # see `blur`: sharp H&E at 20x lies at 0.2 to 0.4, out of focus by 3 px beyond 0.6
SHARP_TILES = 8  # tiles of level 0 that are looked at
CHROMA_MIN, CHROMA_MAX = 12, 48  # bounds of Otsu's threshold: 8-bit steps between glass and stain
DARK = 48  # a slide with a ground below this is fluorescence: its tissue is what shines
SPECK_PX = 5  # of the overview: dust smaller than this is no tissue


@dataclass(frozen=True)
class Check:
    """One check. `code` is blank, blurred or holes; `value` and `limit` are what was compared."""

    code: str
    ok: bool
    value: float | None
    limit: float
    words: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def tissue_mask(overview: Image.Image) -> Image.Image:
    """Where tissue is on an RGB picture of a whole slide: mode L of its size, 255 tissue, 0 glass.

    On a bright ground tissue is what has colour, on a dark one what has light; the threshold is
    Otsu's (1979), within bounds, so that an empty slide has none.
    """
    pixels = np.asarray(overview.convert("RGB"), np.int16)
    light = pixels.max(axis=2)
    # Pen and print on glass are black: without colour, they count as none.
    signal = light if np.median(light) < DARK else light - pixels.min(axis=2)
    at = min(max(_otsu(signal), CHROMA_MIN), CHROMA_MAX)
    mask = Image.fromarray(np.where(signal > at, 255, 0).astype(np.uint8))
    return mask.filter(ImageFilter.MedianFilter(SPECK_PX))


def fraction(mask: Image.Image) -> float:
    """The share of the picture that is tissue, from 0 to 1."""
    return float(np.mean(np.asarray(mask) > 0))


def _otsu(values: NDArray[np.int16]) -> int:
    """The threshold that separates 8-bit values into two classes best."""
    counts = np.bincount(values.ravel(), minlength=256).astype(np.float64)
    below, sums = np.cumsum(counts), np.cumsum(counts * np.arange(256))
    above = below[-1] - below
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = (sums[-1] - sums) / above - sums / below
        between = np.nan_to_num(below * above * distance**2)
    return int(np.argmax(between))


def blur(picture: Image.Image) -> float | None:
    """How blurred a picture is, from 0 (sharp) to 1; None where it has no structure to judge by.

    Crete et al. 2007, "The blur effect": a picture that is blurred once more changes little if it was
    blurred before. The larger value of the two directions; a window of 11 pixels.
    """
    plane = np.asarray(picture.convert("L"), np.float32)
    if min(plane.shape) < 2 * WINDOW or plane.std() < FLAT:
        return None
    return max(_blur_along(plane), _blur_along(plane.T))


WINDOW = 11
FLAT = 2.0  # standard deviation in 8-bit steps: below it there is only noise


def _blur_along(plane: Plane) -> float:
    sums = np.cumsum(np.pad(plane, ((WINDOW // 2 + 1, WINDOW // 2), (0, 0)), mode="edge"), axis=0)
    smooth = (sums[WINDOW:] - sums[:-WINDOW]) / WINDOW
    sharp_steps, smooth_steps = np.abs(np.diff(plane, axis=0)), np.abs(np.diff(smooth, axis=0))
    total = float(sharp_steps.sum())
    kept = float(np.maximum(0, sharp_steps - smooth_steps).sum())
    return (total - kept) / total if total else 1.0


def checks(tissue_fraction: float, tiles: Sequence[Image.Image], holes: float) -> list[Check]:
    """The checks of one slide. `tiles` are level-0 pictures of tissue, `holes` is the share of the
    overview's tiles that could not be read."""
    found = [
        Check(
            "blank",
            tissue_fraction >= TISSUE_MIN,
            round(tissue_fraction, 4),
            TISSUE_MIN,
            f"Tissue covers {tissue_fraction:.1%} of the slide.",
        ),
        Check("holes", holes == 0, round(holes, 4), 0.0, _hole_words(holes)),
    ]
    values = [value for value in map(blur, tiles) if value is not None]
    if values:
        median = float(np.median(values))
        words = f"Blur is {median:.2f} (0 sharp, 1 blurred) over {len(values)} places with tissue."
        found.insert(1, Check("blurred", median <= BLUR_MAX, round(median, 3), BLUR_MAX, words))
    return found


def _hole_words(holes: float) -> str:
    return (
        f"{holes:.1%} of the overview cannot be read." if holes else "Every part of the overview can be read."
    )


def sharp_places(mask: Image.Image, columns: int, rows: int) -> list[tuple[int, int]]:
    """The (column, row) of up to SHARP_TILES level-0 tiles with tissue, spread over the slide."""
    shares = np.asarray(mask.resize((columns, rows), Image.Resampling.BOX), np.float32)
    order = np.argsort(-shares, axis=None, kind="stable")
    full = [number for number in order if shares.flat[number] > 0.5 * 255]
    chosen = full[:: max(1, len(full) // SHARP_TILES)][:SHARP_TILES] or list(order[:SHARP_TILES])
    return [(int(number % columns), int(number // columns)) for number in chosen if shares.flat[number] > 0]
