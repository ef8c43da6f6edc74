"""ECG records by wfdb, whose use of pandas warns of what a later pandas will no longer have."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

GAIN = 200  # units of a millivolt


def read_signal(header: Path) -> np.ndarray:
    """Samples by leads of a record, in its physical units; raises whatever wfdb does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import wfdb

        return np.asarray(wfdb.rdrecord(str(header.with_suffix(""))).p_signal, dtype=float)


def write_signal(record: Path, millivolts: np.ndarray, rate_hz: int, leads: tuple[str, ...]) -> None:
    """Write a record (`record` without ending) in WFDB format 16: a header and a signal file."""
    count = len(leads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import wfdb

        wfdb.wrsamp(
            record.name,
            fs=rate_hz,
            units=["mV"] * count,
            sig_name=list(leads),
            d_signal=np.round(millivolts * GAIN).astype(np.int64),
            fmt=["16"] * count,
            adc_gain=[float(GAIN)] * count,
            baseline=[0] * count,
            write_dir=str(record.parent),
        )
