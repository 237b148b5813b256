"""Dealing what a seat cannot see: unseen cards to the other hands and the draw pile, at random.

A *slot* is a place for one loose card, one whose whereabouts are unknown: first those of each
opponent's hand, by place, then those of the draw pile. A slot may be barred to some colours. All
tables are filled together: first the slots that are barred to most, each time with the first cards
of a shuffled deck that fit, last those that take any card.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from uno_env.game.cards import (
    CARD_BITS,
    CARD_COLOUR,
    CARD_KIND,
    FACE_KIND,
    KIND_OF_TEXT,
    NO_CARD,
    NUM_CARDS,
    NUM_COLOURED_SYMBOLS,
    NUM_COLOURS,
    NUM_SYMBOLS,
    WILD_KINDS,
    Words,
)
from uno_env.game.state import LACK_CAP

_COLOURS_AND_WILDS = NUM_COLOURS + 1
_PLAYABLE = 1 << _COLOURS_AND_WILDS
"""A bit beside those of colours and wilds that slots are barred to: barred to the unplayable."""
_BARS = sorted(range(1, 2 * _PLAYABLE), key=lambda bars: (bars & _PLAYABLE, bars.bit_count()))[::-1]
"""What slots may be barred to, most first."""
_WILD_DRAW_FOUR = KIND_OF_TEXT["W+4"]
_CARD = np.uint32(127)
"""The low bits of a sort key, which say the card."""
_BAR_OF_CARD: NDArray[np.uint8] = np.left_shift(1, CARD_COLOUR).astype(np.uint8)
_BAR_OF_CARD[NO_CARD] = 255
"""The bit of each card's colour, or of wilds, by card; all for `NO_CARD`: (113,)."""


class Need(IntEnum):
    """What an opponent holds for sure."""

    PLAY = 0
    """A card that may be played on one's turn."""
    LIKE = 1
    """The like of the top card, to jump in with."""
    ANSWER = 2
    """An answer to the draw card on top."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """What one seat of each of B games knows of hidden cards; P - 1 opponents, by place."""

    known: NDArray[np.bool_]
    """(B, 112) cards that King Pigs were seen to deal to others."""
    loose: NDArray[np.bool_]
    """(B, 112) all other cards that are not seen."""
    sizes: NDArray[np.intp]
    """(B, P - 1) cards in each opponent's hand."""
    pile: NDArray[np.intp]
    """(B,) cards in the draw pile."""
    known_colours: NDArray[np.intp]
    """(B, P - 1, 5) how many of each colour's known cards, and of the wilds, each has."""
    lack: NDArray[np.uint8]
    """(B, P - 1, 4) `LACK_CAP` less the cards each got since it drew on a colour; 0 for never."""
    playable: NDArray[np.intp]
    """(B,) the place of an opponent who holds a card that may be played; 0 for none."""
    needs: NDArray[np.intp]
    """(B,) what kind of card that is, as `Need`."""
    has_drawn: NDArray[np.bool_]
    """(B,) whether that is a loose card for sure, the one just drawn."""
    top: NDArray[np.intp]
    """(B,) the top faces."""
    bluff: bool
    """Whether a Wild Draw 4 may always be played."""
    no_wilds: bool
    """Whether who drew on a colour is taken to have had no wild either."""

    def loose_sizes(self) -> NDArray[np.intp]:
        """(B, P - 1) loose cards in each hand."""
        return self.sizes - self.known_colours.sum(axis=2)


@dataclass(frozen=True, slots=True)
class Dealt:
    """What was dealt in N = B k tables."""

    hands: Words
    """(N, P - 1, 2) the hands by place, known cards and loose ones."""
    known: Words
    """(N, P - 1, 2) the known cards of each."""
    pile: NDArray[np.uint8]
    """The draw piles one after the other, next card first."""
    playable: NDArray[np.uint8]
    """(N,) the card of `Hidden.playable`, or `NO_CARD`."""


