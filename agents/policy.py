"""A trained policy as a player."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from uno_env.policy import Policy, check_temperature


class PolicyAgent(Agent):
    """Plays as a policy file says.

    Args:
        policy: the policy.
        name: how tables call it.
        temperature: 0 takes the likeliest action; 1 samples as in training.

    Raises:
        ValueError: a negative temperature.
    """

    def __init__(self, policy: Policy, name: str = "policy", *, temperature: float = 0.0) -> None:
        check_temperature(temperature)
        self.policy = policy
        self.name = name
        self.temperature = temperature

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, temperature: float = 0.0) -> PolicyAgent:
        """From a ``.safetensors`` file, named after it.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: it is no policy file that this version can play; the message says why.
        """
        return cls(Policy.load(path), Path(path).stem, temperature=temperature)

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """See `Agent.act`."""
        self.check_input(observation, mask)
        return self.policy.act(observation, mask, rng=rng, temperature=self.temperature)

    def preferences(
        self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """See `Agent.preferences`: the logits."""
        self.check_input(observation, mask)
        return self.policy.logits(observation, mask)
