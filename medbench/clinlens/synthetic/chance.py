"""Random numbers that depend on what they are for, never on the order in which they are drawn."""

from __future__ import annotations

import hashlib
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Chance:
    """Draws for one patient and one purpose: Philox keyed by SHA-256(seed, purpose, patient)."""

    def __init__(self, seed: str, purpose: str, number: int) -> None:
        digest = hashlib.sha256(f"{seed}|{purpose}|{number}".encode()).digest()
        self._draw = np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16])))

    def yes(self, share: float) -> bool:
        return bool(self._draw.random() < share)

    def uniform(self, low: float, high: float) -> float:
        return float(self._draw.uniform(low, high))

    def normal(self, mean: float = 0.0, deviation: float = 1.0) -> float:
        return float(self._draw.normal(mean, deviation))

    def lognormal(self, median: float, sigma: float) -> float:
        return median * float(np.exp(self._draw.normal(0.0, sigma)))

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` up to and with `high`."""
        return int(self._draw.integers(low, high + 1))

    def poisson(self, mean: float) -> int:
        return int(self._draw.poisson(mean))

    def exponential(self, mean: float) -> float:
        return float(self._draw.exponential(mean))

    def pick(self, items: tuple[T, ...]) -> T:
        return items[int(self._draw.integers(0, len(items)))]

    def hours(self, low: float, high: float) -> float:
        """Hours between two bounds in whole minutes."""
        return round(self.uniform(low, high) * 60) / 60

    def noise(self, shape: tuple[int, ...], deviation: float) -> np.ndarray:
        return self._draw.normal(0.0, deviation, shape)
