"""A position to and from the arrays of a game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from uno_env.game.cards import (
    CARD_BITS,
    CARD_KIND,
    CARDS,
    COPIES,
    FACE_KIND,
    KIND_OF_TEXT,
    NO_CARD,
    NO_COLOUR,
    NUM_CARDS,
    NUM_COLOURED_SYMBOLS,
    NUM_SYMBOLS,
    WILD_KINDS,
    Colour,
    Words,
    kind_of_face,
    word_of,
)
from uno_env.game.state import NO_SEAT, Phase, State

if TYPE_CHECKING:
    from uno_env.game.position import Position

PHASES = {
    phase.name.lower(): phase
    for phase in (
        Phase.TURN,
        Phase.DRAWN,
        Phase.CATCH,
        Phase.CHALLENGE,
        Phase.COLOUR,
        Phase.SWAP,
        Phase.JUMP_IN,
        Phase.STACK,
        Phase.OVER,
    )
}
"""The phases that a position may have, by name."""
_PHASE_NAMES = {phase: name for name, phase in PHASES.items()}
COLOUR_NAMES = [colour.name for colour in Colour]


def read(state: State, game: int) -> dict[str, Any]:
    """Game `game` of the batch as the fields of a `Position`."""
    players = state.rules.num_players
    phase = Phase(state.phase[game])
    turn = int(state.turn[game])
    top = int(state.top[game])
    top_card = CARDS[kind_of_face(top)]
    buried = list(_cards_of_set(state.discard[game]))
    buried.remove(top_card)
    drawn = int(state.drawn[game])
    before = int(state.colour_before[game])
    winner = int(state.winner[game])
    pile = state.pile[game, state.pile_at[game] :]
    return {
        "rules": state.rules,
        "hands": tuple(_cards_of_set(hand) for hand in state.hands[game]),
        "discard": (*buried, top_card),
        "draw": tuple(CARDS[kind] for kind in CARD_KIND[pile]),
        "colour": None if phase == Phase.COLOUR else Colour(top // NUM_SYMBOLS).name,
        "turn": int(state.acting[game]),
        "on_turn": turn % players,
        "direction": 1 if turn < players else -1,
        "dealer": int(state.dealer[game]),
        "scores": tuple(map(int, state.scores[game])),
        "phase": _PHASE_NAMES[phase],
        "drawn": CARDS[CARD_KIND[drawn]] if phase == Phase.DRAWN else None,
        "said": bool(state.said[game]),
        "guilty": bool(state.guilty[game]),
        "stack": int(state.stack[game]),
        "colour_before": None if before == NO_COLOUR else Colour(before).name,
        "winner": None if winner == NO_SEAT else winner,
        "points": tuple(map(int, state.points[game])),
        "known": tuple(_cards_of_set(hand) for hand in state.known[game]),
        "lack": tuple(tuple(map(int, row)) for row in state.lack[game]),
    }


def _cards_of_set(held: Words) -> tuple[str, ...]:
    in_set = (CARD_BITS[:NUM_CARDS] & held).any(axis=1)
    return tuple(CARDS[kind] for kind in CARD_KIND[:NUM_CARDS][in_set])


def write(state: State, game: int, position: Position) -> None:
    """Put a position in the place of game `game`; an opening card lies on the draw pile."""
    supply = _Supply()
    size = state.rules.deck_size
    hands = [supply.take(hand) for hand in position.hands]
    for seat, cards in enumerate(hands):
        state.hands[game, seat] = _set_of(cards)
        known = Counter(position.known[seat])
        of_kind = [card for card in cards if _spend(known, CARDS[CARD_KIND[card]])]
        state.known[game, seat] = _set_of(of_kind)
    state.lack[game] = position.lack
    state.discard[game] = _set_of(supply.take(position.discard))
    opening = () if position.opening is None else (position.opening,)
    pile = supply.take((*opening, *position.draw))
    state.pile[game] = NO_CARD
    state.pile_at[game] = size - len(pile)
    state.pile[game, size - len(pile) :] = pile
    colour = 0 if position.colour is None else COLOUR_NAMES.index(position.colour)
    if position.discard:
        state.top[game] = face_on_table(position.top, colour)
    backwards = position.direction == -1
    state.turn[game] = position.on_turn + state.rules.num_players * backwards
    state.acting[game] = position.turn
    state.phase[game] = PHASES[position.phase]
    state.drawn[game] = NO_CARD
    if position.drawn is not None:
        kind = KIND_OF_TEXT[position.drawn]
        state.drawn[game] = np.flatnonzero(kind == CARD_KIND)[0]
    state.said[game] = position.said
    state.guilty[game] = position.guilty
    before = position.colour_before
    state.colour_before[game] = NO_COLOUR if before is None else COLOUR_NAMES.index(before)
    state.stack[game] = position.stack
    state.dealer[game] = position.dealer
    state.winner[game] = NO_SEAT if position.winner is None else position.winner
    state.points[game] = position.points
    state.scores[game] = position.scores


class _Supply:
    """Hands out the cards of a deck, copy by copy."""

    def __init__(self) -> None:
        self._next_copy: Counter[int] = Counter()
        self._first = np.concatenate([[0], np.cumsum(COPIES)])

    def take(self, cards: Iterable[str]) -> list[int]:
        taken = []
        for text in cards:
            kind = KIND_OF_TEXT[text]
            taken.append(int(self._first[kind]) + self._next_copy[kind])
            self._next_copy[kind] += 1
        return taken


def _set_of(cards: list[int]) -> Words:
    return np.bitwise_or.reduce(CARD_BITS[cards], axis=0, initial=0)


def _spend(supply: Counter[str], text: str) -> bool:
    if supply[text] == 0:
        return False
    supply[text] -= 1
    return True


def faces_of(cards: Iterable[str]) -> np.uint64:
    """The set of faces that cards can lie as, as `legality` takes hands."""
    kinds = [KIND_OF_TEXT[card] for card in cards]
    return word_of(np.flatnonzero(np.isin(FACE_KIND, kinds)))


def face_on_table(card: str, colour: int) -> int:
    """The face of a card on top; a wild lies under its named colour."""
    kind = KIND_OF_TEXT[card]
    if kind in WILD_KINDS:
        return NUM_SYMBOLS * colour + NUM_COLOURED_SYMBOLS + kind - WILD_KINDS.start
    return NUM_SYMBOLS * colour + kind % NUM_COLOURED_SYMBOLS
