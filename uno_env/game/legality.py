"""What may be played: one small function per rule, and the mask.

Section names in docstrings are those of `uno_env/RULES.md`, the rulebook. Hands come as the set of
their faces, one word per game: the two words of a hand or-ed together.
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from uno_env.game.actions import NUM_ACTIONS, Action, bit_in_second_word
from uno_env.game.cards import (
    ALL_WILDS,
    CARD_KIND,
    FACE_KIND,
    KIND_OF_TEXT,
    NO_CARD,
    NUM_CARDS,
    NUM_COLOURED_SYMBOLS,
    NUM_FACES,
    NUM_SYMBOLS,
    Colour,
    Symbol,
    face_of,
    put_sets,
    set_sizes,
    take_sets,
    word_of,
)
from uno_env.game.dealing import nothing_to_draw
from uno_env.game.rules import Rules, cached_by_rules
from uno_env.game.state import Phase, Rows, State

_T = TypeVar("_T", bound=np.generic)
Faces = NDArray[np.uint64]
"""Sets of faces, one word per game: (n,)."""

_COLOURED = range(NUM_COLOURED_SYMBOLS)

OF_COLOUR: Faces = np.array(
    [word_of(face_of(colour, symbol) for symbol in _COLOURED) for colour in Colour]
)
"""The coloured faces of each colour, by colour."""

_OF_SYMBOL: Faces = np.array(
    [
        word_of(face_of(colour, symbol) for colour in Colour)
        if symbol in _COLOURED
        else np.uint64(0)
        for symbol in range(NUM_SYMBOLS)
    ]
)
"""The faces of each coloured symbol, by symbol; nothing for a wild, which has none to match."""

MATCHES: Faces = np.array(
    [OF_COLOUR[face // NUM_SYMBOLS] | _OF_SYMBOL[face % NUM_SYMBOLS] for face in range(NUM_FACES)]
)
"""The faces that match each top face, by top face."""

ACTIVE_COLOUR: Faces = OF_COLOUR[np.arange(NUM_FACES) // NUM_SYMBOLS]
"""The coloured faces of the active colour, by top face."""

WILD_DRAW_FOURS = word_of(face_of(colour, Symbol.WILD_DRAW_FOUR) for colour in Colour)
_ALL = np.uint64(2**64 - 1)
_ONE_COLOUR, _TWO_COLOURS = np.uint64(NUM_SYMBOLS), np.uint64(2 * NUM_SYMBOLS)
FIRST_COLOUR = word_of(range(NUM_SYMBOLS))
EACH_COLOUR = word_of(face_of(colour, 0) for colour in Colour)
"""To multiply with: what stands in the first colour then stands in all four."""
_DRAWN, _CHALLENGE, _JUMP_IN, _STACK = (
    int(phase) for phase in (Phase.DRAWN, Phase.CHALLENGE, Phase.JUMP_IN, Phase.STACK)
)
_WILD_DRAW_FOUR_KIND = KIND_OF_TEXT["W+4"]
_WITHOUT_WILD_DRAW_FOUR = np.array([_ALL, _ALL ^ WILD_DRAW_FOURS])

_FACES_OF_CARD: Faces = np.array(
    [word_of(np.flatnonzero(CARD_KIND[card] == FACE_KIND)) for card in range(NUM_CARDS + 1)]
)
"""The faces that each card can lie as, by card; none for `NO_CARD`."""


PLAYABLE_AFTER = np.where(np.arange(NUM_CARDS + 1) == NO_CARD, _ALL, _FACES_OF_CARD)
"""Which faces the card just drawn leaves to be played ("A turn"): its own, or all without one."""


def matching_cards(hands: Faces, top: NDArray[np.uint8]) -> Faces:
    """Coloured cards of the active colour, or of the top card's number or symbol ("Words")."""
    return hands & MATCHES.take(top)


def wilds(hands: Faces) -> Faces:
    """Wilds held, each under all four colours ("A turn": any colour may be named)."""
    held = hands & ALL_WILDS
    # Fold the four colours onto the first, then copy that to all four.
    held |= held >> _TWO_COLOURS
    held |= held >> _ONE_COLOUR
    held &= FIRST_COLOUR
    held *= EACH_COLOUR
    return held


