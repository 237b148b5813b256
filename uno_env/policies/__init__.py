"""Trained policies that ship with the package, and the player that picks the right one.

There are two for each preset, by what they are after: to win ``rounds``, or to win ``games``, for
which it matters how many points a round brings or costs. Each file has a card of the same name,
``.md``: how it was trained and what it was measured to win. They were trained under presets; under
other rules the one of the most similar preset plays, under house rules with the help of
`uno_env.rules_of_thumb`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from uno_env.game.observation import SWITCH_PLACES
from uno_env.policy import SUFFIX, Policy, check_temperature
from uno_env.rules_of_thumb import narrow, unlike

Goal = Literal["rounds", "games"]
"""What a policy is after."""

GOALS: tuple[Goal, ...] = get_args(Goal)

FAMILIES = {
    "angry_birds": "angry_birds",
    "classic": "classic_and_official",
    "official": "classic_and_official",
}
"""The policies for each preset, by what the names of their files begin with."""


def path_of(preset: str, goal: Goal = "rounds") -> Path:
    """The policy file for a preset and a goal.

    Raises:
        ValueError: there is no such preset, or no such goal.
    """
    if preset not in FAMILIES:
        raise ValueError(f"preset={preset!r}: allowed are {', '.join(FAMILIES)}")
    _check_goal(goal)
    return Path(__file__).with_name(f"{FAMILIES[preset]}_{goal}{SUFFIX}")


def _check_goal(goal: str) -> None:
    if goal not in GOALS:
        raise ValueError(f"goal={goal!r}: allowed are {', '.join(GOALS)}")


@cache
def _load(path: Path) -> Policy:
    return Policy.load(path)


class TrainedPlayer:
    """Plays each game with the policy that was trained for its rules.

    Args:
        temperature: 0 takes the likeliest action; 1 samples as in training; more is weaker.
        goal: ``"rounds"`` plays to win the round, ``"games"`` to win a game of many.

    Raises:
        ValueError: a negative temperature, or no such goal.
    """

    def __init__(self, temperature: float = 0.0, goal: Goal = "rounds") -> None:
        check_temperature(temperature)
        _check_goal(goal)
        self.temperature = temperature
        self.goal = goal

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """Choose for B games of any rules; see `Policy.act`."""
        mask = narrow(observation, mask)
        actions = np.empty(len(observation), np.intp)
        for policy, rows in self._by_policy(observation):
            actions[rows] = policy.act(observation[rows], mask[rows], rng, self.temperature)
        return actions

    def logits(
        self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """The preferences for B games of any rules; see `Policy.logits`."""
        liked = np.empty(mask.shape, np.float32)
        for policy, rows in self._by_policy(observation):
            liked[rows] = policy.logits(observation[rows], mask[rows])
        return unlike(liked, observation, mask)

    def _by_policy(self, observation: NDArray[np.uint8]) -> list[tuple[Policy, NDArray[np.intp]]]:
        """The rows that each policy is for: King Pigs make the difference."""
        pigs = observation[:, SWITCH_PLACES["king_pigs"]] > 0
        return [
            (_load(path_of(preset, self.goal)), rows)
            for preset, which in (("angry_birds", pigs), ("classic", ~pigs))
            if (rows := np.flatnonzero(which)).size
        ]
