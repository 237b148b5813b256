"""One step of all games: the order of play, and nothing else.

The rulebook's order holds within a step: card and colour, catch, challenge, draws, next turn. What
most games do at a step is done for all of them at once, by looking their actions up in tables; what
few games do is done for those alone, the `rows`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uno_env.game import dealing, effects, legality, scoring
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.cards import (
    FACE_BITS,
    NO_CARD,
    NUM_COLOURS,
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
from uno_env.game.state import Hop, Phase, Rows, State, wheel

WAIT = NUM_ACTIONS
"""In tables by action: what a game does whose round is over."""

_PLAYED_BITS: Words = np.zeros((NUM_ACTIONS + 1, 2), np.uint64)
_PLAYED_BITS[:NUM_FACES] = FACE_BITS
"""All copies of the card that an action plays; nothing for other actions."""

_HOP = np.full(NUM_ACTIONS + 1, Hop.STAY, np.uint8)
_HOP[:NUM_FACES] = HOP_AFTER[np.arange(NUM_FACES) % NUM_SYMBOLS]
_HOP[[Action.DRAW, Action.KEEP]] = Hop.NEXT
"""How the turn moves on after an action, if nothing comes between."""

_CARDS = np.zeros(NUM_ACTIONS + 1, np.intp)
_CARDS[:NUM_FACES] = DRAWN_FOR[np.arange(NUM_FACES) % NUM_SYMBOLS]
_CARDS[Action.DRAW] = 1
"""How many cards an action makes its player or the next one draw, if nothing comes between."""

# Looking a member of an enumeration up takes longer than adding two short vectors.
_OVER, _TURN, _STAY, _NEXT = int(Phase.OVER), int(Phase.TURN), int(Hop.STAY), int(Hop.NEXT)
_DRAW, _UNO, _CATCH, _LET_GO = (
    int(action) for action in (Action.DRAW, Action.UNO, Action.CATCH, Action.LET_GO)
)
_KING_PIG, _WILD_DRAW_FOUR = int(Symbol.KING_PIG), int(Symbol.WILD_DRAW_FOUR)


def play(state: State, actions: NDArray[np.integer]) -> None:
    """Play one action (n,) in each game, then whatever follows by itself.

    The actions are trusted to be legal; those of games that are over are not looked at.
    """
    waiting = state.phase == _OVER
    if waiting.any():
        actions = np.where(waiting, WAIT, actions)
    is_play = actions < NUM_FACES
    state.said |= actions == _UNO
    sizes = _lay_cards(state, actions, is_play)
    hop = _HOP.take(actions)
    cards = _CARDS.take(actions)

    out = ((sizes == 0) & is_play).nonzero()[0]
    pigs = is_play & (state.top % NUM_SYMBOLS == _KING_PIG)
    if state.rules.uno_call == "explicit":
        unsaid = ((sizes == 1) & is_play & ~state.said).nonzero()[0]
        if unsaid.size:
            _punish_or_ask(state, unsaid, hop, cards, pigs)
    if (answering := (actions > _UNO) & (actions < WAIT)).any():
        _answer(state, answering.nonzero()[0], actions, hop, cards, pigs)
    if state.rules.wild_draw_four == "bluff":
        _ask_victims(state, is_play & (sizes > 0), hop, cards)
    if out.size:
        hop[out] = _STAY
        if not state.rules.last_card_draws:
            cards[out] = 0
            pigs[out] = False

    _draw_cards(state, actions, cards, hop)
    if pigs.any():
        for last_card in (False, True):
            rows = (pigs & ((sizes == 0) == last_card)).nonzero()[0]
            if rows.size:
                effects.king_pig(state, rows, last_card=last_card)
    if out.size:
        scoring.end_round(state, out, state.seats_on_turn(out))
    _move_on(state, hop)
    settle(state, None)


def _lay_cards(
    state: State, actions: NDArray[np.integer], is_play: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Cards leave the hands and lie on top; returns the sizes of the hands that are left."""
    bits = take_sets(_PLAYED_BITS, actions)
    at = state.at_seat(state.all_rows, state.acting)
    hand = take_sets(state.flat_hands, at)
    if state.rules.wild_draw_four == "bluff":
        bluff = is_play & (actions % NUM_SYMBOLS == _WILD_DRAW_FOUR)
        state.guilty |= bluff & legality.holds_active_colour(hand[:, 0] | hand[:, 1], state.top)
    card = one_of(hand & bits)
    hand ^= card
    put_sets(state.flat_hands, at, hand)
    if state.rules.deck == "angry_birds":
        known = take_sets(state.flat_known, at)
        if known.any():
            known ^= one_of(known & bits)
            put_sets(state.flat_known, at, known)
    state.discard |= card
    state.top[:] = np.where(is_play, actions, state.top)
    return set_sizes(hand)