def deal_hidden(hidden: Hidden, k: int, rng: np.random.Generator, trust: float) -> Dealt:
    """Fill in what is hidden, k times for each of B games.

    Args:
        hidden: what is known.
        k: tables for each game.
        rng: the source of chance.
        trust: in what share of the tables lacks count (`uno_env.determinize.sample_tables`).

    Raises:
        ValueError: known cards do not add up.
    """
    known = _deal_known(hidden, k, rng)
    loose_sizes = hidden.loose_sizes()
    if (loose_sizes < 0).any():
        row = int((loose_sizes < 0).any(axis=1).argmax())
        raise ValueError(f"row {row} is no observation: more cards are known than hands hold")

    of_table = np.repeat(np.arange(len(hidden.pile)), k)
    deck = _shuffled(hidden.loose, k, rng)
    bars = _bars(hidden, loose_sizes)
    believed = np.ones(len(of_table), np.bool_) if trust == 1 else rng.random(len(of_table)) < trust
    filled = _fill(hidden, deck, bars, of_table, (believed, _forced(hidden, known, of_table)), rng)

    stops = loose_sizes.cumsum(axis=1)
    width = int(stops[:, -1].max(initial=0))
    # A hand is what has come in up to its last slot, without what had come before its first.
    sets = np.zeros((len(filled), width + 1, 2), np.uint64)
    np.bitwise_xor.accumulate(CARD_BITS[filled[:, :width]], axis=1, out=sets[:, 1:])
    every = np.arange(len(filled))[:, None]
    hands = sets[every, stops[of_table]] ^ sets[every, (stops - loose_sizes)[of_table]]
    hands |= known

    slots = np.arange(deck.shape[1])
    first = stops[:, -1:]
    in_pile = (slots >= first) & (slots < first + hidden.pile[:, None])
    at = np.maximum(hidden.playable - 1, 0)
    own_slot = (stops - loose_sizes)[np.arange(len(at)), at]
    playable = filled[every[:, 0], own_slot[of_table]]
    playable[hidden.playable[of_table] == 0] = NO_CARD
    return Dealt(hands, known, filled[in_pile[of_table]], playable)


