"""One step of all games: the order of play.

The rulebook's order holds within a step: card and colour, catch, challenge, draws, next turn. What
most games do at a step is done for all of them at once, by looking their actions up in tables; what
few games do is done for those alone, the `rows`.

Up to `engine.FEW_TO_STEP` games take their common steps in `few`, which says the same in plain
integers: a rule that changes here changes there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uno_env.game import dealing, effects, legality, scoring
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.cards import (
    FACE_BITS,
    NO_CARD,
    NO_COLOUR,
    NUM_FACES,
    NUM_SYMBOLS,
    Symbol,
    Words,
    one_of,
    put_sets,
    set_sizes,
    take_sets,
)
from uno_env.game.effects import DRAWN_FOR, HOP_AFTER
from uno_env.game.state import Hop, Phase, Rows, State, wheel, where_bytes

IDLE = NUM_ACTIONS
"""In place of an action: what a game does whose round is over, or that is not to be stepped."""

_PLAYED_BITS: Words = np.zeros((NUM_ACTIONS + 1, 2), np.uint64)
_PLAYED_BITS[:NUM_FACES] = FACE_BITS
"""All copies of the card that an action plays; nothing for other actions."""

_HOP = np.full(NUM_ACTIONS + 1, Hop.STAY, np.uint8)
_HOP[:NUM_FACES] = HOP_AFTER[np.arange(NUM_FACES) % NUM_SYMBOLS]
_HOP[[Action.DRAW, Action.KEEP]] = Hop.NEXT
"""How the turn moves on after an action, if nothing comes between."""

_ONE_BY_CHOICE, _UNTIL_COLOUR = 1, 255
"""In `_DRAWS`: a draw of one's own accord (no card makes anybody draw one), and a King Pig's."""

_DRAWS = np.zeros(NUM_ACTIONS + 1, np.uint8)
_DRAWS[:NUM_FACES] = DRAWN_FOR[np.arange(NUM_FACES) % NUM_SYMBOLS]
_DRAWS[Action.DRAW] = _ONE_BY_CHOICE
_DRAWS[Symbol.KING_PIG : NUM_FACES : NUM_SYMBOLS] = _UNTIL_COLOUR
"""How many cards an action makes its player or the next one draw, if nothing comes between."""

_OVER, _TURN, _CATCH_PHASE, _CHALLENGE_PHASE, _DRAWN = (
    int(phase) for phase in (Phase.OVER, Phase.TURN, Phase.CATCH, Phase.CHALLENGE, Phase.DRAWN)
)
_STAY, _NEXT = int(Hop.STAY), int(Hop.NEXT)
_DRAW, _UNO, _CATCH, _LET_GO, _CHALLENGE, _ACCEPT, _COLOUR = (
    int(action)
    for action in (
        Action.DRAW,
        Action.UNO,
        Action.CATCH,
        Action.LET_GO,
        Action.CHALLENGE,
        Action.ACCEPT,
        Action.COLOUR,
    )
)
_WILD_DRAW_FOUR = int(Symbol.WILD_DRAW_FOUR)


@dataclass(slots=True)
class _Due:
    """What is still to come of each game's step: (n,) each."""

    hop: NDArray[np.uint8]
    """How the turn moves on."""
    draws: NDArray[np.uint8]
    """Cards to be drawn, as in `_DRAWS`."""

    @classmethod
    def after(cls, actions: NDArray[np.integer]) -> _Due:
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


def play(state: State, actions: NDArray[np.intp]) -> None:
    """Play one action (n,) in each game, then whatever follows by itself.

    The actions are trusted to be legal; those of games that are over are not looked at. With `IDLE`
    a game stays as it is.
    """
    over = state.phase == _OVER
    if over.any():
        actions = np.where(over, IDLE, actions)
    is_play = actions < NUM_FACES
    state.said |= actions == _UNO
    left = _lay_cards(state, actions, is_play)
    due = _Due.after(actions)

    out = (is_play & (left == 0)).nonzero()[0]
    forgot = legality.forgot_uno(state, is_play, left).nonzero()[0]
    if forgot.size:
        _punish_or_ask(state, forgot, due)
    # Ids after UNO answer what was asked.
    answering = ((actions > _UNO) & (actions < IDLE)).nonzero()[0]
    if answering.size:
        _answer(state, answering, actions, due)
    if state.rules.wild_draw_four == "bluff":
        _ask_victims(state, is_play & (left > 0), due)
    if out.size:
        due.hop[out] = _STAY
        if not state.rules.last_card_draws:
            due.hold(out)

    _draw_cards(state, due, left)
    if out.size:
        scoring.end_round(state, out, state.seats_on_turn(out))
    _move_on(state, due.hop)
    settle(state, None)


