"""What speaks for and against a play, as numbers, which bots weigh and networks learn from.

Every feature is about its size from 0 to 1, is 0 where what it speaks of does not arise, and treats
the four colours alike. *Left* is what the hand holds after the play, *next* the player who acts
after it, *victim* the next seat in the direction of play, *lowest* the opponent with the fewest
cards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uno_env.game.cards import NUM_COLOURED_SYMBOLS, NUM_COLOURS, NUM_FACES, NUM_SYMBOLS, Symbol
from uno_env.game.observation import LAYOUT, SWITCH_PLACES
from uno_env.game.state import LACK_CAP, Phase
from uno_env.sight import LOGS, NEXT_PLACE, Floats, Sight

FEATURES = {
    # The hand.
    "keep": "keeps the card just drawn",
    "wild": "is a wild of any kind",
    "wild_draw_four": "is a Wild Draw 4",
    "king_pig": "is a King Pig",
    "another_wild": "is a wild: how many are left",
    "last_wild_one_left": "is the last wild, and one card is left",
    "last_wild_two_left": "is the last wild, and two cards are left",
    "last_wild_three_left": "is the last wild, and three cards are left",
    "wild_more": "is a wild: cards left / 8",
    "wild_drawn": "is a wild just drawn",
    "bluff": "is a Wild Draw 4 while the hand has the active colour",
    "skip": "is a Skip",
    "reverse": "is a Reverse",
    "draw_two": "is a Draw Two",
    "action_more": "is a Skip, Reverse or Draw Two: cards left / 8",
    "action_two_left": "is one of these, and at most two cards are left",
    "rank": "the number / 9",
    "colour": "cards left of the new colour / 4, up to 6",
    "colour_none": "no card of the new colour is left",
    "colour_one": "one card of the new colour is left",
    "symbol": "cards left with the same symbol in other colours / 2",
    "stuck": "no card left follows on it",
    "follows_one_left": "one card is left, and follows on it",
    "follows_two_left": "two cards are left, and one of them follows on it",
    "colours": "colours left / 4",
    "singles": "colours of which a single card is left / 4",
    "again_follows": "its player goes on, with a card of the colour or symbol",
    "again_stuck": "its player goes on, and no card left follows",
    "again_wins": "its player goes on, and the only card left follows",
    "stays": "the active colour stays",
    # Hands of others: their sizes.
    "keep_lowest_one": "keeps the card just drawn while the lowest has one card",
    "wild_lowest_one": "is a wild while the lowest has one card",
    "wild_lowest_two": "is a wild while the lowest has two cards",
    "hit_at_one": "is a Skip, Reverse, Draw Two or Wild Draw 4 while the victim has one card",
    "hit_at_two": "the same with two cards",
    "draws_at_one": "is a Draw Two or Wild Draw 4 while the victim has one card",
    "draws_at_two": "the same with two cards",
    "next_at_one": "the next has one card",
    "next_at_two": "the next has two cards",
    "points_lowest_one": "points / 50 while the lowest has one card",
    # What others hold: unseen cards, colours they lack, cards dealt face up.
    "share": "4 x the share of the new colour among the unseen cards",
    "others": "unseen cards with its symbol in other colours, and wilds / 8",
    "holders": "how likely opponents hold the new colour, on average",
    "holders_colour": "how likely they do not, x `colour`",
    "threat_one": "the same, summed over opponents with one card",
    "threat_two": "the same, summed over opponents with two cards",
    "known": "cards of the new colour known in opponents' hands / 2",
    "next_lacks": "how fresh the memory is that the next lacks the new colour",
    "can": "how likely the next can follow",
    "can_at_one": "the same, if the next has one card",
    "can_at_two": "the same, if the next has two cards",
    "pig_own": "is a King Pig: cards expected for its player / 4",
    "pig_two_left": "is a King Pig, and at most two cards are left",
    "pig_lowest_two": "is a King Pig while the lowest has at most two cards",
}
"""The features, by name: what they say of a play."""
NAMES = tuple(FEATURES)
KEEP = NAMES.index("keep")
KEEP_LOWEST_ONE = NAMES.index("keep_lowest_one")

_DRAWN = LAYOUT["phase"].start + Phase.DRAWN
_UNSEEN = LAYOUT["unseen"].start
_COLOUR = np.arange(NUM_FACES) // NUM_SYMBOLS
_SYMBOL = np.arange(NUM_FACES) % NUM_SYMBOLS
_WILD = _SYMBOL >= NUM_COLOURED_SYMBOLS
_HITS = np.isin(_SYMBOL, [Symbol.SKIP, Symbol.REVERSE, Symbol.DRAW_TWO, Symbol.WILD_DRAW_FOUR])
_DRAWS = np.isin(_SYMBOL, [Symbol.DRAW_TWO, Symbol.WILD_DRAW_FOUR])
_ACTION = _HITS & ~_WILD
_RANK = np.where(_SYMBOL < Symbol.SKIP, _SYMBOL, 0).astype(np.float32)
_MOST_OF_A_COLOUR = 6
"""More cards of a colour than this are worth no more."""
_RAREST = 0.01
"""A King Pig's colour is taken to be at least such a share of the pile."""


