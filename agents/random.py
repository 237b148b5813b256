"""`random`: any legal action, all alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from uno_env.legal_actions import LegalActions


class RandomAgent(Agent):
    """Chooses uniformly over the legal actions.

    It draws as readily as it plays and forgets to say UNO, so rounds among its like take thousands
    of decisions.
    """

    name = "random"
    observes = False

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """See `Agent.act`."""
        self.check_input(observation, mask)
        return LegalActions.of(mask).uniform(rng)
