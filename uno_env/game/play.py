"""One step of all games: the order of play.

The rulebook's order holds within a step: card and colour, catch, challenge, draws, next turn. What
most games do at a step is done for all of them at once, by looking their actions up in tables; what
few games do is done for those alone, the `rows`.

Up to `engine.FEW_TO_STEP` games take their common steps in `few`, which says the same in plain
integers: a rule that changes here changes there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uno_env.game import dealing, effects, house, legality, scoring
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
from uno_env.game.due import ONE_BY_CHOICE, UNTIL_COLOUR, Due
from uno_env.game.state import Hop, Phase, Rows, State, wheel, where_bytes

IDLE = NUM_ACTIONS
"""In place of an action: what a game does whose round is over, or that is not to be stepped."""

_PLAYED_BITS: Words = np.zeros((NUM_ACTIONS + 1, 2), np.uint64)
_PLAYED_BITS[:NUM_FACES] = FACE_BITS
"""All copies of the card that an action plays; nothing for other actions."""

_OVER, _TURN, _CATCH_PHASE, _CHALLENGE_PHASE, _DRAWN, _JUMP_IN, _STACK = (
    int(phase)
    for phase in (
        *(Phase.OVER, Phase.TURN, Phase.CATCH, Phase.CHALLENGE, Phase.DRAWN),
        *(Phase.JUMP_IN, Phase.STACK),
    )
)
_STAY, _NEXT = int(Hop.STAY), int(Hop.NEXT)
_UNO, _CATCH, _LET_GO, _CHALLENGE, _ACCEPT, _COLOUR, _SWAP = (
    int(action)
    for action in (
        *(Action.UNO, Action.CATCH, Action.LET_GO, Action.CHALLENGE, Action.ACCEPT),
        *(Action.COLOUR, Action.SWAP),
    )
)
_WILD_DRAW_FOUR = int(Symbol.WILD_DRAW_FOUR)


def play(state: State, actions: NDArray[np.intp]) -> None:
    """Play one action (n,) in each game, then whatever follows by itself.

    The actions are trusted to be legal; those of games that are over are not looked at. With `IDLE`
    a game stays as it is.
    """
    over = state.phase == _OVER
    if over.any():
        actions = np.where(over, IDLE, actions)
    is_play = actions < NUM_FACES
    has_house_rules = bool(state.rules.house_rules)
    if has_house_rules:
        phase = state.phase.copy()
        house.take_over(state, is_play)
    state.said |= actions == _UNO
    left = _lay_cards(state, actions, is_play)
    due = Due.after(actions)

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
    if has_house_rules:
        _keep_house_rules(state, actions, phase, left, due)
    if out.size:
        due.hop[out] = _STAY
        if not state.rules.last_card_draws:
            due.hold(out)

    _draw_cards(state, due, left)
    if out.size:
        scoring.end_round(state, out, state.seats_on_turn(out))
    _move_on(state, due.hop)
    settle(state, None)


def _keep_house_rules(
    state: State,
    actions: NDArray[np.intp],
    phase: NDArray[np.uint8],
    left: NDArray[np.uint8],
    due: Due,
) -> None:
    """What the house rules make of cards that would do now what they do ("House rules").

    Args:
        state: the games.
        actions: (n,) that were taken.
        phase: (n,) in which they were.
        left: (n,) how many cards the players have left.
        due: what the cards do otherwise.
    """
    laid = (actions < NUM_FACES) & (left > 0)
    closed = (actions == _CATCH) | (actions == _LET_GO)
    closed |= (actions == _ACCEPT) & (phase == _CHALLENGE_PHASE)
    effective = ((laid | closed) & (due.hop != _STAY)).nonzero()[0]
    if effective.size:
        house.take_effect(state, effective, due, jumped=phase[effective] == _JUMP_IN)
    if state.rules.stacking:
        out = ((actions < NUM_FACES) & (left == 0) & (state.stack > 0)).nonzero()[0]
        if out.size:
            house.last_card(state, out, due)


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


def _punish_or_ask(state: State, rows: Rows, due: Due) -> None:
    """Who did not say UNO draws the penalty at once, or the opponents are asked ("UNO")."""
    if state.rules.uno_enforcement == "automatic":
        effects.penalise(state, rows)
        return
    _ask_next(state, rows)
    state.drawn[rows] = NO_CARD
    due.hold(rows)


def _ask_next(state: State, rows: Rows) -> None:
    """The next seat clockwise is asked whether it catches the player ("UNO")."""
    seats = wheel(state.rules.num_players).seat
    following = seats.take(state.acting.take(rows) + 1)
    if state.rules.partners:  # a partner is no opponent
        partner = following == seats.take(state.seats_on_turn(rows) + 2)
        following = seats.take(following + partner)
    state.phase[rows] = _CATCH_PHASE
    state.acting[rows] = following


def _answer(state: State, rows: Rows, actions: NDArray[np.integer], due: Due) -> None:
    """Catches, challenges and the naming of an opening colour."""
    answers = actions[rows]
    for answer in np.bincount(answers).nonzero()[0].tolist():
        some = rows[answers == answer]
        if answer >= _SWAP:
            house.swap(state, some, answer - _SWAP + 1)
            due.hop[some] = _NEXT
        elif answer >= _COLOUR:
            effects.name_opening_colour(state, some, answer - _COLOUR)
        elif answer == _CHALLENGE:
            due.hop[some] = effects.challenge(state, some)
        elif answer == _ACCEPT:
            stacked = state.phase[some] == _STACK
            house.accept_stack(state, some[stacked], due)
            some = some[~stacked]
            due.take_effect(some, state.top[some])
        elif answer == _LET_GO and (jumps := state.phase[some] == _JUMP_IN).any():
            due.take_effect(some[jumps], state.top[some[jumps]])
            _close_window(state, some[~jumps], answer, due)
        else:
            _close_window(state, some, answer, due)


def _close_window(state: State, some: Rows, answer: int, due: Due) -> None:
    """A catch, which closes the window, or one opponent more who lets go ("UNO")."""
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


def _ask_victims(state: State, laid: NDArray[np.bool_], due: Due) -> None:
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
        if state.rules.stacking:
            state.said[rows] = False  # who is asked may lay a card itself
        due.hold(rows)


def _draw_cards(state: State, due: Due, left: NDArray[np.uint8]) -> None:
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
    pigs = (draws == UNTIL_COLOUR).nonzero()[0]
    if pigs.size:
        others = (draws != UNTIL_COLOUR).nonzero()[0]
        pigs, rows, draws = rows.take(pigs), rows.take(others), draws.take(others)
        last_card = left.take(pigs) == 0
        for last in (False, True):
            some = (last_card == last).nonzero()[0]
            if some.size:
                effects.king_pig(state, pigs.take(some), last_card=last)

    by_choice = draws == ONE_BY_CHOICE
    seats = where_bytes(by_choice, state.acting.take(rows), state.next_seats(rows))
    drawn = dealing.give(state, rows, seats, draws)
    chosen = by_choice.nonzero()[0]
    if chosen.size:
        _go_on_after_draw(state, rows.take(chosen), drawn.take(chosen), due)


def _go_on_after_draw(state: State, rows: Rows, drawn: NDArray[np.uint8], due: Due) -> None:
    """A drawn card that can be played may be played; otherwise the turn passes by itself.

    Or the player draws on, where the house draws to match ("Drawing to match").
    """
    at = state.at_acting_seat(rows)
    playable = legality.drawn_card_playable(state, rows, at, drawn)
    if state.rules.draw_to_match:
        playable = _draw_on(state, rows, at, drawn, playable)
    dealing.remember_lack(state, rows, at)
    fits = playable.nonzero()[0]
    rows = rows.take(fits)
    state.phase[rows] = _DRAWN
    state.drawn[rows] = drawn.take(fits)
    due.hop[rows] = _STAY


def _draw_on(
    state: State,
    rows: Rows,
    at: NDArray[np.intp],
    drawn: NDArray[np.uint8],
    playable: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Draw one card after the other until it can be played, or none is left.

    Args:
        state: the games.
        rows: (n,) which of them.
        at: (n,) the hands, as `State.at_seat` counts them.
        drawn: (n,) the cards drawn last; written on.
        playable: (n,) whether they can be played.

    Returns:
        (n,) whether those drawn in the end can be.
    """
    playable = playable.copy()
    going = (~playable & (drawn != NO_CARD)).nonzero()[0]
    while going.size:
        some = rows.take(going)
        one = np.ones(going.size, np.uint8)
        drawn[going] = dealing.give(state, some, state.acting.take(some), one)
        cards = drawn.take(going)
        fits = legality.drawn_card_playable(state, some, at.take(going), cards)
        playable[going] = fits
        going = going[~fits & (cards != NO_CARD)]
    return playable


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
