"""Shuffling, dealing, drawing, reshuffling, and choosing a dealer.

Every game has a random stream of its own: the SplitMix64 generator (Steele, Lea & Flood, "Fast
splittable pseudorandom number generators", OOPSLA 2014), started from a hash of the game's seed.
Its state is one number that grows by a constant with each word, so a game's course depends on its
seed and its actions alone, never on the batch around it.

A shuffle gives each card present, in deck order, the next 32-bit half of a word, low half first,
and sorts by the upper 25 bits. Copies of a kind stand side by side in deck order, so a shuffle
depends only on how many of each kind there are, never on which copy lies where.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uno_env.game.cards import (
    CARD_BITS,
    CARD_COLOUR,
    CARD_KIND,
    FACE_BITS,
    NO_CARD,
    NUM_CARDS,
    NUM_COLOURED_SYMBOLS,
    NUM_COLOURS,
    WILD_KINDS,
    Words,
    one_of,
    set_sizes,
)
from uno_env.game.rules import HAND_SIZE
from uno_env.game.state import LACK_CAP, Rows, State

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_CARD_IN_KEY = np.uint32(127)
"""The low bits of a sort key, which say the card."""

_IS_NUMBER = (WILD_KINDS.start > CARD_KIND) & (CARD_KIND % NUM_COLOURED_SYMBOLS < 10)
_DEALER_VALUE = np.where(_IS_NUMBER, CARD_KIND % NUM_COLOURED_SYMBOLS, 0).astype(np.int64)
"""What a card counts when drawing for the dealer: its number, a symbol zero."""
_NUMBER_CARDS = np.flatnonzero(_IS_NUMBER)


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's output function, in place."""
    words ^= words >> np.uint64(30)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


def seed_streams(state: State, rows: Rows, seeds: NDArray[np.uint64]) -> None:
    """Start the random streams of `rows` anew, one seed each."""
    state.stream[rows] = _mix(seeds.copy())


def _next_words(state: State, rows: Rows, counts: NDArray[np.intp] | int) -> NDArray[np.uint64]:
    """The next words of each stream: (n, largest count); each stream moves on by its own count."""
    before = state.stream[rows]
    state.stream[rows] = before + np.atleast_1d(counts).astype(np.uint64) * _GAMMA
    width = int(np.max(counts, initial=1))
    steps = np.arange(1, width + 1, dtype=np.uint64) * _GAMMA
    return _mix(before[:, None] + steps)


def choose_dealer(state: State, rows: Rows) -> None:
    """Every player draws one card, the highest number deals (rulebook, "Setting up").

    Those tied for the top draw again among themselves. Under `numbers_only` a symbol is put away
    and drawn again, which is to draw from the number cards alone.
    """
    players = state.rules.num_players
    numbers_only = state.rules.dealer_draw == "numbers_only"
    cards = _NUMBER_CARDS if numbers_only else np.arange(state.rules.deck_size)
    contending = np.ones((len(rows), players), np.bool_)
    pending = np.arange(len(rows))
    while pending.size:
        words = _next_words(state, rows[pending], players) >> np.uint64(32)
        card = cards[(words * np.uint64(len(cards)) >> np.uint64(32)).astype(np.intp)]
        still = contending[pending]
        # One deck: two players cannot hold the same card, so such an attempt does not count.
        alone = np.where(still, card, NUM_CARDS + np.arange(players))
        distinct = (np.diff(np.sort(alone, axis=1), axis=1) != 0).all(axis=1)
        value = np.where(still, _DEALER_VALUE[card], -1)
        highest = value == value.max(axis=1, keepdims=True)
        contending[pending[distinct]] = highest[distinct]
        pending = pending[contending[pending].sum(axis=1) > 1]
    state.dealer[rows] = contending.argmax(axis=1)


