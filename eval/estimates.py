"""Shares with their 95% intervals, from what each deal brought."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Z = 1.96


@dataclass(frozen=True)
class Estimate:
    """A share with its 95% interval, all between 0 and 1. As text in percent."""

    value: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """The distance to the farther end of the interval."""
        return max(self.high - self.value, self.value - self.low)

    def __str__(self) -> str:
        """Such as ``65.9 ± 0.3``."""
        return f"{100 * self.value:.1f} ± {100 * self.margin:.1f}"


def estimate(per_deal: NDArray[np.float64]) -> Estimate:
    """The mean of shares that were measured deal by deal, each deal an observation of its own.

    The interval is Wilson's for as many independent trials as have the spread that was found. One
    deal more, spread like a single trial, is counted in, so that a handful of deals that happen to
    agree does not look certain.

    Args:
        per_deal: (D,) float64, values from 0 to 1.

    Raises:
        ValueError: no deals.
    """
    deals = len(per_deal)
    if not deals:
        raise ValueError("an estimate needs at least one deal")
    mean = float(per_deal.mean())
    single = mean * (1 - mean)
    squares = float(np.square(per_deal - mean).sum()) + single
    trials = single * deals**2 / squares if 0 < mean < 1 else deals
    centre = (mean + _Z**2 / (2 * trials)) / (1 + _Z**2 / trials)
    half = math.sqrt(single / trials + (_Z / (2 * trials)) ** 2) * _Z / (1 + _Z**2 / trials)
    return Estimate(mean, max(0.0, min(centre - half, mean)), min(1.0, max(centre + half, mean)))
