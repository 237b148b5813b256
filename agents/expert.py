"""`expert`: weighs everything a good player looks at."""

from __future__ import annotations

from typing import ClassVar

from agents.scoring import ScoringAgent, Weights


class ExpertAgent(ScoringAgent):
    """Prices more than fifty features of a play, tuned together.

    To the ideas of `watcher` it adds:

    - It counts what is unseen: how likely the next player can follow at all, above all one that is
      down to one or two cards, and how likely opponents hold the new colour. Colours that they
      lack and cards that they were seen to be dealt are reckoned in.
    - It times King Pig: rather when an opponent is about to go out than otherwise, and at larger
      tables rather not when it is about to go out itself, or when many cards would come to itself.
    - It minds its hand in more detail: two cards left of which one follows, how many colours there
      are, other wilds beside the one played, and which action cards to hold back until they hit.

    `uno_env.features` says what each feature means, and ``python -m eval.tune expert`` found what
    they count, but for two that are set by hand: `bluff`, which the rules that it tunes under rule
    out, and `points_lowest_one`, which is for points and not for rounds.
    """

    name = "expert"

    WEIGHTS: ClassVar[Weights] = {
        "keep": (-0.210, -0.132),
        "wild": (-0.143, -0.149),
        "wild_draw_four": (-0.079, -0.019),
        "king_pig": (0.031, 0.012),
        "another_wild": (0.023, -0.006),
        "last_wild_one_left": (-0.056, -0.102),
        "last_wild_two_left": (-0.065, -0.069),
        "last_wild_three_left": (-0.032, -0.031),
        "wild_more": (0.030, 0.057),
        "wild_drawn": (0.029, 0.048),
        "bluff": (-1.0, -1.0),
        "skip": (-0.062, 0.004),
        "reverse": (-0.056, -0.005),
        "draw_two": (-0.060, 0.008),
        "action_more": (-0.015, -0.010),
        "action_two_left": (0.024, -0.005),
        "rank": (-0.001, -0.002),
        "colour": (-0.001, 0.001),
        "colour_none": (-0.050, -0.023),
        "colour_one": (0.001, 0.000),
        "symbol": (-0.019, 0.004),
        "stuck": (0.013, 0.010),
        "follows_one_left": (0.134, 0.155),
        "follows_two_left": (0.043, 0.045),
        "colours": (-0.095, -0.037),
        "singles": (-0.063, 0.002),
        "again_follows": (0.043, 0.000),
        "again_stuck": (-0.008, 0.000),
        "again_wins": (0.107, 0.000),
        "stays": (-0.001, -0.001),
        "keep_lowest_one": (-0.075, -0.019),
        "wild_lowest_one": (0.075, 0.055),
        "wild_lowest_two": (-0.004, -0.004),
        "hit_at_one": (0.035, 0.026),
        "hit_at_two": (0.027, 0.020),
        "draws_at_one": (0.106, 0.074),
        "draws_at_two": (0.039, 0.015),
        "next_at_one": (0.040, 0.017),
        "next_at_two": (0.042, 0.009),
        "share": (-0.059, -0.015),
        "others": (0.003, -0.015),
        "holders": (-0.031, -0.009),
        "holders_colour": (0.014, -0.005),
        "threat_one": (-0.117, -0.114),
        "threat_two": (-0.041, -0.017),
        "known": (-0.001, 0.000),
        "next_lacks": (-0.001, 0.003),
        "can": (-0.031, -0.027),
        "can_at_one": (-0.315, -0.125),
        "can_at_two": (-0.076, -0.014),
        "pig_own": (0.002, -0.014),
        "pig_two_left": (0.009, -0.032),
        "pig_lowest_two": (0.043, 0.032),
        "points_lowest_one": (0.01, 0.01),
    }