def _shuffle(state: State, rows: Rows, present: NDArray[np.bool_] | None = None) -> None:
    """Make a new draw pile of the cards present (n, D), or of the whole deck."""
    size = state.rules.deck_size
    if present is None:
        keys = _next_words(state, rows, -(-size // 2)).view(np.uint32)[:, :size]
        counts: NDArray[np.intp] | int = size
    else:
        counts = present.sum(axis=1)
        words = _next_words(state, rows, (counts + 1) // 2)
        order = np.maximum(present.cumsum(axis=1) - 1, 0)
        keys = np.take_along_axis(words.view(np.uint32), order, axis=1)
    keys = keys & ~_CARD_IN_KEY
    keys |= np.arange(size, dtype=np.uint32)
    if present is not None:
        keys *= present  # absent cards come first, before `pile_at`
    keys.sort(axis=1)
    state.pile[rows] = keys & _CARD_IN_KEY
    state.pile_at[rows] = size - counts


def _reshuffle_discards(state: State, rows: Rows) -> None:
    """All discards but the top one become the draw pile (rulebook, "A turn": draw pile empty)."""
    discard = state.discard[rows]
    top = one_of(discard & FACE_BITS[state.top[rows]])
    buried = discard ^ top
    state.discard[rows] = top
    deck = CARD_BITS[: state.rules.deck_size]
    _shuffle(state, rows, np.any(buried[:, None, :] & deck, axis=2))


def cards_left(state: State, rows: Rows) -> NDArray[np.intp]:
    """Cards in the draw pile."""
    return state.rules.deck_size - state.pile_at[rows].astype(np.intp)


def can_draw(state: State, rows: Rows) -> NDArray[np.bool_]:
    """Whether at least one card can be had, from the pile or the buried discards."""
    has_pile = state.pile_at[rows] < state.rules.deck_size
    if has_pile.all():
        return has_pile
    empty = np.flatnonzero(~has_pile)
    has_pile[empty] = set_sizes(state.discard[rows[empty]]) > 1
    return has_pile


def _deal(state: State, rows: Rows, seats: NDArray[np.intp], counts: NDArray[np.intp]) -> Words:
    """Deal `counts` cards from the pile, one by one, round and round to `seats` (n, k).

    The pile must hold them. Every card a seat is given goes through here. Returns what each of the
    seats got: (n, k, 2).
    """
    num_seats = seats.shape[1]
    laps = -(-int(counts.max(initial=1)) // num_seats)
    places = np.arange(laps * num_seats)
    at = state.pile_at[rows].astype(np.intp)
    last = state.rules.deck_size - 1
    cards = state.pile[rows[:, None], np.minimum(at[:, None] + places, last)]
    cards[places >= counts[:, None]] = NO_CARD
    dealt = CARD_BITS[cards].reshape(len(rows), laps, num_seats, 2)
    got: Words = np.bitwise_or.reduce(dealt, axis=1)
    state.pile_at[rows] = at + counts

    where = state.at_seat(rows[:, None], seats)
    state.hands.reshape(-1, 2)[where] |= got
    lack = state.lack.reshape(-1, NUM_COLOURS)
    more = lack[where] + set_sizes(got)[..., None]
    lack[where] = np.minimum(more, LACK_CAP)
    return got


def give(state: State, rows: Rows, seats: NDArray[np.intp], counts: NDArray[np.intp] | int) -> None:
    """Each seat (n,) takes `counts` cards, or what there is.

    When the pile runs out, the discards are reshuffled and the rest is taken from them.
    """
    wanted = np.broadcast_to(np.asarray(counts, dtype=np.intp), rows.shape)
    left = cards_left(state, rows)
    _deal(state, rows, seats[:, None], np.minimum(wanted, left))
    short = np.flatnonzero(wanted > left)
    if short.size:
        rest = wanted[short] - left[short]
        _reshuffle_discards(state, rows[short])
        rest = np.minimum(rest, cards_left(state, rows[short]))
        _deal(state, rows[short], seats[short, None], rest)


def draw_one(state: State, rows: Rows, seats: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Each seat (n,) draws one card, which must be there; returns the cards."""
    empty = rows[state.pile_at[rows] == state.rules.deck_size]
    if empty.size:
        _reshuffle_discards(state, empty)
    cards: NDArray[np.uint8] = state.pile[rows, state.pile_at[rows]]
    _deal(state, rows, seats[:, None], np.ones(len(rows), np.intp))
    return cards


def deal_until_colour(
    state: State, rows: Rows, seats: NDArray[np.intp], colours: NDArray[np.integer]
) -> None:
    """King Pig: cards go round to `seats` (n, k) until one has the colour (n,); all see them.

    If the pile runs out the discards are reshuffled and the dealing goes on; if they run out too,
    it stops.
    """
    exhausted = _deal_pile_until_colour(state, rows, seats, colours)
    again = np.flatnonzero(exhausted >= 0)
    if again.size:
        _reshuffle_discards(state, rows[again])
        num_seats = seats.shape[1]
        order = (exhausted[again, None] + np.arange(num_seats)) % num_seats
        onward = np.take_along_axis(seats[again], order, axis=1)
        _deal_pile_until_colour(state, rows[again], onward, colours[again])


def _deal_pile_until_colour(
    state: State, rows: Rows, seats: NDArray[np.intp], colours: NDArray[np.integer]
) -> NDArray[np.intp]:
    """As `deal_until_colour`, from the pile as it is.

    Returns how many cards were dealt where no card had the colour, else -1: (n,).
    """
    at = state.pile_at[rows].astype(np.intp)
    in_pile = np.arange(state.rules.deck_size) >= at[:, None]
    hits = (CARD_COLOUR[state.pile[rows]] == colours[:, None]) & in_pile
    found = hits.any(axis=1)
    counts = np.where(found, hits.argmax(axis=1) - at + 1, cards_left(state, rows))
    got = _deal(state, rows, seats, counts)
    state.known.reshape(-1, 2)[state.at_seat(rows[:, None], seats)] |= got
    return np.where(found, -1, counts)


def deal_round(state: State, rows: Rows) -> None:
    """Shuffle and deal seven each, one by one from the dealer's left ("Setting up")."""
    players = state.rules.num_players
    state.hands[rows] = 0
    state.discard[rows] = 0
    _shuffle(state, rows)
    seats = (state.dealer[rows].astype(np.intp)[:, None] + 1 + np.arange(players)) % players
    _deal(state, rows, seats, np.full(len(rows), HAND_SIZE * players))
    state.lack[rows] = LACK_CAP
    state.known[rows] = 0


def turn_up(state: State, rows: Rows) -> NDArray[np.uint8]:
    """Turn up the opening cards (n,), not yet laid on the discard pile ("Setting up").

    A Wild Draw 4 goes back, the pile is shuffled again, another card is turned up.
    """
    opening = state.pile[rows, state.pile_at[rows]]
    while (again := np.flatnonzero(CARD_KIND[opening] == WILD_KINDS[1])).size:
        _shuffle(state, rows[again], _in_pile(state, rows[again]))
        opening[again] = state.pile[rows[again], state.pile_at[rows[again]]]
    state.pile_at[rows] += 1
    return opening


def _in_pile(state: State, rows: Rows) -> NDArray[np.bool_]:
    """Which cards the draw pile holds: (n, D)."""
    size = state.rules.deck_size
    used = np.arange(size) < state.pile_at[rows, None]
    cards = np.where(used, NO_CARD, state.pile[rows]).astype(np.intp)
    present = np.zeros((len(rows), NUM_CARDS + 1), np.bool_)
    np.put_along_axis(present, cards, True, axis=1)
    return present[:, :size]
