"""Shares and means with their 95% intervals, from what each deal brought."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Z = 1.96


def quantile(deals: int) -> float:
    """How many standard errors an interval of 95% reaches, if those come from so many deals.

    Student's t by the first terms of its expansion in one over the degrees of freedom.
    """
    freedom = max(deals - 1, 1)
    return _Z + (_Z**3 + _Z) / (4 * freedom) + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * freedom**2)


@dataclass(frozen=True)
class Mean:
    """A mean with its 95% interval, in whatever unit it has."""

    value: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half the interval."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        """Such as ``31.4 ± 0.8``."""
        return f"{self.value:.1f} ± {self.margin:.1f}"


def mean_per_round(sums: NDArray[np.float64], rounds: NDArray[np.float64]) -> Mean:
    """The mean over rounds of what was summed deal by deal; deals may differ in their rounds.

    A ratio of two sums, with the standard error of its linear form. A single deal says nothing of
    the spread: its interval is the whole line.

    Args:
        sums: (D,) float64.
        rounds: (D,) float64, at least one positive.
    """
    deals, total = len(sums), float(rounds.sum())
    value = float(sums.sum()) / total
    if deals < 2:
        return Mean(value, -math.inf, math.inf)
    squares = float(np.square(sums - value * rounds).sum()) * deals / (deals - 1)
    half = quantile(deals) * math.sqrt(squares) / total
    return Mean(value, value - half, value + half)


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


def estimate(per_deal: NDArray[np.float64], rounds: float = 1.0) -> Estimate:
    """The mean of shares that were measured deal by deal, each deal an observation of its own.

    The interval is Wilson's for as many independent trials as have the spread that was found. One
    deal more, spread like so many independent rounds, is counted in, so that a handful of deals
    that happen to agree does not look certain.

    Args:
        per_deal: (D,) float64, with a mean from 0 to 1.
        rounds: of each deal, where they are many and nearly independent.

    Raises:
        ValueError: no deals.
    """
    deals = len(per_deal)
    if not deals:
        raise ValueError("an estimate needs at least one deal")
    mean = float(per_deal.mean())
    single = mean * (1 - mean)
    squares = float(np.square(per_deal - mean).sum()) + single / rounds
    trials = single * deals**2 / squares if 0 < mean < 1 else deals
    centre = (mean + _Z**2 / (2 * trials)) / (1 + _Z**2 / trials)
    half = math.sqrt(single / trials + (_Z / (2 * trials)) ** 2) * _Z / (1 + _Z**2 / trials)
    return Estimate(mean, max(0.0, min(centre - half, mean)), min(1.0, max(centre + half, mean)))


def estimate_of_parts(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> Estimate | None:
    """What share all parts together have of the wholes, which differ from deal to deal.

    A ratio of two sums; the interval is that of a mean with the spread of its linear form.

    Args:
        parts: (D,) float64, each from 0 to its whole.
        wholes: (D,) float64, of how many rounds.

    Returns:
        None if there is nothing to have a share of.
    """
    total = float(wholes.sum())
    if not total:
        return None
    share = float(parts.sum()) / total
    mean = total / len(wholes)
    return estimate(share + (parts - share * wholes) / mean, max(mean, 1.0))
