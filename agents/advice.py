"""Advice to people: what a trained policy would do, and what comes of each action."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.policy import PolicyAgent
from agents.rollouts import Part, play_out
from agents.trained import TrainedAgent
from uno_env.determinize import sample_tables

ROLLOUTS = 64
"""Of each action, by default."""
_MAX_DECISIONS = 200


@dataclass(frozen=True)
class Advice:
    """About one legal action."""

    action: int
    """Its id."""
    probability: float
    """With which the policy takes it."""
    value: float
    """The share of rollouts that win the round."""
    error: float
    """The standard error of `value`."""


def advise(
    observation: NDArray[np.uint8],
    mask: NDArray[np.bool_],
    rng: np.random.Generator,
    *,
    policy: TrainedAgent | PolicyAgent | None = None,
    rollouts: int = ROLLOUTS,
) -> list[Advice]:
    """What a policy makes of each legal action, the likeliest first.

    All actions are played out on the same sampled tables, which fit what the seat has seen, with
    the policy in all seats.

    Args:
        observation: (F,) uint8, of the seat to act.
        mask: (A,) bool, its legal actions.
        rng: chance.
        policy: whose advice it is; by default that of `trained`.
        rollouts: of each action, at least 1.

    Raises:
        ValueError: there is no legal action.
    """
    policy = policy or TrainedAgent()
    actions = np.flatnonzero(mask)
    if not actions.size:
        raise ValueError("there is no legal action to say something about")
    logits = policy.preferences(observation[None], mask[None])[0, actions]
    odds = np.exp(logits - logits.max())
    odds /= odds.sum()
    tables = sample_tables(observation, rollouts, rng)
    values = np.empty(actions.size * rollouts, np.float32)
    batch = tables.take(np.tile(np.arange(rollouts), actions.size))
    first = np.repeat(actions, rollouts)
    part = Part(batch, first, np.arange(first.size))
    play_out([part], values, policy, rng, max_decisions=_MAX_DECISIONS)
    won = values.reshape(actions.size, rollouts)
    errors = won.std(axis=1) / np.sqrt(rollouts)
    order = np.argsort(-odds, kind="stable")
    return [
        Advice(int(actions[i]), float(odds[i]), float(won[i].mean()), float(errors[i]))
        for i in order
    ]
