"""What cards do: King Pig, the challenge, the penalty, the opening card; the rest is in tables.

Section names in docstrings are the rulebook's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uno_env.game.cards import (
    CARD_BITS,
    CARD_KIND,
    FACE_KIND,
    NO_CARD,
    NO_COLOUR,
    NUM_KINDS,
    NUM_SYMBOLS,
    WILD_KINDS,
    Symbol,
    put_sets,
    take_sets,
)
from uno_env.game.dealing import deal_until_colour, give
from uno_env.game.state import Hop, Phase, Rows, State, wheel, where_bytes

HOP_AFTER = np.full(NUM_SYMBOLS, Hop.NEXT, np.uint8)
HOP_AFTER[[Symbol.SKIP, Symbol.DRAW_TWO, Symbol.WILD_DRAW_FOUR]] = Hop.SKIP
HOP_AFTER[Symbol.REVERSE] = Hop.REVERSE
"""How the turn moves on after a card, by symbol: past the seat that was skipped or has drawn."""

DRAWN_FOR = np.zeros(NUM_SYMBOLS, np.uint8)
DRAWN_FOR[Symbol.DRAW_TWO] = 2
DRAWN_FOR[Symbol.WILD_DRAW_FOUR] = 4
"""How many cards the next seat draws, by symbol."""

_TURN, _NEXT, _SKIP = int(Phase.TURN), int(Hop.NEXT), int(Hop.SKIP)

_DRAW_TWO, _REVERSE = int(Symbol.DRAW_TWO), int(Symbol.REVERSE)
_BY_DRAW_TWO = int(DRAWN_FOR[Symbol.DRAW_TWO])
_BY_WILD_DRAW_FOUR = int(DRAWN_FOR[Symbol.WILD_DRAW_FOUR])

_FAILED_CHALLENGE = 6
"""Cards drawn by who challenged an honest Wild Draw 4."""

_FACE_OF_KIND = np.array(
    [np.flatnonzero(kind == FACE_KIND)[0] for kind in range(NUM_KINDS)], dtype=np.uint8
)
"""The face a card lies as when it is turned up; the colour of a wild is still to be named."""


def begin_turn(state: State, rows: Rows, hop: int | NDArray[np.uint8]) -> None:
    """The turn moves on by a `Hop` and the next player's turn begins.

    `play._move_on` does the same for a whole step.
    """
    table = wheel(state.rules.num_players)
    turn = table.after.take(state.turn.take(rows) + table.width * hop)
    state.turn[rows] = turn
    state.acting[rows] = table.seat.take(turn)
    state.phase[rows] = _TURN
    state.drawn[rows] = NO_CARD
    state.said[rows] = False
    state.guilty[rows] = False
    state.colour_before[rows] = NO_COLOUR


def king_pig(state: State, rows: Rows, *, last_card: bool) -> None:
    """One card at a time goes clockwise from the player's left until one has the named colour.

    The player is dealt to as well under `king_pig_recipients: all`, but not by a last card ("The
    end of a round").
    """
    players = state.rules.num_players
    opponents_only = last_card or state.rules.king_pig_recipients == "opponents"
    places = np.arange(1, players if opponents_only else players + 1)
    if opponents_only and state.rules.partners:
        places = np.array([1, 3])
    seats = wheel(players).seat.take(state.seats_on_turn(rows) + places[:, None])
    deal_until_colour(state, rows, seats, state.top.take(rows) // NUM_SYMBOLS)


def challenge(state: State, rows: Rows) -> NDArray[np.uint8]:
    """The victim challenges a Wild Draw 4 ("Bluffing"); returns how the turn moves on: (n,).

    Guilty: the player draws four, the challenger none and takes a normal turn. Innocent: the
    challenger draws six and misses the turn.
    """
    guilty = state.guilty[rows]
    drawing = where_bytes(guilty, state.seats_on_turn(rows), state.next_seats(rows))
    cards = where_bytes(guilty, _BY_WILD_DRAW_FOUR, _FAILED_CHALLENGE)
    if state.rules.stacking:  # and all that was stacked before
        cards += state.stack[rows]
        state.stack[rows] = 0
    give(state, rows, drawing, cards)
    return where_bytes(guilty, _NEXT, _SKIP)


def penalise(state: State, rows: Rows) -> None:
    """The player whose turn it is draws the penalty for not saying UNO ("UNO")."""
    cards = np.full(len(rows), state.rules.uno_penalty, np.uint8)
    give(state, rows, state.seats_on_turn(rows), cards)


def open_round(state: State, rows: Rows, cards: NDArray[np.uint8]) -> None:
    """The opening card is laid and takes effect ("Setting up": opening card)."""
    players = state.rules.num_players
    kinds = CARD_KIND.take(cards)
    put_sets(state.discard, rows, take_sets(CARD_BITS, cards))
    top = _FACE_OF_KIND.take(kinds)
    state.top[rows] = top
    # As if the dealer had played the card: the dealer's left is hit, skipped or begins.
    dealer = state.dealer.take(rows)
    state.turn[rows] = dealer
    symbols = top % NUM_SYMBOLS
    hit = rows.take((symbols == _DRAW_TWO).nonzero()[0])
    if hit.size:
        give(state, hit, state.next_seats(hit), np.full(len(hit), _BY_DRAW_TWO, np.uint8))
    begin_turn(state, rows, HOP_AFTER.take(symbols))
    # Reverse: the dealer begins, so the hop is undone.
    reversed_ = (symbols == _REVERSE).nonzero()[0]
    back, dealer = rows.take(reversed_), dealer.take(reversed_)
    state.turn[back] = players + dealer
    state.acting[back] = dealer
    state.phase[rows.take((kinds >= WILD_KINDS.start).nonzero()[0])] = Phase.COLOUR


def name_opening_colour(state: State, rows: Rows, colour: int) -> None:
    """The first player names the colour of the opening wild, then takes a normal turn."""
    state.top[rows] = state.top[rows] % NUM_SYMBOLS + NUM_SYMBOLS * colour
    state.phase[rows] = Phase.TURN
