"""What every bot is: an `Agent`.

A new bot is one file in this folder with one subclass of `Agent` that has a `name`; nothing else
has to be changed for `make_agent` and the command lines to know it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
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
