"""`keen`: random, but always gets on with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from uno_env.game.actions import Action
from uno_env.legal_actions import LegalActions


class KeenAgent(Agent):
    """Random, but draws, keeps or passes only when nothing can be played, says UNO and catches.

    Everything else, be it the card, the colour or a challenge, it chooses uniformly.
    """

    name = "keen"
    observes = False

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """See `Agent.act`."""
        self.check_input(observation, mask)
        says, catches = mask[:, Action.UNO].copy(), mask[:, Action.CATCH].copy()
        # Plays come first in the action layout, so the first legal action tells of them.
        idle_only = mask.argmax(axis=1) >= Action.DRAW
        wanted = mask.copy()
        wanted[:, Action.DRAW] &= idle_only
        wanted[:, Action.KEEP] &= idle_only
        wanted[:, Action.LET_GO] &= idle_only
        wanted[:, Action.ACCEPT] &= idle_only
        actions = LegalActions.of(wanted).uniform(rng)
        actions[says] = Action.UNO
        actions[catches] = Action.CATCH
        return actions
