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


def _is_probability(value: Any) -> bool:
    real = isinstance(value, Real) and not isinstance(value, bool)
    return real and 0 <= float(value) <= 1


class ForgetfulAgent(Agent):
    """Another bot that forgets to say UNO or to catch with probability `p`, and else is the same.

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

    name = "forgetful"

    def __init__(self, *, bot: Agent | str | os.PathLike[str] = "expert", p: float = 0.1) -> None:
        if not _is_probability(p):
            raise ValueError(f"p={p!r}: allowed is a probability from 0 to 1")
        self.bot = make_agent(bot)
        self.p = float(p)
        self.cheats = self.bot.cheats
        self.interactive = self.bot.interactive

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """See `Agent.act`."""
        self.check_input(observation, mask)
        reminded = mask.copy()
        forgets = rng.random(len(mask)) < self.p
        for action in _FORGOTTEN:
            reminded[forgets, action] = False
        # What is all there is to do cannot be forgotten.
        reminded |= mask & ~reminded.any(axis=1, keepdims=True)
        return self.bot.act(observation, reminded, rng)

    def preferences(
        self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32] | None:
        """See `Agent.preferences`: those of the bot."""
        return self.bot.preferences(observation, mask)


def forgetful(bot: Agent | str | os.PathLike[str], p: float) -> Agent:
    """A `ForgetfulAgent` whose name says which, in words that `make_agent` takes if the bot's does.

    Args:
        bot: as for `ForgetfulAgent`.
        p: as for `ForgetfulAgent`.
    """
    agent = ForgetfulAgent(bot=bot, p=p)
    agent.name = f"forgetful:bot={agent.bot.name},p={agent.p:g}"
    return agent
