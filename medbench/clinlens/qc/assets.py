"""Opens every waveform, image and clip of a package as a participant would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pydicom
from PIL import Image

from medbench.clinlens.waveforms import read_signal

if TYPE_CHECKING:
    from pathlib import Path

OPENED_BY = {".hea": "wfdb", ".jpg": "Pillow", ".dcm": "pydicom"}


def read_asset(path: Path) -> str:
    """What is wrong with a file, "" for nothing. A flat lead is no fault, a flat record or image is."""
    try:
        pixels = {".hea": read_signal, ".jpg": _image, ".dcm": _clip}[path.suffix](path)
    except Exception as error:  # noqa: BLE001  # three libraries, each with errors of its own
        return f"{path.name} cannot be read: {error}"
    if not pixels.size or np.isnan(pixels).all() or pixels.min() == pixels.max():
        return f"{path.name} is empty or of one value"
    return ""


def _image(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image, dtype=float)


def _clip(path: Path) -> np.ndarray:
    return np.asarray(pydicom.dcmread(path).pixel_array, dtype=float)


def assets_of(task: Path) -> list[Path]:
    """The files to open, a waveform by its header."""
    return sorted(path for path in (task / "assets").rglob("*") if path.suffix in OPENED_BY)