def wild_draw_four_barred(
    rules: Rules, hands: Faces, top: NDArray[np.uint8], matching: Faces
) -> NDArray[np.bool_]:
    """Whether a card in hand forbids the Wild Draw 4 ("A turn", "Presets and switches").

    `no_matching_colour` looks at cards of the active colour alone, `no_matching_card` at colour,
    number and symbol; wilds never forbid it. Under `bluff` nothing does.
    """
    if rules.wild_draw_four == "no_matching_colour":
        return holds_active_colour(hands, top)
    if rules.wild_draw_four == "no_matching_card":
        return matching != 0
    return np.zeros(hands.shape, np.bool_)


def playable(rules: Rules, hands: Faces, top: NDArray[np.uint8], matching: Faces) -> Faces:
    """The faces that may be played from these hands on these top cards: (n,) uint64.

    Args:
        rules: the rules.
        hands: (n,) faces held.
        top: (n,) top faces.
        matching: what `matching_cards` finds among them.
    """
    free = wilds(hands)
    barred = wild_draw_four_barred(rules, hands, top, matching)
    free &= _WITHOUT_WILD_DRAW_FOUR.take(barred.view(np.uint8))
    return matching | free


@cache
def _answering_faces() -> Faces:
    """What answers each top face in a stack, by top face: the same kind ("Stacking")."""
    table = np.zeros(NUM_FACES, np.uint64)
    for face in range(NUM_FACES):
        symbol = face % NUM_SYMBOLS
        if symbol == Symbol.DRAW_TWO:
            table[face] = _OF_SYMBOL[symbol]
        elif symbol == Symbol.WILD_DRAW_FOUR:
            table[face] = WILD_DRAW_FOURS
    return table


def answers_to(top: NDArray[np.uint8], hands: Faces) -> Faces:
    """The faces with which these hands may answer a draw card on top ("Stacking").

    A Draw Two answers a Draw Two, a Wild Draw 4 a Wild Draw 4; what else is in hand does not count.
    """
    return (hands | wilds(hands)) & _answering_faces().take(top)


def played_out_of_turn(
    rules: Rules, phase: NDArray[np.uint8], top: NDArray[np.uint8], hands: Faces
) -> Faces:
    """The faces that may be played where somebody is asked ("House rules"): (n,) uint64.

    Args:
        rules: the rules.
        phase: (n,) none of them TURN or DRAWN.
        top: (n,) top faces.
        hands: (n,) faces held by those asked.
    """
    plays = np.zeros(hands.shape, np.uint64)
    if rules.stacking:
        stacked = ((phase == _STACK) | (phase == _CHALLENGE)).nonzero()[0]
        plays[stacked] = answers_to(top.take(stacked), hands.take(stacked))
    if rules.jump_in:
        jumps = (phase == _JUMP_IN).nonzero()[0]
        plays[jumps] = hands.take(jumps) & (np.uint64(1) << top.take(jumps).astype(np.uint64))
    return plays


