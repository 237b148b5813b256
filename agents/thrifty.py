"""`thrifty`: minds its own hand."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from agents.scoring import ScoringAgent, Weights
from uno_env.sight import Floats, Sight

_MANY = 5
"""Who still has so many cards after a Wild Draw 4 may well have bluffed."""


class ThriftyAgent(ScoringAgent):
    """Prices what a play leaves in its hand, in shares of a round.

    - Wilds are worth keeping, the more so the last one when few cards are left: it plays another
      card if one fits, and keeps a wild that it has just drawn. Of its wilds the King Pig, which
      deals to its player too, goes first.
    - Its last card is to follow: with two cards it plays the one that the other follows on. With
      two players it goes on with a Skip, Reverse or Draw Two if it has a card to go on with, above
      all if that is its last.
    - It does not part with its last card of a colour, nor be left with single cards of several, so
      that whatever is played, it can follow.
    - It names a colour that it holds. Which of them, or how many of it, makes little difference,
      against what players say: tuned, that is worth next to nothing.
    - It sheds points when an opponent is down to one card, where that costs little.
    - It never bluffs, and challenges a Wild Draw 4 of a player who still has five cards or more.

    It looks at the hands of others for that alone, and remembers nothing.
    """

    name = "thrifty"

    WEIGHTS: ClassVar[Weights] = {
        "keep": (-0.131, -0.084),
        "wild": (-0.162, -0.157),
        "wild_more": (0.055, 0.087),
        "last_wild_one_left": (-0.014, -0.066),
        "last_wild_two_left": (-0.086, -0.093),
        "king_pig": (0.051, 0.017),
        "wild_draw_four": (-0.031, -0.014),
        "follows_one_left": (0.163, 0.209),
        "again_wins": (0.089, 0.000),
        "again_follows": (0.058, 0.000),
        "colour": (-0.017, -0.012),
        "colour_none": (-0.051, -0.014),
        "singles": (-0.126, 0.022),
        "symbol": (-0.017, 0.003),
        "action_more": (-0.037, 0.006),
        "bluff": (-1.0, -1.0),
        "points_lowest_one": (0.01, 0.01),
    }

    def guilt(self, sight: Sight) -> Floats:
        """Nearly certain of whoever has many cards: (B,)."""
        return (sight.size_on_turn >= _MANY).astype(np.float32)
