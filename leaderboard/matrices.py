"""Pair matrices as bytes: the one place that knows how CaseScore.matrix is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from leaderboard.models import CaseScore

FLOAT64 = np.dtype("<f8")


def to_bytes(matrix: np.ndarray) -> bytes:
    """A matrix of scores as little-endian float64, row by row."""
    return np.ascontiguousarray(matrix, dtype=FLOAT64).tobytes()


def of_case(score: CaseScore) -> np.ndarray:
    """The pair matrix of one case, references x kept outputs; no column where nothing was kept."""
    return np.frombuffer(score.matrix, dtype=FLOAT64).reshape(score.n_references, score.n_outputs)
