"""What every bot is: an `Agent`; and the two ways most of them choose.

A new bot is one file in this folder with one subclass of `Agent` that has a `name`; nothing else
has to be changed for `make_agent` and the command lines to know it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray


class Agent(ABC):
    """A player of UNO that decides for many games at once.

    One agent may sit in several seats and play thousands of games side by side, so it keeps nothing
    between calls: the observation tells all that its seat has seen of the round.
    """

    name: str
    """How tables and messages call it."""
    cheats: ClassVar[bool] = False
    """Whether it looks at what its seat may not know: its observations are then (B, FULL_SIZE), as
    `GameBatch.observe_all` gives them."""

    interactive: ClassVar[bool] = False
    """Whether it asks a person, so that its tables cannot be left alone."""

    @abstractmethod
    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """Choose a legal action in each row.

        Args:
            observation: (B, F) uint8, what the seat to act may know (`uno_env.game.observation`).
            mask: (B, A) bool, its legal actions, at least one in each row. Neither array is to be
                written on.
            rng: the only source of chance.

        Returns:
            (B,) intp, action ids.
        """

    def preferences(
        self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32] | None:
        """How much it likes each action, for those who look at the likeliest: (B, A) float32.

        Only the order within a row means something, illegal actions need no sense. None, as here,
        is the answer of a bot that cannot say.

        Args:
            observation: as for `act`.
            mask: as for `act`.
        """
        return None


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
