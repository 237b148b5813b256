"""The house rules, all off by default: stacking, sevens and zeros, jumping in, partners.

`play` asks for them only where they are on (`Rules.has_house_rules`), so that they take no time
from other games. Section names in docstrings are those of `uno_env/RULES.md`. What a card does is
the last thing to happen: an opponent may catch its player first, then somebody may jump in, then a
Wild Draw 4 may be challenged; each of these holds what the card does (`play.Due.hold`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uno_env.game import dealing
from uno_env.game.actions import Action
from uno_env.game.cards import (
    FACE_BITS,
    NO_CARD,
    NUM_COLOURED_SYMBOLS,
    NUM_SYMBOLS,
    Symbol,
    take_sets,
)
from uno_env.game.due import Due
from uno_env.game.effects import DRAWN_FOR
from uno_env.game.legality import answers_to
from uno_env.game.state import Hop, Phase, Rows, State, wheel

_JUMP_IN, _SWAP, _STACK, _CHALLENGE = (
    int(phase) for phase in (Phase.JUMP_IN, Phase.SWAP, Phase.STACK, Phase.CHALLENGE)
)
_STAY, _NEXT = int(Hop.STAY), int(Hop.NEXT)
_SEVEN, _ZERO, _WILD_DRAW_FOUR = 7, 0, int(Symbol.WILD_DRAW_FOUR)
_ACCEPT, _LET_GO, _CATCH = int(Action.ACCEPT), int(Action.LET_GO), int(Action.CATCH)


def take_over(state: State, is_play: NDArray[np.bool_]) -> None:
    """Who plays out of turn has the turn from now on ("Jumping in", "Stacking").

    Out of turn is a jump, and the answer to a Wild Draw 4 that might have been challenged; that one
    counts towards the stack, while a card that is jumped in on does nothing.
    """
    asked = (state.phase == _JUMP_IN) | (state.phase == _CHALLENGE)
    rows = (is_play & asked).nonzero()[0]
    if not rows.size:
        return
    answers = rows[state.phase[rows] == _CHALLENGE]
    state.stack[answers] += DRAWN_FOR[_WILD_DRAW_FOUR]
    players = state.rules.num_players
    state.turn[rows] = state.acting[rows] + players * (state.turn[rows] >= players)
    state.guilty[rows] = False


def last_card(state: State, rows: Rows, due: Due) -> None:
    """The last card of a round draws all that was stacked ("Stacking")."""
    due.draws[rows] += state.stack[rows]
    state.stack[rows] = 0


def accept_stack(state: State, rows: Rows, due: Due) -> None:
    """Who does not answer draws the sum and misses the turn ("Stacking")."""
    dealing.give(state, rows, state.acting[rows], state.stack[rows])
    state.stack[rows] = 0
    due.hop[rows] = _NEXT


def take_effect(state: State, rows: Rows, due: Due, *, jumped: NDArray[np.bool_]) -> None:
    """The top cards would do now what they do: what the house rules make of that.

    Args:
        state: the games.
        rows: (n,) those whose card nobody can be caught for, or challenge, any more.
        due: what the cards do without house rules.
        jumped: (n,) where somebody has been asked whether to jump in already.
    """
    if state.rules.jump_in:
        rows = _ask_to_jump_in(state, rows, due, jumped)
    if state.rules.stacking:
        _stack(state, rows, due)
    if state.rules.seven_zero:
        symbols = state.top[rows] % NUM_SYMBOLS
        coloured = state.top[rows] % NUM_SYMBOLS < NUM_COLOURED_SYMBOLS
        sevens = rows[coloured & (symbols == _SEVEN)]
        if sevens.size:
            _ask(state, sevens, due, _SWAP, state.seats_on_turn(sevens))
        zeros = rows[coloured & (symbols == _ZERO)]
        if zeros.size:
            _pass_hands_on(state, zeros)


def _ask(state: State, rows: Rows, due: Due, phase: int, seats: NDArray[np.integer]) -> None:
    """Somebody has to decide first; UNO is to be said anew."""
    state.phase[rows] = phase
    state.acting[rows] = seats
    state.drawn[rows] = NO_CARD
    state.said[rows] = False
    due.hold(rows)


# ---------------------------------------------------------------------- jumping in


def _ask_to_jump_in(state: State, rows: Rows, due: Due, jumped: NDArray[np.bool_]) -> Rows:
    """Ask who holds the like of a coloured card just laid; returns where nobody is asked.

    There are two of a card at most, so no more than one seat can be asked.
    """
    tops = state.top[rows]
    holds = ((state.hands[rows] & take_sets(FACE_BITS, tops)[:, None]) != 0).any(axis=2)
    holds[np.arange(len(rows)), state.seats_on_turn(rows)] = False
    holds &= (~jumped & (tops % NUM_SYMBOLS < NUM_COLOURED_SYMBOLS))[:, None]
    asked = holds.any(axis=1)
    some = rows[asked]
    if some.size:
        _ask(state, some, due, _JUMP_IN, holds[asked].argmax(axis=1))
    return rows[~asked]


# ---------------------------------------------------------------------- stacking


def _stack(state: State, rows: Rows, due: Due) -> None:
    """A draw card adds to the stack; the next seat may answer it, or draws the sum.

    A Wild Draw 4 that could be challenged could be answered then, too: its draws are due.
    """
    symbols = state.top[rows] % NUM_SYMBOLS
    number = DRAWN_FOR.take(symbols)
    hits = (number > 0).nonzero()[0]
    if not hits.size:
        return
    rows, symbols, number = rows[hits], symbols[hits], number[hits]
    state.stack[rows] += number
    victims = state.next_seats(rows)
    held = take_sets(state.flat_hands, state.at_seat(rows, victims))
    answers = answers_to(state.top[rows], held[:, 0] | held[:, 1]) != 0
    if state.rules.wild_draw_four == "bluff":
        answers &= symbols != _WILD_DRAW_FOUR
    drawing = rows[~answers]
    due.draws[drawing] = state.stack[drawing]
    state.stack[drawing] = 0
    asked = rows[answers]
    if asked.size:
        table = wheel(state.rules.num_players)
        state.turn[asked] = table.after.take(state.turn[asked] + table.width * _NEXT)
        _ask(state, asked, due, _STACK, victims[answers])


# ---------------------------------------------------------------------- sevens and zeros


def swap(state: State, rows: Rows, places: int) -> None:
    """The player swaps hands with the seat so many places clockwise ("Sevens and zeros")."""
    players = state.rules.num_players
    own = state.seats_on_turn(rows)
    other = wheel(players).seat.take(own + places)
    for of_seat in _what_goes_with_a_hand(state):
        kept = of_seat[rows, own]
        of_seat[rows, own] = of_seat[rows, other]
        of_seat[rows, other] = kept


def _pass_hands_on(state: State, rows: Rows) -> None:
    """All hands go one seat on in the direction of play ("Sevens and zeros")."""
    players = state.rules.num_players
    step = np.where(state.turn[rows] < players, 1, -1)
    giver = (np.arange(players) - step[:, None]) % players
    for of_seat in _what_goes_with_a_hand(state):
        of_seat[rows] = of_seat[rows[:, None], giver]


def _what_goes_with_a_hand(state: State) -> tuple[NDArray[np.generic], ...]:
    """The cards, and what all have seen of them: arrays (N, P, ...)."""
    return state.hands, state.known, state.lack
