"""`watcher`: minds its hand as `thrifty` does, and what others show."""

from __future__ import annotations

from typing import ClassVar

from agents.scoring import ScoringAgent, Weights


class WatcherAgent(ScoringAgent):
    """Prices what a play leaves in its hand, and what it does to others.

    To the ideas of `thrifty` it adds:

    - When the next player is down to one or two cards, a Skip, Reverse, Draw Two or Wild Draw 4
      hits it.
    - When an opponent is down to one card, a wild kept for later may come too late: it is played
      rather than kept.
    - It steers towards a colour that the next player has shown to lack, by drawing on it, and away
      from colours that King Pigs were seen to deal to opponents.
    - It challenges a Wild Draw 4 if its player is likely to hold a colour, as far as unseen cards
      and colours shown to be lacking tell.
    """

    name = "watcher"

    WEIGHTS: ClassVar[Weights] = {
        "keep": (-0.093, -0.086),
        "wild": (-0.160, -0.151),
        "wild_more": (0.037, 0.064),
        "last_wild_one_left": (-0.048, -0.075),
        "last_wild_two_left": (-0.038, -0.060),
        "king_pig": (0.047, 0.014),
        "wild_draw_four": (-0.043, -0.028),
        "follows_one_left": (0.161, 0.159),
        "again_wins": (0.091, 0.000),
        "again_follows": (0.047, 0.000),
        "colour": (-0.004, -0.004),
        "colour_none": (-0.043, -0.029),
        "singles": (-0.096, -0.005),
        "symbol": (-0.027, 0.004),
        "action_more": (-0.036, -0.010),
        "wild_lowest_one": (0.156, 0.063),
        "keep_lowest_one": (-0.031, 0.000),
        "hit_at_one": (0.096, 0.034),
        "draws_at_one": (0.078, 0.089),
        "hit_at_two": (0.018, 0.020),
        "next_lacks": (0.040, 0.019),
        "known": (-0.039, -0.015),
        "bluff": (-1.0, -1.0),
        "points_lowest_one": (0.01, 0.01),
    }
