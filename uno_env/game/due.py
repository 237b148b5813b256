"""What is still to come of a step: how the turn moves on, and what is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.cards import NUM_FACES, NUM_SYMBOLS, Symbol
from uno_env.game.effects import DRAWN_FOR, HOP_AFTER
from uno_env.game.state import Hop, Rows

_HOP = np.full(NUM_ACTIONS + 1, Hop.STAY, np.uint8)
_HOP[:NUM_FACES] = HOP_AFTER[np.arange(NUM_FACES) % NUM_SYMBOLS]
_HOP[[Action.DRAW, Action.KEEP]] = Hop.NEXT
"""How the turn moves on after an action, if nothing comes between."""

ONE_BY_CHOICE, UNTIL_COLOUR = 1, 255
"""In `_DRAWS`: a draw of one's own accord (no card makes anybody draw one), and a King Pig's."""

_DRAWS = np.zeros(NUM_ACTIONS + 1, np.uint8)
_DRAWS[:NUM_FACES] = DRAWN_FOR[np.arange(NUM_FACES) % NUM_SYMBOLS]
_DRAWS[Action.DRAW] = ONE_BY_CHOICE
_DRAWS[Symbol.KING_PIG : NUM_FACES : NUM_SYMBOLS] = UNTIL_COLOUR
"""How many cards an action makes its player or the next one draw, if nothing comes between."""

_STAY = int(Hop.STAY)


@dataclass(slots=True)
class Due:
    """What is still to come of each game's step: (n,) each."""

    hop: NDArray[np.uint8]
    """How the turn moves on."""
    draws: NDArray[np.uint8]
    """Cards to be drawn, as in `_DRAWS`."""

    @classmethod
    def after(cls, actions: NDArray[np.integer]) -> Due:
        """What follows the actions (n,) if nothing comes between."""
        return cls(_HOP.take(actions), _DRAWS.take(actions))

    def hold(self, rows: Rows) -> None:
        """Nothing of it happens now: somebody is asked first."""
        self.hop[rows] = _STAY
        self.draws[rows] = 0

    def take_effect(self, rows: Rows, top: NDArray[np.uint8]) -> None:
        """The top cards (n,), held until now, take effect."""
        self.hop[rows] = _HOP.take(top)
        self.draws[rows] = _DRAWS.take(top)
