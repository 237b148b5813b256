"""`forgetful`: a bot whose mind is elsewhere when it should say UNO or catch."""

from __future__ import annotations

import os
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import make_agent
from agents.base import Agent
from uno_env.game.actions import Action

_FORGOTTEN = (Action.UNO, Action.CATCH)


def forgetful(bot: Agent | str | os.PathLike[str], p: float) -> Agent:
    """A bot that forgets to say UNO or to catch with probability `p`, and else is the same.

    Each time it may say UNO or catch, chance decides anew whether it thinks of that. If not, it
    decides between its other actions.

    Args:
        bot: the bot, or what `make_agent` takes.
        p: from 0 to 1.

    Raises:
        ValueError: another `p`, or as for `make_agent`.
        TypeError: as for `make_agent`.
        FileNotFoundError: as for `make_agent`.
    """
    if not _is_probability(p):
        raise ValueError(f"p={p!r}: allowed is a probability from 0 to 1")
    return ForgetfulAgent(make_agent(bot), float(p))


def _is_probability(value: Any) -> bool:
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and 0 <= float(value) <= 1


class ForgetfulAgent(Agent):
    """What `forgetful` makes."""

    def __init__(self, bot: Agent, p: float) -> None:
        self.bot = bot
        self.p = p
        self.name = f"forgetful({bot.name}, {p:g})"

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """See `Agent.act`."""
        reminded = mask.copy()
        forgets = rng.random(len(mask)) < self.p
        for action in _FORGOTTEN:
            reminded[forgets, action] = False
        # What is all there is to do cannot be forgotten.
        reminded |= mask & ~reminded.any(axis=1, keepdims=True)
        return self.bot.act(observation, reminded, rng)
