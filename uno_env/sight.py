"""What observations tell at a glance: counts and chances that players' rules of thumb speak of."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from uno_env.game.cards import NUM_CARDS, NUM_COLOURED_SYMBOLS, NUM_COLOURS, NUM_SYMBOLS, Symbol
from uno_env.game.observation import LAYOUT, POINTS_UNIT, SWITCH_PLACES
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS
from uno_env.game.state import LACK_CAP

Floats = NDArray[np.float32]
Counts = NDArray[np.uint8]

_CARDS = slice(LAYOUT["hand"].start, LAYOUT["unseen"].stop)
"""The hand and the unseen cards, which stand side by side."""
_ONES = np.uint64(0x0101010101010101)
_COLOURED = np.uint64(0x000000FFFFFFFFFF)
"""Of the second eight symbols, those that have a colour."""
_NEVER = -30.0
"""The logarithm of no chance at all."""
LOGS: Floats = np.log(np.arange(NUM_CARDS + 1, dtype=np.float32).clip(np.exp(_NEVER)))
"""Logarithms of numbers of cards, that of none far below all others: (113,)."""


def _next_places() -> NDArray[np.intp]:
    """The place that acts after a card, by number of players and symbol: (11, 16)."""
    places = np.ones((MAX_PLAYERS + 1, NUM_SYMBOLS), np.intp)
    for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        for symbol in (Symbol.SKIP, Symbol.DRAW_TWO, Symbol.WILD_DRAW_FOUR):
            places[players, symbol] = 2 % players
        places[players, Symbol.REVERSE] = players - 1 if players > 2 else 0
    return places


NEXT_PLACE = _next_places()
"""The place that acts after a card with this symbol, by number of players and symbol; place 0 is
the player's own."""


class Sight:
    """What B observations of tables with the same number of players tell.

    Args:
        observation: (B, F) uint8.
        players: how many sit at each table.
    """

    def __init__(self, observation: Counts, players: int) -> None:
        self.observation = observation
        self.players = players
        number = len(observation)
        # Sums of small counts, eight at a time as the bytes of one word.
        words = np.ascontiguousarray(observation[:, _CARDS]).view("<u8")
        words = words.reshape(number, 2, NUM_COLOURS, 2)
        by_symbol = words.sum(axis=2).view(np.uint8)
        by_colour = (words[..., 0] + (words[..., 1] & _COLOURED)) * _ONES >> np.uint64(56)
        self.hand: Counts = observation[:, LAYOUT["hand"]]
        """(B, 64) cards in hand by face."""
        self.held_symbols: Counts = by_symbol[:, 0]
        """(B, 16) cards in hand by symbol."""
        self.unseen_symbols: Counts = by_symbol[:, 1]
        """(B, 16) unseen cards by symbol."""
        self.held_colours: Counts = by_colour[:, 0].astype(np.uint8)
        """(B, 4) cards in hand by colour."""
        self.unseen_colours: Counts = by_colour[:, 1].astype(np.uint8)
        """(B, 4) unseen cards by colour."""
        self.unseen: NDArray[np.intp] = self.unseen_symbols.sum(axis=1, dtype=np.intp)
        """(B,) unseen cards."""
        self.sizes: Counts = observation[:, LAYOUT["hand_sizes"]][:, :players]
        """(B, P) cards in hand by place."""

    @cached_property
    def colour(self) -> NDArray[np.intp]:
        """The active colour: (B,)."""
        return self.observation[:, LAYOUT["colour"]].argmax(axis=1)

    @cached_property
    def wilds(self) -> Counts:
        """Wilds of all kinds in hand: (B,)."""
        return self.held_symbols[:, NUM_COLOURED_SYMBOLS:].sum(axis=1, dtype=np.uint8)

    @cached_property
    def unseen_wilds(self) -> Counts:
        """Wilds of all kinds that are unseen: (B,)."""
        return self.unseen_symbols[:, NUM_COLOURED_SYMBOLS:].sum(axis=1, dtype=np.uint8)

    @cached_property
    def lowest(self) -> Counts:
        """The smallest hand of an opponent: (B,)."""
        return self.sizes[:, 1:].min(axis=1)

    @cached_property
    def points(self) -> NDArray[np.intp]:
        """What a Skip, Reverse or Draw Two counts and what a wild does: (B, 2)."""
        first = SWITCH_PLACES["action_points_in_fives"]
        return self.observation[:, first : first + 2] * np.intp(POINTS_UNIT)

    @cached_property
    def lacks(self) -> Counts:
        """What is remembered of colours lacked, by place from 1 and colour: (B, P - 1, 4)."""
        lacks = self.observation[:, LAYOUT["lack"]]
        return lacks.reshape(len(lacks), MAX_PLAYERS - 1, NUM_COLOURS)[:, : self.players - 1]

    @cached_property
    def known(self) -> Counts:
        """Cards seen to be dealt, by place from 1: R Y G B, wilds: (B, P - 1, 5)."""
        known = self.observation[:, LAYOUT["known_colours"]]
        return known.reshape(len(known), MAX_PLAYERS - 1, NUM_COLOURS + 1)[:, : self.players - 1]

    @cached_property
    def colour_shares(self) -> Floats:
        """Of the unseen cards, the share of each colour: (B, 4)."""
        return np.divide(self.unseen_colours, np.maximum(self.unseen, 1)[:, None], dtype=np.float32)

    @cached_property
    def may_hold(self) -> Counts:
        """Cards of each opponent that may be of a colour: (B, P - 1, 4).

        All in hand, or those got since it drew for want of the colour.
        """
        since = LACK_CAP - self.lacks
        since[self.lacks == 0] = NUM_CARDS
        return np.minimum(self.sizes[:, 1:, None], since)

    @cached_property
    def holds(self) -> Floats:
        """How likely each opponent holds a card of a colour: (B, P - 1, 4)."""
        others = LOGS[self.unseen[:, None] - self.unseen_colours] - LOGS[self.unseen][:, None]
        chance = 1 - np.exp(self.may_hold * others[:, None])
        chance[self.known[..., :NUM_COLOURS] > 0] = 1
        return chance

    def threat(self, size: int) -> Floats:
        """How many opponents with so many cards hold a colour, as expected: (B, 4)."""
        return (self.holds * (self.sizes[:, 1:, None] == size)).sum(axis=1)

    @cached_property
    def on_turn(self) -> NDArray[np.intp]:
        """The place of the player whose turn it is: (B,)."""
        return self.observation[:, LAYOUT["on_turn"]].argmax(axis=1)

    @cached_property
    def size_on_turn(self) -> Counts:
        """Cards of the player whose turn it is: (B,)."""
        return self.sizes[np.arange(len(self.sizes)), self.on_turn]

    @cached_property
    def holds_on_turn(self) -> Floats:
        """How likely the opponent on turn holds a card of each colour: (B, 4)."""
        return self.holds[np.arange(len(self.sizes)), np.maximum(self.on_turn, 1) - 1]

    @cached_property
    def guilt(self) -> Floats:
        """How likely a Wild Draw 4 was a bluff of somebody who bluffs whenever possible: (B,).

        That is, how likely its player holds the colour that was active before; where the
        observation does not tell which, any colour.
        """
        before = self.observation[:, LAYOUT["colour_before"]] > 0
        before |= ~before.any(axis=1, keepdims=True)
        return self.holds_on_turn.mean(axis=1, where=before)
