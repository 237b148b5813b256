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
    KIND_OF_TEXT,
    NO_CARD,
    NUM_CARDS,
    NUM_COLOURED_SYMBOLS,
    NUM_COLOURS,
    NUM_SYMBOLS,
    WILD_KINDS,
    Words,
    one_of,
    put_sets,
    set_sizes,
    take_sets,
)
from uno_env.game.rules import HAND_SIZE
from uno_env.game.state import LACK_CAP, Rows, State

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_WILD_DRAW_FOUR = KIND_OF_TEXT["W+4"]
_CARD_IN_KEY = np.uint32(127)
"""The low bits of a sort key, which say the card."""

_CARDS = np.arange(NUM_CARDS, dtype=np.uint32)
_STEPS = np.arange(1, NUM_CARDS + 1, dtype=np.uint64) * GAMMA
_HALF_WORD = np.uint64(32)
_PLACE_VALUES = np.array([1000, 100, 10, 1])
_ONE_FOR_EACH_COLOUR = np.uint32(0x01010101)

_IS_NUMBER = (WILD_KINDS.start > CARD_KIND) & (CARD_KIND % NUM_COLOURED_SYMBOLS < 10)
_DEALER_VALUES = np.where(_IS_NUMBER, CARD_KIND % NUM_COLOURED_SYMBOLS, 0).astype(np.int64)
"""What each card counts when drawing for the dealer: its number, a symbol zero."""
_NUMBERS = _DEALER_VALUES[_IS_NUMBER]
"""The same of the number cards alone."""


def mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's output function, in place."""
    words ^= words >> np.uint64(30)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


def seed_streams(state: State, rows: Rows, seeds: NDArray[np.uint64]) -> None:
    """Start the random streams of `rows` anew, one seed each."""
    state.stream[rows] = mix(seeds.copy())


def _next_words(state: State, rows: Rows, counts: NDArray[np.intp] | int) -> NDArray[np.uint64]:
    """The next words of each stream: (n, largest count); each stream moves on by its own count."""
    before = state.stream.take(rows)
    state.stream[rows] = before + np.atleast_1d(counts).astype(np.uint64) * GAMMA
    width = int(np.max(counts, initial=1))
    return mix(before[:, None] + _STEPS[:width])


def choose_dealer(state: State, rows: Rows) -> None:
    """Every player draws one card, the highest number deals (rulebook, "Setting up").

    Those tied for the top draw again among themselves. Under `numbers_only` a symbol is put away
    and drawn again, which is to draw from the number cards alone. Two players who come upon the
    same card are tied like others with equal numbers; every seat is as likely to deal either way.

    Each player draws four times in advance, and the numbers are compared like words in a
    dictionary: a later one matters only among those who are tied in all before it.
    """
    players = state.rules.num_players
    numbers_only = state.rules.dealer_draw == "numbers_only"
    values = _NUMBERS if numbers_only else _DEALER_VALUES[: state.rules.deck_size]
    dealer = np.empty(len(rows), np.intp)
    pending = np.arange(len(rows))
    tied = np.ones((len(rows), players), np.bool_)
    while pending.size:
        halves = _next_words(state, rows[pending], 2 * players).view(np.uint32)
        cards = halves * np.uint64(len(values)) >> _HALF_WORD
        drawn = values.take(cards.astype(np.intp)).reshape(-1, players, 4)
        number = np.where(tied, drawn @ _PLACE_VALUES, -1)
        tied = number == number.max(axis=1, keepdims=True)
        dealer[pending] = tied.argmax(axis=1)
        again = (tied.sum(axis=1) > 1).nonzero()[0]
        pending, tied = pending[again], tied[again]
    state.dealer[rows] = dealer


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
    keys |= _CARDS[:size]
    if present is not None:
        keys *= present  # absent cards come first, before `pile_at`
    keys.sort(axis=1)
    keys &= _CARD_IN_KEY
    state.pile[rows] = keys
    state.pile_at[rows] = size - counts


def _reshuffle_discards(state: State, rows: Rows) -> None:
    """All discards but the top one become the draw pile (rulebook, "A turn": draw pile empty)."""
    discard = take_sets(state.discard, rows)
    top = one_of(discard & take_sets(FACE_BITS, state.top.take(rows)))
    buried = discard ^ top
    put_sets(state.discard, rows, top)
    deck = CARD_BITS[: state.rules.deck_size]
    _shuffle(state, rows, np.any(buried[:, None, :] & deck, axis=2))


def can_draw(state: State, rows: Rows) -> NDArray[np.bool_]:
    """Whether at least one card can be had, from the pile or the buried discards."""
    has_pile = state.pile_at.take(rows) < state.rules.deck_size
    if not has_pile.all():
        empty = (~has_pile).nonzero()[0]
        has_pile[empty] = set_sizes(take_sets(state.discard, rows[empty])) > 1
    return has_pile