def features(sight: Sight, rows: NDArray[np.intp], faces: NDArray[np.intp]) -> Floats:
    """The features of n plays: (K, n) float32, in the order of `NAMES`.

    Args:
        sight: what B observations tell.
        rows: (n,) the observation that each play belongs to.
        faces: (n,) what is played.
    """
    values = {
        "keep": 0,
        "keep_lowest_one": 0,
        **_of_hand(sight, rows, faces),
        **_of_sizes(sight, rows, faces),
        **_of_others(sight, rows, faces),
    }
    out = np.empty((len(NAMES), len(rows)), np.float32)
    for feature, name in zip(out, NAMES, strict=True):
        feature[:] = values[name]
    # One that is made of two others.
    np.multiply(
        out[NAMES.index("colour")],
        1 - out[NAMES.index("holders")],
        out=out[NAMES.index("holders_colour")],
    )
    return out


def features_of_keeping(sight: Sight, rows: NDArray[np.intp]) -> Floats:
    """The features of keeping the drawn card: (K, n) float32; see `features`."""
    out = np.zeros((len(NAMES), len(rows)), np.float32)
    out[KEEP] = 1
    out[KEEP_LOWEST_ONE] = sight.lowest.take(rows) == 1
    return out


def _of_hand(sight: Sight, rows: NDArray[np.intp], faces: NDArray[np.intp]) -> dict[str, Any]:
    """What the hand is like after the play."""
    symbol, wild, action = _SYMBOL[faces], _WILD[faces], _ACTION[faces]
    coloured = ~wild
    in_colour = NUM_COLOURS * rows + _COLOUR[faces]
    left = sight.sizes[:, 0].take(rows) - 1
    more = left.astype(np.float32) / 8
    one_left, two_left = left == 1, left == 2
    wilds = sight.wilds.take(rows) - wild
    last_wild = wild & (wilds == 0)
    colour = sight.held_colours.ravel().take(in_colour) - coloured
    none, one = colour == 0, colour == 1
    symbols = sight.held_symbols.ravel().take(NUM_SYMBOLS * rows + symbol)
    symbols -= sight.hand[rows, faces]
    symbols *= coloured
    matches = ~none | (symbols > 0)
    follows = matches | (wilds > 0)
    gone = coloured & none
    colours = np.count_nonzero(sight.held_colours, axis=1).take(rows) - gone
    singles = np.count_nonzero(sight.held_colours == 1, axis=1).take(rows)
    singles = singles + (coloured & one) - gone
    again = NEXT_PLACE[sight.players].take(symbol) == 0
    active = sight.colour.take(rows)
    has_active = sight.held_colours.ravel().take(NUM_COLOURS * rows + active) > 0
    four = symbol == Symbol.WILD_DRAW_FOUR
    return {
        "wild": wild,
        "wild_draw_four": four,
        "king_pig": symbol == Symbol.KING_PIG,
        "another_wild": wild * wilds,
        "last_wild_one_left": last_wild & one_left,
        "last_wild_two_left": last_wild & two_left,
        "last_wild_three_left": last_wild & (left == 3),
        "wild_more": wild * more,
        "wild_drawn": wild & (sight.observation[:, _DRAWN].take(rows) > 0),
        "bluff": four & has_active,
        "skip": symbol == Symbol.SKIP,
        "reverse": symbol == Symbol.REVERSE,
        "draw_two": symbol == Symbol.DRAW_TWO,
        "action_more": action * more,
        "action_two_left": action & (left <= 2),
        "rank": _RANK[faces] / 9,
        "colour": np.minimum(colour, _MOST_OF_A_COLOUR) / np.float32(4),
        "colour_none": none & (left > 0),
        "colour_one": one,
        "symbol": symbols / np.float32(2),
        "stuck": ~follows & (left > 0),
        "follows_one_left": follows & one_left,
        "follows_two_left": follows & two_left,
        "colours": colours / np.float32(4),
        "singles": singles / np.float32(4),
        "again_follows": again & matches,
        "again_stuck": again & ~follows,
        "again_wins": again & one_left & follows,
        "stays": _COLOUR[faces] == active,
        "pig_two_left": (symbol == Symbol.KING_PIG) & (left <= 2),
    }


