"""What a played card does: one function per card (rulebook, "A turn")."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uno_env.game.cards import (
    CARD_BITS,
    CARD_KIND,
    FACE_KIND,
    NO_CARD,
    NUM_KINDS,
    NUM_SYMBOLS,
    WILD_KINDS,
    Symbol,
)
from uno_env.game.dealing import deal_until_colour, give
from uno_env.game.state import Hop, Phase, Rows, State, wheel

_HOP_AFTER = np.full(NUM_SYMBOLS, Hop.NEXT, np.uint8)
_HOP_AFTER[[Symbol.SKIP, Symbol.DRAW_TWO, Symbol.WILD_DRAW_FOUR]] = Hop.SKIP
_HOP_AFTER[Symbol.REVERSE] = Hop.REVERSE
"""How the turn moves on after a card, by symbol: past the seat that was skipped or has drawn."""

_FACE_OF_KIND = np.array(
    [np.flatnonzero(kind == FACE_KIND)[0] for kind in range(NUM_KINDS)], dtype=np.uint8
)
"""The face a card lies as when it is turned up; the colour of a wild is still to be named."""


def begin_turn(state: State, rows: Rows, hop: Hop | NDArray[np.uint8]) -> None:
    """The turn moves on by a hop and the next player's turn begins."""
    turn = wheel(state.rules.num_players)[hop, state.turn[rows]]
    state.turn[rows] = turn
    state.acting[rows] = turn % state.rules.num_players
    state.phase[rows] = Phase.TURN
    state.drawn[rows] = NO_CARD
    state.said[rows] = False
    state.guilty[rows] = False


def draw_two(state: State, rows: Rows) -> None:
    """The next seat draws two."""
    give(state, rows, state.next_seats(rows), 2)


def wild_draw_four(state: State, rows: Rows) -> None:
    """The next seat draws four."""
    give(state, rows, state.next_seats(rows), 4)


def king_pig(state: State, rows: Rows, *, last_card: bool = False) -> None:
    """One card at a time goes clockwise from the player's left until one has the named colour.

    The player is dealt to as well under `king_pig_recipients: all`, but not by a last card ("The
    end of a round").
    """
    players = state.rules.num_players
    opponents_only = last_card or state.rules.king_pig_recipients == "opponents"
    places = np.arange(1, players if opponents_only else players + 1)
    seats = (state.seats_on_turn(rows)[:, None] + places) % players
    deal_until_colour(state, rows, seats, state.top[rows] // NUM_SYMBOLS)


def carry_out_draws(state: State, rows: Rows, *, last_card: bool = False) -> None:
    """The cards that the top card makes others draw."""
    symbols = state.top[rows] % NUM_SYMBOLS
    if (twos := rows[symbols == Symbol.DRAW_TWO]).size:
        draw_two(state, twos)
    if (fours := rows[symbols == Symbol.WILD_DRAW_FOUR]).size:
        wild_draw_four(state, fours)
    if (pigs := rows[symbols == Symbol.KING_PIG]).size:
        king_pig(state, pigs, last_card=last_card)


def carry_out(state: State, rows: Rows) -> None:
    """The draws of the top card, then the next turn."""
    carry_out_draws(state, rows)
    begin_turn(state, rows, _HOP_AFTER[state.top[rows] % NUM_SYMBOLS])


def challenge(state: State, rows: Rows) -> None:
    """The victim challenges a Wild Draw 4 ("Bluffing").

    Guilty: the player draws four, the challenger none and takes a normal turn. Innocent: the
    challenger draws six and misses the turn.
    """
    guilty = state.guilty[rows]
    bluffers, honest = rows[guilty], rows[~guilty]
    give(state, bluffers, state.seats_on_turn(bluffers), 4)
    begin_turn(state, bluffers, Hop.NEXT)
    give(state, honest, state.next_seats(honest), 6)
    begin_turn(state, honest, Hop.SKIP)


def penalise(state: State, rows: Rows) -> None:
    """The player whose turn it is draws the penalty for not saying UNO ("UNO")."""
    give(state, rows, state.seats_on_turn(rows), state.rules.uno_penalty)


def open_round(state: State, rows: Rows, cards: NDArray[np.uint8]) -> None:
    """The opening card is laid and takes effect ("Setting up": opening card)."""
    players = state.rules.num_players
    kinds = CARD_KIND[cards]
    state.discard[rows] |= CARD_BITS[cards]
    state.top[rows] = _FACE_OF_KIND[kinds]
    # As if the dealer had played the card: the dealer's left is hit, skipped or begins.
    state.turn[rows] = state.dealer[rows]
    symbols = state.top[rows] % NUM_SYMBOLS
    wild = kinds >= WILD_KINDS.start
    if (twos := rows[symbols == Symbol.DRAW_TWO]).size:
        draw_two(state, twos)
    begin_turn(state, rows, _HOP_AFTER[symbols])
    back = rows[symbols == Symbol.REVERSE]
    state.turn[back] = players + state.dealer[back]
    state.acting[back] = state.dealer[back]
    state.phase[rows[wild]] = Phase.COLOUR


def name_opening_colour(state: State, rows: Rows, colours: NDArray[np.integer]) -> None:
    """The first player names the colour of the opening wild, then takes a normal turn."""
    state.top[rows] = state.top[rows] % NUM_SYMBOLS + NUM_SYMBOLS * colours
    state.phase[rows] = Phase.TURN
