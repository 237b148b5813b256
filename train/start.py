"""How a learner starts: standard inputs, the weights of a policy file, and a critic that leads."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from agents import make_agent
from train.network import ActionScoringPolicy
from uno_env.game.actions import Action
from uno_env.game.engine import GameBatch
from uno_env.game.rules import Rules
from uno_env.inputs import kind_place
from uno_env.policy import Policy

_TABLES = 512
_DECISIONS = 60
_EVERY = 6
_DRAWS = 50


def sample_choices(
    kinds: Iterable[Rules], seed: int
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Choices as they come up at tables of `greedy`, for each kind of table.

    Returns:
        (n, FULL_SIZE) uint8, as `GameBatch.observe_all` gives them, and (n, A), the masks.
    """
    agent, rng = make_agent("greedy"), np.random.default_rng(seed)
    observations, masks = [], []
    for rules in kinds:
        batch = GameBatch(rules, _TABLES, seed)
        for decision in range(_DECISIONS):
            mask = batch.legal
            if decision % _EVERY == 0:
                some = np.flatnonzero(mask.sum(axis=1) > 1)
                observations.append(batch.observe_all(where=some))
                masks.append(mask[some])
            batch.step(agent.act(batch.observe(), mask, rng))
            batch.reset(batch.done)
    return np.concatenate(observations), np.concatenate(masks)


def prepare(policy: ActionScoringPolicy, kinds: Iterable[Rules], seed: int) -> None:
    """Take what is standard for inputs from a sample of choices, and draw rarely at first.

    Whoever plays all legal actions alike draws most of the time and never wins; all that it can
    learn from that is to lose later. So at first the network draws a `_DRAWS`-th as often as it
    takes any other action, which it is free to unlearn.
    """
    observations, masks = sample_choices(kinds, seed)
    policy.calibrate(observations[:, : policy.observation_space.shape[0]], masks)  # type: ignore[index]
    weights = policy.actor.weights()
    # One unit of each layer passes on whether the action is to draw.
    weights["first.situation"][:, 0] = weights["first.action"][:, 0] = 0
    weights["first.action"][kind_place(Action.DRAW), 0] = 1
    weights["second.weight"][:, 0] = 0
    weights["second.weight"][0, 0] = 1
    weights["first.bias"][0] = weights["second.bias"][0] = 0
    weights["out.weight"][0] = -np.log(_DRAWS)
    policy.actor.set_weights(weights)


def warm_start(policy: ActionScoringPolicy, weights: Policy) -> None:
    """Begin as a policy file plays.

    Raises:
        ValueError: it has more hidden units than the learner.
    """
    policy.actor.set_weights(weights.weights)


class CriticFirst(BaseCallback):
    """The actor stays as it is until the critic has learned from so many choices.

    A critic that knows nothing yet would talk an actor that is good already out of it.
    """

    model: MaskablePPO

    def __init__(self, timesteps: int) -> None:
        super().__init__()
        self.timesteps = timesteps

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        assert isinstance(self.model.policy, ActionScoringPolicy)
        self.model.policy.actor.requires_grad_(self.model.num_timesteps > self.timesteps)