def _of_sizes(sight: Sight, rows: NDArray[np.intp], faces: NDArray[np.intp]) -> dict[str, Any]:
    """What the sizes of other hands say."""
    symbol, wild, hits, draws = _SYMBOL[faces], _WILD[faces], _HITS[faces], _DRAWS[faces]
    lowest, victim = sight.lowest.take(rows), sight.sizes[:, 1].take(rows)
    place = NEXT_PLACE[sight.players].take(symbol)
    size = sight.sizes[rows, place] * (place > 0)
    points = sight.points[:, 0].take(rows) * _ACTION[faces] + sight.points[:, 1].take(rows) * wild
    points = np.where(symbol < Symbol.SKIP, _RANK[faces], points)
    return {
        "wild_lowest_one": wild & (lowest == 1),
        "wild_lowest_two": wild & (lowest == 2),
        "hit_at_one": hits & (victim == 1),
        "hit_at_two": hits & (victim == 2),
        "draws_at_one": draws & (victim == 1),
        "draws_at_two": draws & (victim == 2),
        "next_at_one": size == 1,
        "next_at_two": size == 2,
        "points_lowest_one": (lowest == 1) * points / np.float32(50),
        "pig_lowest_two": (symbol == Symbol.KING_PIG) & (lowest <= 2),
    }


def _of_others(sight: Sight, rows: NDArray[np.intp], faces: NDArray[np.intp]) -> dict[str, Any]:
    """What others are likely to hold."""
    symbol, wild = _SYMBOL[faces], _WILD[faces]
    in_colour = NUM_COLOURS * rows + _COLOUR[faces]
    # A player who goes on is next itself: then no opponent is asked.
    place = NEXT_PLACE[sight.players].take(symbol)
    next_is_other = place > 0
    at = (sight.players - 1) * rows + np.maximum(place, 1) - 1
    in_hand = NUM_COLOURS * at + _COLOUR[faces]
    size = sight.sizes[rows, place]

    others = sight.unseen_symbols.ravel().take(NUM_SYMBOLS * rows + symbol)
    others = (others - sight.observation[rows, _UNSEEN + faces]) * ~wild
    others = others + sight.unseen_wilds.take(rows)
    unseen = sight.unseen.take(rows)
    without = np.exp(size * (LOGS.take(unseen - others) - LOGS.take(unseen)))
    can = (1 - (1 - sight.holds.ravel().take(in_hand)) * without) * next_is_other

    share = sight.colour_shares.ravel().take(in_colour)
    pig = symbol == Symbol.KING_PIG
    miss = 1 - np.maximum(share, np.float32(_RAREST))
    to_all = sight.observation[:, SWITCH_PLACES["king_pig_to_all"]].take(rows)
    last = miss ** (sight.players - 1)
    pig_own = pig * to_all * last / (1 - last * miss)
    known = sight.known[..., :NUM_COLOURS].sum(axis=1, dtype=np.uint8)
    # Opponents' lacks by place and colour: as far apart as `holds`.
    lacks = sight.lacks.reshape(-1).take(in_hand)
    return {
        "share": 4 * share,
        "others": others / np.float32(8),
        "holders": sight.holds.mean(axis=1).ravel().take(in_colour),
        "holders_colour": 0,
        "threat_one": sight.threat(1).ravel().take(in_colour),
        "threat_two": sight.threat(2).ravel().take(in_colour),
        "known": known.ravel().take(in_colour) / np.float32(2),
        "next_lacks": lacks * next_is_other / np.float32(LACK_CAP),
        "can": can,
        "can_at_one": can * (size == 1),
        "can_at_two": can * (size == 2),
        "pig_own": pig_own / 4,
    }