def _lay_cards(
    state: State, actions: NDArray[np.intp], is_play: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Cards leave the hands and lie on top; returns how many the seats to act have left: (n,)."""
    bits = take_sets(_PLAYED_BITS, actions)
    at = state.at_acting_seat()
    hand = take_sets(state.flat_hands, at)
    if state.rules.wild_draw_four == "bluff":
        bluff = is_play & (actions % NUM_SYMBOLS == _WILD_DRAW_FOUR)
        state.guilty |= bluff & legality.holds_active_colour(hand[:, 0] | hand[:, 1], state.top)
        state.colour_before = where_bytes(bluff, state.top // NUM_SYMBOLS, state.colour_before)
    card = one_of(hand & bits)
    hand ^= card
    put_sets(state.flat_hands, at, hand)
    if state.rules.deck == "angry_birds":
        known = take_sets(state.flat_known, at)
        known &= bits
        seen = (known[:, 0] | known[:, 1]).nonzero()[0]
        if seen.size:
            at = at.take(seen)
            rest = take_sets(state.flat_known, at) ^ one_of(take_sets(known, seen))
            put_sets(state.flat_known, at, rest)
    state.discard |= card
    state.top = where_bytes(is_play, actions.astype(np.uint8), state.top)
    return set_sizes(hand)


def _punish_or_ask(state: State, rows: Rows, due: _Due) -> None:
    """Who did not say UNO draws the penalty at once, or the opponents are asked ("UNO")."""
    if state.rules.uno_enforcement == "automatic":
        effects.penalise(state, rows)
        return
    _ask_next(state, rows)
    state.drawn[rows] = NO_CARD
    due.hold(rows)


def _ask_next(state: State, rows: Rows) -> None:
    """The next seat clockwise is asked whether it catches the player ("UNO")."""
    state.phase[rows] = _CATCH_PHASE
    state.acting[rows] = wheel(state.rules.num_players).seat.take(state.acting.take(rows) + 1)


def _answer(state: State, rows: Rows, actions: NDArray[np.integer], due: _Due) -> None:
    """Catches, challenges and the naming of an opening colour."""
    answers = actions[rows]
    for answer in np.bincount(answers).nonzero()[0].tolist():
        some = rows[answers == answer]
        if answer >= _COLOUR:
            effects.name_opening_colour(state, some, answer - _COLOUR)
        elif answer == _CHALLENGE:
            due.hop[some] = effects.challenge(state, some)
        elif answer == _ACCEPT:
            due.take_effect(some, state.top[some])
        else:
            if answer == _CATCH:
                effects.penalise(state, some)
            else:
                _ask_next(state, some)
                some = some[state.acting[some] == state.seats_on_turn(some)]
            due.take_effect(some, state.top[some])
            if state.rules.wild_draw_four == "bluff":
                closed = np.zeros(state.num_games, np.bool_)
                closed[some] = True
                _ask_victims(state, closed, due)


def _ask_victims(state: State, laid: NDArray[np.bool_], due: _Due) -> None:
    """The victim of a Wild Draw 4 is asked before it draws ("Bluffing").

    Args:
        state: the games.
        laid: (n,) where a card has been laid and nobody is to be caught any more.
        due: what is still to come.
    """
    fours = state.top % NUM_SYMBOLS == _WILD_DRAW_FOUR
    rows = (fours & laid & (due.hop != _STAY)).nonzero()[0]
    if rows.size:
        state.phase[rows] = _CHALLENGE_PHASE
        state.acting[rows] = state.next_seats(rows)
        state.drawn[rows] = NO_CARD
        due.hold(rows)


def _draw_cards(state: State, due: _Due, left: NDArray[np.uint8]) -> None:
    """Draws of one's own accord, those that a card makes the next seat draw, and King Pigs.

    Args:
        state: the games.
        due: what is to be drawn.
        left: (n,) how many cards the players have left.
    """
    rows = (due.draws != 0).nonzero()[0]  # numpy finds flags many times as fast as numbers
    if not rows.size:
        return
    draws = due.draws.take(rows)
    pigs = (draws == _UNTIL_COLOUR).nonzero()[0]
    if pigs.size:
        others = (draws != _UNTIL_COLOUR).nonzero()[0]
        pigs, rows, draws = rows.take(pigs), rows.take(others), draws.take(others)
        last_card = left.take(pigs) == 0
        for last in (False, True):
            some = (last_card == last).nonzero()[0]
            if some.size:
                effects.king_pig(state, pigs.take(some), last_card=last)

    by_choice = draws == _ONE_BY_CHOICE
    seats = where_bytes(by_choice, state.acting.take(rows), state.next_seats(rows))
    first = dealing.give(state, rows, seats, draws)
    chosen = by_choice.nonzero()[0]
    if chosen.size:
        _go_on_after_draw(state, rows.take(chosen), first.take(chosen), due)


def _go_on_after_draw(state: State, rows: Rows, drawn: NDArray[np.uint8], due: _Due) -> None:
    """A drawn card that can be played may be played; otherwise the turn passes by itself."""
    at = state.at_acting_seat(rows)
    dealing.remember_lack(state, rows, at)
    playable = legality.drawn_card_playable(state, rows, at, drawn).nonzero()[0]
    rows = rows.take(playable)
    state.phase[rows] = _DRAWN
    state.drawn[rows] = drawn.take(playable)
    due.hop[rows] = _STAY


def _move_on(state: State, hop: NDArray[np.uint8]) -> None:
    """The turn moves on by each game's hop; where it does, the next player's turn begins."""
    table = wheel(state.rules.num_players)
    state.turn = table.after.take(state.turn + table.width * hop)
    stays = hop == _STAY
    state.acting = where_bytes(stays, state.acting, table.seat.take(state.turn))
    state.phase = where_bytes(stays, state.phase, _TURN)
    state.drawn = where_bytes(stays, state.drawn, NO_CARD)
    state.said &= stays
    state.guilty &= stays
    if state.rules.wild_draw_four == "bluff":
        state.colour_before = where_bytes(stays, state.colour_before, NO_COLOUR)


def settle(state: State, rows: Rows | None) -> None:
    """Work out what is legal; a turn in which nothing is passes by itself ("A turn").

    Once every player in a row has passed so, the round is blocked.

    Args:
        state: the games.
        rows: which of them; all if None.
    """
    nothing = legality.refresh(state, rows)
    if not nothing.any():
        return
    idle = nothing.nonzero()[0] if rows is None else rows[nothing]
    idle = idle[state.phase[idle] == _TURN]
    for _ in range(state.rules.num_players - 1):
        if not idle.size:
            return
        effects.begin_turn(state, idle, _NEXT)
        idle = idle[legality.refresh(state, idle)]
    scoring.block_round(state, idle)
