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
    put_sets,
    take_sets,
)
from uno_env.game.dealing import deal_until_colour, give
from uno_env.game.state import Hop, Phase, Rows, State, wheel

_HOP_AFTER = np.full(NUM_SYMBOLS, Hop.NEXT, np.uint8)
_HOP_AFTER[[Symbol.SKIP, Symbol.DRAW_TWO, Symbol.WILD_DRAW_FOUR]] = Hop.SKIP
_HOP_AFTER[Symbol.REVERSE] = Hop.REVERSE
"""How the turn moves on after a card, by symbol: past the seat that was skipped or has drawn."""

_DRAWN_FOR = np.zeros(NUM_SYMBOLS, np.intp)
_DRAWN_FOR[Symbol.DRAW_TWO] = 2
_DRAWN_FOR[Symbol.WILD_DRAW_FOUR] = 4
"""How many cards the next seat draws, by symbol."""

# Looking a member of an enumeration up takes longer than adding two short vectors.
_TURN, _NEXT, _SKIP = int(Phase.TURN), int(Hop.NEXT), int(Hop.SKIP)
_KING_PIG = int(Symbol.KING_PIG)

_FACE_OF_KIND = np.array(
    [np.flatnonzero(kind == FACE_KIND)[0] for kind in range(NUM_KINDS)], dtype=np.uint8
)
"""The face a card lies as when it is turned up; the colour of a wild is still to be named."""


def begin_turn(state: State, rows: Rows, hop: int | NDArray[np.uint8]) -> None:
    """The turn moves on by a `Hop` and the next player's turn begins."""
    table = wheel(state.rules.num_players)
    turn = table.after.take(state.turn.take(rows) + table.width * hop)
    state.turn[rows] = turn
    state.acting[rows] = table.seat.take(turn)
    state.phase[rows] = _TURN
    state.drawn[rows] = NO_CARD
    state.said[rows] = False
    state.guilty[rows] = False


def draw_cards(state: State, rows: Rows, symbols: NDArray[np.uint8]) -> None:
    """The next seat draws two for a Draw Two, four for a Wild Draw 4."""
    give(state, rows, state.next_seats(rows), _DRAWN_FOR.take(symbols))


def king_pig(state: State, rows: Rows, *, last_card: bool = False) -> None:
    """One card at a time goes clockwise from the player's left until one has the named colour.

    The player is dealt to as well under `king_pig_recipients: all`, but not by a last card ("The
    end of a round").
    """
    players = state.rules.num_players
    opponents_only = last_card or state.rules.king_pig_recipients == "opponents"
    places = np.arange(1, players if opponents_only else players + 1)
    seats = wheel(players).seat.take(state.seats_on_turn(rows)[:, None] + places)
    deal_until_colour(state, rows, seats, state.top[rows] // NUM_SYMBOLS)


def carry_out_draws(state: State, rows: Rows, *, last_card: bool = False) -> None:
    """The cards that the top card makes others draw."""
    symbols = state.top.take(rows) % NUM_SYMBOLS
    if (hit := _DRAWN_FOR.take(symbols).nonzero()[0]).size:
        draw_cards(state, rows[hit], symbols[hit])
    if (pigs := (symbols == _KING_PIG).nonzero()[0]).size:
        king_pig(state, rows[pigs], last_card=last_card)


def carry_out(state: State, rows: Rows) -> None:
    """The draws of the top card, then the next turn."""
    carry_out_draws(state, rows)
    begin_turn(state, rows, _HOP_AFTER.take(state.top.take(rows) % NUM_SYMBOLS))


def challenge(state: State, rows: Rows) -> None:
    """The victim challenges a Wild Draw 4 ("Bluffing").

    Guilty: the player draws four, the challenger none and takes a normal turn. Innocent: the
    challenger draws six and misses the turn.
    """
    guilty = state.guilty[rows]
    bluffers, honest = rows[guilty], rows[~guilty]
    give(state, bluffers, state.seats_on_turn(bluffers), 4)
    begin_turn(state, bluffers, _NEXT)
    give(state, honest, state.next_seats(honest), 6)
    begin_turn(state, honest, _SKIP)


def penalise(state: State, rows: Rows) -> None:
    """The player whose turn it is draws the penalty for not saying UNO ("UNO")."""
    give(state, rows, state.seats_on_turn(rows), state.rules.uno_penalty)


def open_round(state: State, rows: Rows, cards: NDArray[np.uint8]) -> None:
    """The opening card is laid and takes effect ("Setting up": opening card)."""
    players = state.rules.num_players
    kinds = CARD_KIND[cards]
    put_sets(state.discard, rows, take_sets(CARD_BITS, cards))
    state.top[rows] = _FACE_OF_KIND[kinds]
    # As if the dealer had played the card: the dealer's left is hit, skipped or begins.
    state.turn[rows] = state.dealer[rows]
    symbols = state.top[rows] % NUM_SYMBOLS
    wild = kinds >= WILD_KINDS.start
    if (hit := (symbols == Symbol.DRAW_TWO).nonzero()[0]).size:
        draw_cards(state, rows[hit], symbols[hit])
    begin_turn(state, rows, _HOP_AFTER.take(symbols))
    back = rows[symbols == Symbol.REVERSE]
    state.turn[back] = players + state.dealer[back]
    state.acting[back] = state.dealer[back]
    state.phase[rows[wild]] = Phase.COLOUR


def name_opening_colour(state: State, rows: Rows, colour: int) -> None:
    """The first player names the colour of the opening wild, then takes a normal turn."""
    state.top[rows] = state.top[rows] % NUM_SYMBOLS + NUM_SYMBOLS * colour
    state.phase[rows] = Phase.TURN