def _shuffled(present: NDArray[np.bool_], k: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """The cards present (B, 112) in random order, k times, `NO_CARD` after their end: (B k, L)."""
    number = len(present)
    keys = _random_keys((number, k, NUM_CARDS), rng)
    keys |= np.arange(NUM_CARDS, dtype=np.uint32)
    absent = np.uint32(2**31) * ~present
    keys |= absent[:, None]
    keys.sort(axis=2)
    counts = present.sum(axis=1)
    longest = max(int(counts.max()), 1)
    cards = (keys[:, :, :longest] & _CARD).astype(np.uint8)
    cards[np.broadcast_to(np.arange(longest) >= counts[:, None, None], cards.shape)] = NO_CARD
    return cards.reshape(number * k, longest)


def _random_keys(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.uint32]:
    """Numbers to sort by, whose highest bit and those of `_CARD` are free."""
    keys = rng.integers(2**31, size=shape, dtype=np.uint32)
    keys &= ~_CARD
    return keys


def _deal_known(hidden: Hidden, k: int, rng: np.random.Generator) -> Words:
    """Known cards to the opponents who have them, by colour: (B k, P - 1, 2)."""
    number, opponents = hidden.sizes.shape
    known = np.zeros((number, k, opponents, 2), np.uint64)
    some = np.flatnonzero(hidden.known.any(axis=1) | hidden.known_colours.any(axis=(1, 2)))
    if some.size:
        by_colour = hidden.known_colours[some].transpose(0, 2, 1)
        held = np.stack(
            [hidden.known[some][:, CARD_COLOUR[:-1] == c].sum(axis=1) for c in range(5)], axis=1
        )
        wrong = (held != by_colour.sum(axis=2)).any(axis=1)
        if wrong.any():
            row = int(some[wrong.argmax()])
            raise ValueError(
                f"row {row} is no observation: `known` and `known_colours` do not agree"
            )
        deck = _shuffled(hidden.known[some], k, rng)
        # In random order within each colour, colour by colour; so stand the opponents who get them.
        deck = np.take_along_axis(deck, CARD_COLOUR[deck].argsort(axis=1, kind="stable"), axis=1)
        deck = deck.reshape(len(some), k, -1)
        owners = np.full((len(some), deck.shape[2]), -1)
        counts = held.sum(axis=1)
        places = np.tile(np.arange(opponents), len(some) * _COLOURS_AND_WILDS)
        owners[np.arange(owners.shape[1]) < counts[:, None]] = places.repeat(by_colour.ravel())
        bits = CARD_BITS[deck]
        for place in range(opponents):
            theirs = (owners == place)[:, None, :, None]
            known[some, :, place] = np.bitwise_or.reduce(np.where(theirs, bits, 0), axis=2)
    return known.reshape(number * k, opponents, 2)


def _bars(hidden: Hidden, loose_sizes: NDArray[np.intp]) -> NDArray[np.uint8]:
    """What each slot of the hands is barred to, as bits: (B, width).

    The first slots of a hand are its newest cards. Who drew on a colour had none of it then, so
    all slots but for as many as it has got cards since are barred to that colour.
    """
    shown = hidden.lack.astype(np.intp)
    if hidden.no_wilds:
        shown = np.concatenate([shown, shown.max(axis=2, keepdims=True)], axis=2)
    width = int(loose_sizes.sum(axis=1).max(initial=0))
    bars = np.zeros((len(loose_sizes), width), np.uint8)
    stops = loose_sizes.cumsum(axis=1)
    slots = np.arange(width)
    for place in range(loose_sizes.shape[1]):
        age = slots - (stops[:, place] - loose_sizes[:, place])[:, None]
        theirs = (age >= 0) & (slots < stops[:, place, None])
        for colour in range(shown.shape[2]):
            drew = shown[:, place, colour, None]
            barred = theirs & (drew > 0) & (age >= LACK_CAP - drew)
            bars |= barred.view(np.uint8) << np.uint8(colour)
        first = theirs & (age == 0) & (hidden.playable == place + 1)[:, None]
        bars[first] = _PLAYABLE
    return bars


def _forced(hidden: Hidden, known: Words, of_table: NDArray[np.intp]) -> NDArray[np.bool_]:
    """In which tables a playable card has to be among the loose ones: (N,).

    Not where one of the known cards (N, P - 1, 2) may be played, if no card was just drawn.
    """
    forced = hidden.playable[of_table] > 0
    some = np.flatnonzero(forced & ~hidden.has_drawn[of_table])
    hands = known[some, hidden.playable[of_table[some]] - 1]
    some, hands = some[hands.any(axis=1)], hands[hands.any(axis=1)]
    cards = np.where(
        (hands[:, None] & CARD_BITS[:NUM_CARDS]).any(axis=2), np.arange(NUM_CARDS), NO_CARD
    )
    fits = _playable(hidden, cards, of_table[some])
    if not hidden.bluff:  # loose cards may bar it, but as an answer
        barred = hidden.needs[of_table[some]] == Need.PLAY
        fits &= (CARD_KIND[cards] != _WILD_DRAW_FOUR) | ~barred[:, None]
    forced[some[fits.any(axis=1)]] = False
    return forced


def _fill(
    hidden: Hidden,
    deck: NDArray[np.uint8],
    bars: NDArray[np.uint8],
    of_table: NDArray[np.intp],
    count: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """The card of each slot: (N, L).

    Args:
        hidden: what is known.
        deck: (N, L) the loose cards of each table, shuffled; written on.
        bars: (B, width) what the slots are barred to, width at most L.
        of_table: (N,) which of the B games each table is of.
        count: (N,) in which tables lacks count, and (N,) in which a playable card is needed.
        rng: shuffles again.
    """
    lacks_count, forced = count
    cards = np.full_like(deck, NO_CARD)
    empty = np.ones(deck.shape, np.bool_)
    width = bars.shape[1]
    present = np.bincount(bars.ravel(), minlength=2 * _PLAYABLE)
    for bar in _BARS:
        if not present[bar]:
            continue
        in_row = bars == bar
        counts = forced if bar & _PLAYABLE else lacks_count
        rows = np.flatnonzero(in_row.any(axis=1)[of_table] & counts)
        slots = in_row[of_table[rows]]
        decks = deck[rows]
        if bar & _PLAYABLE:
            fits = _playable(hidden, decks, of_table[rows])
        else:
            fits = _BAR_OF_CARD[decks] & bar == 0
        fits &= fits.cumsum(axis=1) <= slots.sum(axis=1)[:, None]
        slots &= slots.cumsum(axis=1) <= fits.sum(axis=1)[:, None]
        filled = cards[rows, :width]
        filled[slots] = decks[fits]
        cards[rows, :width] = filled
        empty[rows, :width] &= ~slots
        # Cards that did not fit are now more likely to lie on top than others.
        decks[fits] = NO_CARD
        deck[rows] = _shuffled_again(decks, rng)
    left = np.arange(deck.shape[1]) < empty.sum(axis=1)[:, None]
    cards[empty] = deck[left]
    return cards


def _shuffled_again(deck: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Cards (n, L) in another random order, what is `NO_CARD` last."""
    keys = _random_keys(deck.shape, rng)
    keys |= deck
    keys |= np.uint32(2**31) * (deck == NO_CARD)
    keys.sort(axis=1)
    return (keys & _CARD).astype(np.uint8)


def _playable(
    hidden: Hidden, cards: NDArray[np.uint8], of_table: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Which cards (N, L) are what is needed in the games (N,).

    A Wild Draw 4 that other cards in hand may bar counts only where no card else fits, for then
    nothing bars it.
    """
    top, needs = hidden.top[of_table], hidden.needs[of_table]
    kinds = CARD_KIND[cards]
    coloured = kinds < WILD_KINDS.start
    fits = coloured & (CARD_COLOUR[cards] == (top // NUM_SYMBOLS)[:, None])
    fits |= coloured & (kinds % NUM_COLOURED_SYMBOLS == (top % NUM_SYMBOLS)[:, None])
    fits |= ~coloured & (cards != NO_CARD)
    if not hidden.bluff:
        four = kinds == _WILD_DRAW_FOUR
        fits &= ~four | ~(fits & ~four).any(axis=1, keepdims=True)
    if needs.any():
        like = FACE_KIND[top]
        is_like = kinds == like[:, None]
        symbol = np.where(like < WILD_KINDS.start, like % NUM_COLOURED_SYMBOLS, -1)
        answers = is_like | (coloured & (kinds % NUM_COLOURED_SYMBOLS == symbol[:, None]))
        fits = np.where((needs == Need.LIKE)[:, None], is_like, fits)
        fits = np.where((needs == Need.ANSWER)[:, None], answers, fits)
    return fits
