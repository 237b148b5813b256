"""What every bot is: an `Agent`.

A new bot is one file in this folder with one subclass of `Agent` that has a `name`; nothing else
has to be changed for `make_agent` and the command lines to know it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from uno_env.game.actions import NUM_ACTIONS
from uno_env.game.observation import FULL_SIZE, OBSERVATION_SIZE


class Agent(ABC):
    """A player of UNO that decides for many games at once.

    One agent may sit in several seats and play thousands of games side by side, so it keeps nothing
    between calls: the observation tells all that its seat has seen of the round.
    """

    name: str
    """How tables and messages call it."""
    cheats: bool = False
    """Whether it looks at what its seat may not know: its observations are then (B, FULL_SIZE), as
    `GameBatch.observe_all` gives them."""

    observes: bool = True
    """Whether it looks at observations at all; where not, those that it is given may be blank."""

    interactive: bool = False
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

    def check_input(self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]) -> None:
        """What `act` is given has the form that it asks for; see there.

        A mask of numbers, say, would be taken for indices without a word.

        Raises:
            ValueError: it has not.
        """
        width = FULL_SIZE if self.cheats else OBSERVATION_SIZE
        right = observation.dtype == np.uint8 and observation.shape == (*mask.shape[:1], width)
        if not right or mask.dtype != np.bool_ or mask.shape[1:] != (NUM_ACTIONS,):
            raise ValueError(
                f"{self.name} was given observations {observation.dtype} {observation.shape} and a "
                f"mask {mask.dtype} {mask.shape}: allowed are uint8 (B, {width})"
                f"{', all there is,' * self.cheats} and bool (B, {NUM_ACTIONS})"
            )
