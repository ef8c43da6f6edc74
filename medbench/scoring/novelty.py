"""Novelty of a run that no judge has seen: what can be said from shared words alone.

An output is matched where its best score reaches tau; the share of matched outputs is *original*.
*Innovation* also counts unmatched outputs that judges call correct: without judges it is undefined.
Lexical numbers are provisional and never ranked. Source: metrics_spec section 4.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np
    from numpy.typing import NDArray

LEXICAL_TAU = 0.25
LEXICAL = "lexical_provisional"
DECIMALS = 9  # a best score that should equal tau may differ by rounding


class Novelty(NamedTuple):
    """`reason` says why `innovation` is None and what `original` is worth."""

    tau: float
    original: float
    innovation: float | None
    reason: str


def n_matched(matrix: NDArray[np.float64], tau: float) -> int:
    """The number of outputs (columns) whose best score reaches `tau`."""
    if not matrix.size:
        return 0
    return int((matrix.max(axis=0).round(DECIMALS) >= round(tau, DECIMALS)).sum())


def lexical_novelty(matrices: Collection[NDArray[np.float64]], tau: float = LEXICAL_TAU) -> Novelty:
    """Novelty from the ROUGE-1 matrices of all cases; a case without outputs counts with 0."""
    shares = [n_matched(matrix, tau) / max(matrix.shape[1], 1) for matrix in matrices]
    return Novelty(tau, math.fsum(shares) / len(shares), None, LEXICAL)
