"""A test that may be looked at after every deal, and stopped at whatever moment.

A deal gives the share y, from 0 to 1, of its rounds that an agent won. If the true mean is m, then
for any bet b between -1 / (1 - m) and 1 / m the product of all (1 + b (y - m)) is a game that is
fair: it is a martingale that begins with 1, so the chance that it ever reaches 1 / alpha is at most
alpha (Ville's inequality). The same holds for the mean of such products over a fixed set of bets.
Means at which that has happened are rejected, and those that are left make an interval that holds
at all times at once. Nothing is assumed of the distribution, and what a deal's rounds have in
common does no harm, since a deal is one observation.

Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86 (2024);
the mixture over bets is Robbins', "Statistical methods related to the law of the iterated
logarithm", Annals of Mathematical Statistics 41 (1970).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_SIZES = np.geomspace(0.01, 0.95, 24)
_BETS = np.concatenate([-_SIZES, _SIZES])
"""Bets, as parts of what may be staked at most. Small edges need small ones."""
_STEP = 0.001
_GRID = np.arange(_STEP, 1 - _STEP / 2, _STEP)
"""Means that are tried for the interval, apart from 0 and 1."""


@dataclass(frozen=True)
class SequentialTest:
    """Whether a mean is `even`, judged after any number of deals.

    Args:
        even: the mean of a share if nobody is better, between 0 and 1.
        alpha: the chance, at most, that an agent with just that mean is ever called better or
            worse; and that the interval ever fails to hold the mean.

    Raises:
        ValueError: an argument out of its range.
    """

    even: float = 0.5
    alpha: float = 0.05
    counts: Mapping[float, int] = field(default_factory=dict)
    """How often each share was seen: all that matters."""
    best: float = 0.0
    """The largest logarithm of the wealth won against `even` at any look."""

    def __post_init__(self) -> None:
        for name in ("even", "alpha"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)!r}: allowed is more than 0, below 1")

    def after(self, shares: NDArray[np.float64]) -> SequentialTest:
        """The test with more deals seen.

        Args:
            shares: (D,) float64 from 0 to 1.

        Raises:
            ValueError: a share out of range.
        """
        if shares.size and not (shares.min() >= -1e-9 and shares.max() <= 1 + 1e-9):
            raise ValueError("shares out of range: allowed is 0 to 1")
        seen = np.round(np.clip(shares, 0, 1), 12)  # one third is one third, however it came about
        values, times = np.unique(seen, return_counts=True)
        counts = Counter(self.counts)
        counts.update(dict(zip(values.tolist(), times.tolist(), strict=True)))
        new = SequentialTest(self.even, self.alpha, dict(counts))
        wealth = float(new._log_wealth(np.array([self.even]))[0])
        object.__setattr__(new, "best", max(self.best, wealth))
        return new

    @property
    def deals(self) -> int:
        """Deals seen."""
        return sum(self.counts.values())

    @cached_property
    def mean(self) -> float:
        """The mean of what was seen; `even` before the first deal."""
        total = sum(value * times for value, times in self.counts.items())
        return total / self.deals if self.deals else self.even

    @property
    def p_value(self) -> float:
        """The chance, at most, of ever seeing so much against `even` if it were true."""
        return math.exp(-self.best)

    @property
    def settled(self) -> bool:
        """Whether `even` is rejected."""
        return self.p_value <= self.alpha

    def interval(self) -> tuple[float, float]:
        """The means that what was seen does not reject, from the lowest to the highest."""
        kept = _GRID[self._log_wealth(_GRID) < -math.log(self.alpha)]
        if not kept.size:  # less than a step of the grid is left
            return max(self.mean - _STEP, 0.0), min(self.mean + _STEP, 1.0)
        # A mean between the last that is kept and the next may be left.
        return min(float(kept[0]) - _STEP, self.mean), max(float(kept[-1]) + _STEP, self.mean)

    def _log_wealth(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        """The logarithm of the mean wealth of all bets against each mean: (M,) -> (M,)."""
        most = np.where(_BETS > 0, 1 / means[:, None], 1 / (1 - means[:, None]))
        stakes = _BETS * most  # (M, bets)
        logs = np.zeros_like(stakes)
        for value, times in self.counts.items():
            logs += times * np.log1p(stakes * (value - means[:, None]))
        top = logs.max(axis=1, keepdims=True)
        return (top + np.log(np.exp(logs - top).mean(axis=1, keepdims=True)))[:, 0]
