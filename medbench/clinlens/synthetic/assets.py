"""Waveforms, images and clips: small, readable, and the same bytes each time."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import UID, ExplicitVRLittleEndian, UltrasoundMultiFrameImageStorage

from medbench.clinlens.waveforms import write_signal

if TYPE_CHECKING:
    from pathlib import Path

    from medbench.clinlens.synthetic.chance import Chance

LEADS = ("I", "II", "III", "aVR", "aVF", "aVL", "V1", "V2", "V3", "V4", "V5", "V6")
RATE_HZ, SECONDS = 500, 10
RATES_HZ = (500, 500, 500, 250)  # some carts record at half the rate
CLIP_UID = "1.2.826.0.1.3680043.8.498.1"  # pydicom's root: no registered device


def write_ecg(path: Path, chance: Chance) -> None:
    """Twelve leads of ten seconds in WFDB format 16; one lead in five records is flat."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rate = RATES_HZ[chance.whole(0, len(RATES_HZ) - 1)]
    time = np.arange(rate * SECONDS) / rate
    beat = np.exp(-(((time % 0.8) - 0.4) ** 2) / 0.0006)
    scale = np.linspace(0.4, 1.3, len(LEADS))
    signal = beat[:, None] * scale[None, :] + chance.noise((len(time), len(LEADS)), 0.02)
    if chance.yes(0.2):
        signal[:, chance.whole(0, len(LEADS) - 1)] = 0
    write_signal(path, signal, rate, LEADS)


def write_radiograph(path: Path, chance: Chance) -> None:
    """A small grey JPEG with two darker lungs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    y, x = np.mgrid[0:256, 0:224]
    lungs = sum(np.exp(-(((x - centre) / 34) ** 2) - ((y - 120) / 75) ** 2) for centre in (70, 154))
    pixels = 190 - 120 * lungs + chance.noise((256, 224), 6)
    buffer = io.BytesIO()
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=80)
    path.write_bytes(buffer.getvalue())


def write_clip(path: Path, chance: Chance, number: int) -> None:
    """A short uncompressed ultrasound clip."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frames = chance.whole(4, 8)
    y, x = np.mgrid[0:48, 0:64]
    radius = 12 + 4 * np.sin(np.arange(frames))
    inside = (x[None] - 32) ** 2 + (y[None] - 24) ** 2 < radius[:, None, None] ** 2
    pixels = np.clip(60 + 120 * inside + chance.noise(inside.shape, 8), 0, 255).astype(np.uint8)
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = UltrasoundMultiFrameImageStorage
    meta.MediaStorageSOPInstanceUID = UID(f"{CLIP_UID}.{number}")
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.ImplementationClassUID = UID(CLIP_UID)
    clip = FileDataset(path, {}, file_meta=meta, preamble=b"\0" * 128)
    clip.SOPClassUID, clip.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
    clip.Modality, clip.PatientID, clip.PatientName = "US", "SYNTHETIC", ""
    clip.Rows, clip.Columns, clip.NumberOfFrames = 48, 64, frames
    clip.SamplesPerPixel, clip.PhotometricInterpretation = 1, "MONOCHROME2"
    clip.BitsAllocated, clip.BitsStored, clip.HighBit, clip.PixelRepresentation = 8, 8, 7, 0
    clip.FrameTime = "33.3"
    clip.PixelData = pixels.tobytes()
    clip.save_as(path, enforce_file_format=True)