def _punish_or_ask(
    state: State,
    rows: Rows,
    hop: NDArray[np.uint8],
    cards: NDArray[np.intp],
    pigs: NDArray[np.bool_],
) -> None:
    """Those who went down to one card unsaid draw the penalty, or their opponents are asked."""
    if state.rules.uno_enforcement == "automatic":
        effects.penalise(state, rows)
        return
    _ask_next(state, rows)
    state.drawn[rows] = NO_CARD
    hop[rows] = _STAY
    cards[rows] = 0
    pigs[rows] = False


def _ask_next(state: State, rows: Rows) -> None:
    """The next seat clockwise is asked whether it catches the player."""
    state.phase[rows] = Phase.CATCH
    state.acting[rows] = wheel(state.rules.num_players).seat.take(state.acting[rows] + 1)


def _answer(
    state: State,
    rows: Rows,
    actions: NDArray[np.integer],
    hop: NDArray[np.uint8],
    cards: NDArray[np.intp],
    pigs: NDArray[np.bool_],
) -> None:
    """Catches, challenges and the naming of an opening colour; then the waiting card's effect."""
    answers = actions[rows]
    for answer in np.bincount(answers).nonzero()[0].tolist():
        some = rows[answers == answer]
        if answer == _CATCH:
            effects.penalise(state, some)
        elif answer == _LET_GO:
            _ask_next(state, some)
            some = some[state.acting[some] == state.seats_on_turn(some)]
        elif answer == Action.CHALLENGE:
            hop[some] = effects.challenge(state, some)
            continue
        elif answer >= Action.COLOUR:
            effects.name_opening_colour(state, some, answer - Action.COLOUR)
            continue
        # The window has closed or the Wild Draw 4 was accepted: the top card takes effect.
        top = state.top[some]
        hop[some] = _HOP[top]
        cards[some] = _CARDS[top]
        pigs[some] = top % NUM_SYMBOLS == _KING_PIG
        if answer != Action.ACCEPT:
            _ask_victims(state, np.isin(state.all_rows, some), hop, cards)


def _ask_victims(
    state: State, closed: NDArray[np.bool_], hop: NDArray[np.uint8], cards: NDArray[np.intp]
) -> None:
    """Under `bluff`, the victim of a Wild Draw 4 is asked before it draws ("Bluffing")."""
    if state.rules.wild_draw_four != "bluff":
        return
    fours = state.top % NUM_SYMBOLS == _WILD_DRAW_FOUR
    rows = (fours & closed & (hop != _STAY)).nonzero()[0]
    if rows.size:
        state.phase[rows] = Phase.CHALLENGE
        state.acting[rows] = state.next_seats(rows)
        state.drawn[rows] = NO_CARD
        hop[rows] = _STAY
        cards[rows] = 0


def _draw_cards(
    state: State,
    actions: NDArray[np.integer],
    cards: NDArray[np.intp],
    hop: NDArray[np.uint8],
) -> None:
    """Draws of one's own accord, and those that a card makes the next seat draw."""
    rows = cards.nonzero()[0]
    if not rows.size:
        return
    voluntary = actions[rows] == _DRAW
    seats = np.where(voluntary, state.acting[rows], state.next_seats(rows))
    first = dealing.give(state, rows, seats, cards[rows])
    drawing = voluntary.nonzero()[0]
    if drawing.size:
        _go_on_after_draw(state, rows[drawing], first[drawing], hop)


def _go_on_after_draw(
    state: State, rows: Rows, drawn: NDArray[np.uint8], hop: NDArray[np.uint8]
) -> None:
    """A drawn card that can be played may be played; otherwise the turn passes by itself."""
    colours = state.top[rows] // NUM_SYMBOLS
    state.lack.ravel()[NUM_COLOURS * state.at_seat(rows, state.acting[rows]) + colours] = 0
    playable = legality.drawn_card_playable(state, rows, drawn).nonzero()[0]
    rows = rows[playable]
    state.phase[rows] = Phase.DRAWN
    state.drawn[rows] = drawn[playable]
    hop[rows] = _STAY


def _move_on(state: State, hop: NDArray[np.uint8]) -> None:
    """The turn moves on by each game's hop; where it does, the next player's turn begins."""
    table = wheel(state.rules.num_players)
    state.turn[:] = table.after.take(state.turn + table.width * hop)
    stays = hop == _STAY
    state.acting[:] = np.where(stays, state.acting, table.seat.take(state.turn))
    state.phase[:] = np.where(stays, state.phase, _TURN)
    state.drawn[:] = np.where(stays, state.drawn, NO_CARD)
    state.said &= stays
    state.guilty &= stays


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
