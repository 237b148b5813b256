"""A mask made short: the legal actions of all rows, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class LegalActions:
    """The legal actions of B rows one after the other, L in all: a mask made short.

    Raises:
        ValueError: a row without a legal action.
    """

    rows: NDArray[np.intp]
    """(L,) the row that each belongs to, ascending."""
    actions: NDArray[np.intp]
    """(L,) action ids, ascending within a row."""
    counts: NDArray[np.intp]
    """(B,) how many each row has."""
    starts: NDArray[np.intp]
    """(B,) where each row begins."""

    @classmethod
    def of(cls, mask: NDArray[np.bool_]) -> LegalActions:
        """From a mask (B, A) bool."""
        rows, actions = np.divmod(np.flatnonzero(mask), mask.shape[1])
        counts = np.bincount(rows, minlength=len(mask))
        if not counts.all():
            raise ValueError(f"row {int(counts.argmin())} of the mask has no legal action")
        return cls(rows, actions, counts, np.cumsum(counts) - counts)

    def of_rows(self, rows: NDArray[np.intp], where: NDArray[np.intp]) -> LegalActions:
        """Those of some rows alone, which are then numbered from 0.

        Args:
            rows: (b,) which rows, ascending.
            where: (l,) the places of their actions among all, ascending.
        """
        counts = self.counts[rows]
        numbers = np.arange(len(rows)).repeat(counts)
        return LegalActions(numbers, self.actions[where], counts, np.cumsum(counts) - counts)

    def uniform(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """One action of each row, all alike: (B,) intp."""
        chosen = (rng.random(len(self.counts)) * self.counts).astype(np.intp)
        return self.actions[self.starts + chosen]

    def best(self, values: NDArray[np.int64]) -> NDArray[np.intp]:
        """The action of each row with the highest value, among equals the lowest id: (B,) intp.

        Args:
            values: (L,) int64, what each action is worth.
        """
        if not self.counts.size:
            return self.actions
        span = int(self.actions.max()) + 1
        keys = values * span - self.actions
        return -np.maximum.reduceat(keys, self.starts) % span

    def highest(self, values: NDArray[np.float32]) -> NDArray[np.intp]:
        """The action of each row with the highest value, among equals the lowest id: (B,) intp.

        Args:
            values: (L,) float32, what each action is worth; no NaN.
        """
        if not self.counts.size:
            return self.actions
        top = np.maximum.reduceat(values, self.starts)
        # The highest of all rows together, each row's first found where the row number steps.
        hits = np.flatnonzero(values == top[self.rows])
        first = np.append(True, np.diff(self.rows[hits]) > 0)
        return self.actions[hits[first]]
