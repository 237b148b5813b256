"""`trained`: the policies that ship with the package."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from uno_env.policies import Goal, TrainedPlayer


class TrainedAgent(Agent):
    """Plays as the shipped policy for the rules of the table does (`uno_env.policies`).

    Args:
        temperature: 0 takes the likeliest action; 1 samples as in training; more is weaker, for
            opponents of people who want to win now and then.
        goal: ``"rounds"`` plays to win the round, ``"games"`` to win a game of many.

    Raises:
        ValueError: a negative temperature, or no such goal.
    """

    name = "trained"

    def __init__(self, temperature: float = 0.0, goal: Goal = "rounds") -> None:
        self.player = TrainedPlayer(temperature, goal)

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """See `Agent.act`."""
        self.check_input(observation, mask)
        return self.player.act(observation, mask, rng)

    def preferences(
        self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """See `Agent.preferences`: the logits."""
        self.check_input(observation, mask)
        return self.player.logits(observation, mask)