def _hand_over(
    state: State, at: NDArray[np.intp], cards: Words, numbers: NDArray[np.uint8]
) -> None:
    """Put sets of cards (..., 2) into hands; every card that a seat is given goes through here.

    Args:
        state: the games.
        at: (...) the hands, as `State.at_seat` counts them.
        cards: (..., 2) what each gets.
        numbers: (...) how many cards that is.
    """
    hands = state.flat_hands
    put_sets(hands, at, take_sets(hands, at) | cards)
    # The four counts of a seat, a byte each, are raised as one number. None overflows into the
    # next: they are at most LACK_CAP before, and no deck has 240 cards.
    lack = state.lack.view(np.uint32).ravel()
    raised = lack.take(at) + numbers * _ONE_FOR_EACH_COLOUR
    counts = raised.view(np.uint8)
    np.minimum(counts, LACK_CAP, out=counts)
    lack[at] = raised


def _deal(state: State, rows: Rows, seats: NDArray[np.integer], counts: NDArray[np.intp]) -> Words:
    """Deal `counts` cards from the pile, one by one, round and round to `seats` (n, k).

    The pile must hold them. Returns what each of the seats got: (n, k, 2).
    """
    num_seats = seats.shape[1]
    laps = -(-int(counts.max(initial=1)) // num_seats)
    places = np.arange(laps * num_seats)
    size = state.rules.deck_size
    pile_at = state.pile_at.take(rows)
    first = rows * size + pile_at
    cards = state.pile.ravel().take(first[:, None] + places, mode="clip")
    cards[places >= counts[:, None]] = NO_CARD
    dealt = take_sets(CARD_BITS, cards).reshape(len(rows), laps, num_seats, 2)
    got = dealt[:, 0].copy()
    for lap in range(1, laps):
        got |= dealt[:, lap]
    state.pile_at[rows] = pile_at + counts
    _hand_over(state, state.at_seat(rows[:, None], seats), got, set_sizes(got))
    return got


def give(
    state: State, rows: Rows, seats: NDArray[np.integer], counts: NDArray[np.integer] | int
) -> NDArray[np.uint8]:
    """Each seat (n,) takes `counts` cards, or what there is; returns the first of them (n,).

    When the pile runs out, the discards are reshuffled and the rest is taken from them.
    """
    size = state.rules.deck_size
    wanted = np.broadcast_to(np.asarray(counts, np.intp), rows.shape)
    pile_at = state.pile_at.take(rows)
    now = np.minimum(wanted, size - pile_at)
    short = (now < wanted).nonzero()[0]
    first = state.pile.ravel().take(rows * size + pile_at, mode="clip")
    _deal(state, rows, seats[:, None], now)
    if short.size:
        some = rows[short]
        _reshuffle_discards(state, some)
        pile_at = state.pile_at.take(some)
        first_of_new = state.pile.ravel().take(some * size + pile_at, mode="clip")
        first[short] = np.where(now[short] == 0, first_of_new, first[short])
        rest = np.minimum(wanted[short] - now[short], size - pile_at)
        _deal(state, some, seats[short, None], rest)
    return first


def remember_lack(state: State, rows: Rows) -> None:
    """The seats to act have drawn of their own accord: they lacked the active colour."""
    seats = state.at_seat(rows, state.acting[rows])
    state.lack.ravel()[NUM_COLOURS * seats + state.top[rows] // NUM_SYMBOLS] = 0


def deal_until_colour(
    state: State, rows: Rows, seats: NDArray[np.intp], colours: NDArray[np.integer]
) -> None:
    """King Pig: cards go round to `seats` (n, k) until one has the colour (n,); all see them.

    If the pile runs out the discards are reshuffled and the dealing goes on; if they run out too,
    it stops.
    """
    exhausted = _deal_pile_until_colour(state, rows, seats, colours)
    again = (exhausted >= 0).nonzero()[0]
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
    size = state.rules.deck_size
    pile_at = state.pile_at.take(rows).astype(np.intp)
    hits = CARD_COLOUR.take(state.pile.take(rows, axis=0)) == colours[:, None]
    hits &= np.arange(size) >= pile_at[:, None]
    found = hits.any(axis=1)
    counts = np.where(found, hits.argmax(axis=1) + 1, size) - pile_at
    got = _deal(state, rows, seats, counts)
    at = state.at_seat(rows[:, None], seats)
    put_sets(state.flat_known, at, take_sets(state.flat_known, at) | got)
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
    while (again := (CARD_KIND[opening] == _WILD_DRAW_FOUR).nonzero()[0]).size:
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
