"""Trained policies that ship with the package, and the player that picks the right one.

Each policy file has a card of the same name, ``.md``: how it was trained and what it was measured
to win. They were trained under presets; under other rules the one of the most similar preset plays,
under house rules with the help of `uno_env.rules_of_thumb`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from uno_env.game.observation import SWITCH_PLACES
from uno_env.policy import SUFFIX, Policy, check_temperature
from uno_env.rules_of_thumb import narrow, unlike

FILES = {
    "angry_birds": "angry_birds",
    "classic": "classic_and_official",
    "official": "classic_and_official",
}
"""The policy for each preset, by the name of its file."""


def path_of(preset: str) -> Path:
    """The policy file for a preset.

    Raises:
        ValueError: there is no such preset.
    """
    if preset not in FILES:
        raise ValueError(f"preset={preset!r}: allowed are {', '.join(FILES)}")
    return Path(__file__).with_name(FILES[preset] + SUFFIX)


@cache
def _load(file: str) -> Policy:
    return Policy.load(Path(__file__).with_name(file + SUFFIX))


class TrainedPlayer:
    """Plays each game with the policy that was trained for its rules.

    Args:
        temperature: 0 takes the likeliest action; 1 samples as in training; more is weaker.

    Raises:
        ValueError: a negative temperature.
    """

    def __init__(self, temperature: float = 0.0) -> None:
        check_temperature(temperature)
        self.temperature = temperature

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """Choose for B games of any rules; see `Policy.act`."""
        mask = narrow(observation, mask)
        actions = np.empty(len(observation), np.intp)
        for policy, rows in _by_policy(observation):
            actions[rows] = policy.act(observation[rows], mask[rows], rng, self.temperature)
        return actions

    def logits(
        self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """The preferences for B games of any rules; see `Policy.logits`."""
        liked = np.empty(mask.shape, np.float32)
        for policy, rows in _by_policy(observation):
            liked[rows] = policy.logits(observation[rows], mask[rows])
        return unlike(liked, observation, mask)


def _by_policy(observation: NDArray[np.uint8]) -> list[tuple[Policy, NDArray[np.intp]]]:
    """The rows that each policy is for: King Pigs make the difference."""
    pigs = observation[:, SWITCH_PLACES["king_pigs"]] > 0
    return [
        (_load(FILES[preset]), rows)
        for preset, which in (("angry_birds", pigs), ("classic", ~pigs))
        if (rows := np.flatnonzero(which)).size
    ]