def drawn_card_playable(
    state: State, rows: Rows, at: NDArray[np.intp], cards: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Whether the card just drawn may be played now ("A turn": the same legality).

    Args:
        state: the games.
        rows: which of them.
        at: (n,) the hands of those who have drawn, as `State.at_seat` counts them.
        cards: (n,) the cards; none where it is `NO_CARD`.
    """
    top = state.top.take(rows)
    fits = (_FACES_OF_CARD.take(cards) & (MATCHES.take(top) | ALL_WILDS)) != 0
    # Of a Wild Draw 4 alone the other cards in hand decide.
    fours = (CARD_KIND.take(cards) == _WILD_DRAW_FOUR_KIND).nonzero()[0]
    if fours.size:
        hands = take_sets(state.flat_hands, at.take(fours))
        faces, top = hands[:, 0] | hands[:, 1], top.take(fours)
        fits[fours] = ~wild_draw_four_barred(state.rules, faces, top, matching_cards(faces, top))
    return fits


def holds_active_colour(hands: Faces, top: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether hands hold a card of the active colour ("Bluffing": guilty)."""
    return (hands & ACTIVE_COLOUR.take(top)) != 0


def no_draw(state: State, rows: Rows | None, matching: Faces) -> list[NDArray[np.intp]]:
    """Where no card may be drawn ("A turn"): there is none, or one held matches.

    Args:
        state: the games.
        rows: which of them; all if None. The indices returned count within them.
        matching: (n,) what `matching_cards` finds in the hands of those to act.

    Returns:
        Indices for each of the reasons.
    """
    barred = [nothing_to_draw(state, rows)]
    if state.rules.voluntary_draw == "without_match":
        barred.append((matching != 0).nonzero()[0])
    return barred


def may_say_uno(
    sizes: NDArray[np.uint8], plays: Faces, said: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Whether UNO may be said: holding two cards, one of them playable, not yet said ("UNO")."""
    return (sizes == 2) & (plays != 0) & ~said


def forgot_uno(
    state: State, is_play: NDArray[np.bool_], left: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Where a play went down to one card (n,) without the call that it needs ("UNO")."""
    if state.rules.uno_call == "automatic":
        return np.zeros(is_play.shape, np.bool_)
    return is_play & (left == 1) & ~state.said


@cached_by_rules
def phase_actions(rules: Rules) -> NDArray[np.uint64]:
    """The actions, but for plays and UNO, that each phase offers if nothing else forbids them."""
    offered: dict[Phase, list[int]] = {
        Phase.TURN: [Action.DRAW],
        Phase.DRAWN: [Action.KEEP] if rules.drawn_card == "optional" else [],
        Phase.CATCH: [Action.CATCH, Action.LET_GO],
        Phase.CHALLENGE: [Action.CHALLENGE, Action.ACCEPT],
        Phase.COLOUR: [Action.COLOUR + colour for colour in Colour],
        Phase.SWAP: [Action.SWAP + places for places in range(rules.num_players - 1)],
        Phase.JUMP_IN: [Action.LET_GO],
        Phase.STACK: [Action.ACCEPT],
    }
    return np.array(
        [sum(map(bit_in_second_word, offered.get(phase, []))) for phase in Phase], np.uint64
    )


DRAW_BIT = np.uint64(bit_in_second_word(Action.DRAW))
UNO_BIT = np.uint64(bit_in_second_word(Action.UNO))


def _of(array: NDArray[_T], rows: Rows | None) -> NDArray[_T]:
    """The elements for some games, or for all as they are."""
    return array if rows is None else array.take(rows)


def refresh(state: State, rows: Rows | None) -> NDArray[np.bool_]:
    """Write what is legal into `state.legal`; returns where nothing is: (n,) bool.

    Args:
        state: the games.
        rows: which of them; all if None.
    """
    rules = state.rules
    top, phase = _of(state.top, rows), _of(state.phase, rows)
    hand = take_sets(state.flat_hands, state.at_acting_seat(rows))
    faces = hand[:, 0] | hand[:, 1]
    matching = matching_cards(faces, top)

    plays = playable(rules, faces, top, matching)
    plays &= PLAYABLE_AFTER.take(_of(state.drawn, rows))
    asked = (phase > _DRAWN).nonzero()[0]
    plays[asked] = 0
    if asked.size and rules.house_rules:
        plays[asked] = played_out_of_turn(
            rules, phase.take(asked), top.take(asked), faces.take(asked)
        )

    others = phase_actions(rules).take(phase)
    for barred in no_draw(state, rows, matching):
        others[barred] &= ~DRAW_BIT
    if rules.uno_call == "explicit":
        may = may_say_uno(set_sizes(hand), plays, _of(state.said, rows))
        others[may.nonzero()[0]] |= UNO_BIT
    legal = np.empty((len(plays), 2), np.uint64)
    legal[:, 0] = plays
    legal[:, 1] = others
    if rows is None:
        state.legal = legal
    else:
        put_sets(state.legal, rows, legal)
    nothing: NDArray[np.bool_] = (plays | others) == 0
    return nothing


def unpack(legal: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Legal actions as a mask: (n, 2) uint64 -> (n, A) bool."""
    octets = legal.astype("<u8", copy=False).view(np.uint8)
    bits = np.unpackbits(octets.ravel(), bitorder="little").view(np.bool_)
    return bits.reshape(len(legal), 2 * NUM_FACES)[:, :NUM_ACTIONS]


def is_legal(legal: NDArray[np.uint64], actions: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Whether each action (n,), in range, is in its row of legal actions (n, 2)."""
    words = legal[np.arange(len(actions)), (actions >= NUM_FACES).astype(np.intp)]
    return (words >> (actions % NUM_FACES).astype(np.uint64) & np.uint64(1)).astype(np.bool_)
