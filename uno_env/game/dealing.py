"""Shuffling, dealing, drawing, reshuffling, and choosing a dealer.

Every game has a random stream of its own: the SplitMix64 generator (Steele, Lea & Flood, "Fast
splittable pseudorandom number generators", OOPSLA 2014), started from a hash of the game's seed.
Its state is one number that grows by a constant with each word, so a game's course depends on its
seed and its actions alone, never on the batch around it.

A shuffle gives each card present, in deck order, the next 32-bit half of a word, low half first,
and sorts by the upper 25 bits. Copies of a kind stand side by side in deck order, so a shuffle
depends only on how many of each kind there are, never on which copy lies where.

Arrays of cards to be dealt are (cards, games), see `_by_seat`. The draw piles are read as one long
array; where that goes past the end of a pile (clipped at the end of the last) what is read does not
count, or is replaced by `NO_CARD`.
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
from uno_env.game.state import LACK_CAP, ONE_FOR_EACH_COLOUR, Rows, State

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_WILD_DRAW_FOUR = KIND_OF_TEXT["W+4"]
_CARD_IN_KEY = np.uint32(127)
"""The low bits of a sort key, which say the card."""

_CARDS = np.arange(NUM_CARDS, dtype=np.uint32)
_STEPS = np.arange(1, NUM_CARDS + 1, dtype=np.uint64) * GAMMA
_HALF_WORD = np.uint64(32)
_WORD = 2**64
_USUAL_RUN = 32
"""Cards of a King Pig that are looked at first: in 9,999 of 10,000 cases enough."""
_PLACE_VALUES = np.array([1000, 100, 10, 1])

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


def seed_of_stream(stream: int) -> int:
    """The seed from which a random stream starts in this state: `mix` the other way round."""
    word = _unshift(stream, 31) * pow(0x94D049BB133111EB, -1, _WORD) % _WORD
    word = _unshift(word, 27) * pow(0xBF58476D1CE4E5B9, -1, _WORD) % _WORD
    return _unshift(word, 30)


def _unshift(word: int, by: int) -> int:
    """Undo ``word ^= word >> by``, for a shift by more than 21 bits."""
    return word ^ word >> by ^ word >> 2 * by


def seed_streams(state: State, rows: Rows, seeds: NDArray[np.uint64]) -> None:
    """Start the random streams of `rows` anew, one seed each."""
    state.stream[rows] = mix(seeds.copy())


def _next_words(state: State, rows: Rows, counts: NDArray[np.intp] | int) -> NDArray[np.uint64]:
    """The next words of each stream: (n, largest count); each stream moves on by its own count."""
    before = state.stream.take(rows)
    if isinstance(counts, int):
        width, steps = counts, _STEPS[counts - 1]
    else:
        width, steps = int(counts.max()), counts.astype(np.uint64) * GAMMA
    state.stream[rows] = before + steps
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
        drawn = values.take(cards.astype(np.intp)).reshape(pending.size, players, 4)
        number = np.where(tied, drawn @ _PLACE_VALUES, -1)
        tied = number == number.max(axis=1, keepdims=True)
        dealer[pending] = tied.argmax(axis=1)
        again = (tied.sum(axis=1) > 1).nonzero()[0]
        pending, tied = pending[again], tied[again]
    state.dealer[rows] = dealer


def _shuffle_deck(state: State, rows: Rows) -> None:
    """Make a new draw pile of the whole deck."""
    size = state.rules.deck_size
    keys = _next_words(state, rows, size // 2).view(np.uint32) & ~_CARD_IN_KEY
    keys |= _CARDS[:size]
    _sort_into_pile(state, rows, keys)
    state.pile_at[rows] = 0


def _shuffle(state: State, rows: Rows, present: NDArray[np.bool_]) -> None:
    """Make a new draw pile of the cards present (n, D)."""
    size = state.rules.deck_size
    game, card = present.nonzero()
    counts = np.bincount(game, minlength=len(rows))
    words = _next_words(state, rows, (counts + 1) // 2)
    first = counts.cumsum() - counts
    turn = np.arange(len(game)) - first.take(game)
    drawn = words.view(np.uint32)[game, turn] & ~_CARD_IN_KEY
    keys = np.zeros(present.shape, np.uint32)  # absent cards come first, before `pile_at`
    keys[game, card] = drawn | card.astype(np.uint32)
    _sort_into_pile(state, rows, keys)
    state.pile_at[rows] = size - counts


def _sort_into_pile(state: State, rows: Rows, keys: NDArray[np.uint32]) -> None:
    keys.sort(axis=1)
    keys &= _CARD_IN_KEY
    state.pile[rows] = keys


def _top_up(state: State, rows: Rows) -> None:
    """Reshuffle the discards but the top one ("A turn": draw pile empty).

    They go beneath what is left of the draw pile, so this may be done as soon as it is known that
    the pile will run out, before its last cards are drawn.
    """
    size = state.rules.deck_size
    left = size - state.pile_at.take(rows)
    rest = state.pile.take(rows, axis=0)
    discard = take_sets(state.discard, rows)
    top = one_of(discard & take_sets(FACE_BITS, state.top.take(rows)))
    buried = discard ^ top
    put_sets(state.discard, rows, top)
    deck = CARD_BITS[:size]
    present = buried[:, :1] & deck[:, 0]
    present |= buried[:, 1:] & deck[:, 1]
    _shuffle(state, rows, present != 0)
    for i in left.nonzero()[0].tolist():
        row = rows[i]
        at = state.pile_at[row]
        state.pile[row, at - left[i] : at] = rest[i, size - left[i] :]
        state.pile_at[row] = at - left[i]


def nothing_to_draw(state: State, rows: Rows | None) -> NDArray[np.intp]:
    """Where not even one card can be had, from the pile or the buried discards: (m,) indices.

    Args:
        state: the games.
        rows: which of them; all if None. The indices count within them.
    """
    pile_at = state.pile_at if rows is None else state.pile_at.take(rows)
    empty = (pile_at == state.rules.deck_size).nonzero()[0]
    if not empty.size:
        return empty
    discards = take_sets(state.discard, empty if rows is None else rows.take(empty))
    return empty.take((set_sizes(discards) <= 1).nonzero()[0])


def _hand_over(
    state: State, at: NDArray[np.intp], cards: Words, numbers: NDArray[np.uint8] | int
) -> None:
    """Put sets of cards (..., 2) into hands.

    Every card drawn in play goes through here, or through `few._hand_over`.

    Args:
        state: the games.
        at: (...) the hands, as `State.at_seat` counts them.
        cards: (..., 2) what each gets.
        numbers: (...) how many cards that is, or of each the same.
    """
    hands = state.flat_hands
    put_sets(hands, at, take_sets(hands, at) | cards)
    # The four counts of a seat, a byte each, are raised as one number. None overflows into the
    # next: they are at most LACK_CAP before, and no deck has 240 cards.
    lack = state.flat_lack
    raised = lack.take(at)
    raised += numbers * ONE_FOR_EACH_COLOUR
    counts = raised.view(np.uint8)
    np.minimum(counts, LACK_CAP, out=counts)
    lack[at] = raised


def give(
    state: State, rows: Rows, seats: NDArray[np.integer], counts: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """Each seat (n,) takes `counts` (n,) cards from the draw pile, or what there is ("A turn").

    Returns:
        (n,) uint8, the first card of each; `NO_CARD` where there was none to be had.
    """
    size = state.rules.deck_size
    pile_at = state.pile_at.take(rows)
    short = (pile_at + counts > size).nonzero()[0]
    if short.size:
        _top_up(state, rows.take(short))
        pile_at = state.pile_at.take(rows)
        counts = np.minimum(counts, size - pile_at)
    place = rows * size + pile_at
    first = state.pile.ravel().take(place, mode="clip")
    if short.size:
        first[counts == 0] = NO_CARD
    cards = take_sets(CARD_BITS, first)
    several = (counts > 1).nonzero()[0]
    if several.size:
        wanted = counts.take(several)
        later = np.arange(1, int(wanted.max()))[:, None]
        others = state.pile.ravel().take(place.take(several) + later, mode="clip")
        others[later >= wanted] = NO_CARD
        others_of_each = np.bitwise_or.reduce(take_sets(CARD_BITS, others), axis=0)
        put_sets(cards, several, take_sets(cards, several) | others_of_each)
    state.pile_at[rows] = pile_at + counts
    _hand_over(state, state.at_seat(rows, seats), cards, counts)
    return first


def remember_lack(state: State, rows: Rows, at: NDArray[np.intp]) -> None:
    """The seats `at` (n,) have drawn of their own accord.

    For the active colour `lack` counts from now on what each gets.
    """
    state.lack.ravel()[NUM_COLOURS * at + state.top.take(rows) // NUM_SYMBOLS] = 0


def deal_until_colour(
    state: State, rows: Rows, seats: NDArray[np.integer], colours: NDArray[np.integer]
) -> None:
    """King Pig: cards go round until one has the colour; all see them.

    If the pile runs out the discards are reshuffled and the dealing goes on; if they run out too,
    it stops.

    Args:
        state: the games.
        rows: which of them.
        seats: (k, n) the seats dealt to, in order.
        colours: (n,) the colours.
    """
    size = state.rules.deck_size
    counts = _run_length(state, rows, colours)
    missing = (counts == 0).nonzero()[0]
    if missing.size:
        some = rows.take(missing)
        _top_up(state, some)
        found = _run_length(state, some, colours.take(missing))
        counts[missing] = np.where(found == 0, size - state.pile_at.take(some), found)
    pile_at = state.pile_at.take(rows)
    places = np.arange(int(counts.max(initial=1)))[:, None]
    cards = state.pile.ravel().take(rows * size + pile_at + places, mode="clip")
    cards[places >= counts] = NO_CARD
    state.pile_at[rows] = pile_at + counts
    got = _by_seat(cards, len(seats))
    at = state.at_seat(rows, seats)
    _hand_over(state, at, got, set_sizes(got))
    put_sets(state.flat_known, at, take_sets(state.flat_known, at) | got)


def _run_length(
    state: State, rows: Rows, colours: NDArray[np.integer], longest: int = _USUAL_RUN
) -> NDArray[np.intp]:
    """Cards in the draw pile up to the first of the colour, that one too; 0 if there is none: (n,).

    Looks at `longest` cards, and at the whole pile where these are too few.
    """
    size = state.rules.deck_size
    pile_at = state.pile_at.take(rows)
    places = np.arange(longest)[:, None]
    cards = state.pile.ravel().take(rows * size + pile_at + places, mode="clip")
    hits = CARD_COLOUR.take(cards) == colours
    hits &= places < size - pile_at
    lengths = hits.argmax(axis=0) + 1
    missing = (~hits[lengths - 1, np.arange(len(rows))]).nonzero()[0]
    if missing.size:
        if longest < size:
            some = rows.take(missing)
            lengths[missing] = _run_length(state, some, colours.take(missing), size)
        else:
            lengths[missing] = 0
    return lengths


def _by_seat(cards: NDArray[np.integer], num_seats: int) -> Words:
    """What each seat has when cards (m, n) are dealt one by one round and round: (k, n, 2).

    The last lap may be cut short. Cards come first in the arrays of dealing, not games, since
    numpy joins along the first axis many times as fast as along a short last one.
    """
    laps = -(-len(cards) // num_seats)
    sets = np.zeros((laps * num_seats, cards.shape[1], 2), np.uint64)
    sets[: len(cards)] = take_sets(CARD_BITS, cards)
    by_lap = sets.reshape(laps, num_seats, *sets.shape[1:])
    return np.bitwise_or.reduce(by_lap, axis=0)


def deal_round(state: State, rows: Rows) -> None:
    """Shuffle and deal seven each, one by one from the dealer's left ("Setting up")."""
    players = state.rules.num_players
    state.discard[rows] = 0
    state.stack[rows] = 0
    _shuffle_deck(state, rows)
    number = HAND_SIZE * players
    got = _by_seat(state.pile.take(rows, axis=0)[:, :number].T, players)
    seats = state.dealer.take(rows) + np.arange(1, players + 1)[:, None]
    at = state.at_seat(rows, seats % players)
    put_sets(state.flat_hands, at, got)
    put_sets(state.flat_known, at, np.zeros_like(got))
    state.flat_lack[at] = LACK_CAP * ONE_FOR_EACH_COLOUR
    state.pile_at[rows] = number


def turn_up(state: State, rows: Rows) -> NDArray[np.uint8]:
    """Turn up the opening cards (n,), not yet laid on the discard pile ("Setting up").

    A Wild Draw 4 goes back, the pile is shuffled again, another card is turned up.
    """
    opening = state.pile[rows, state.pile_at[rows]]
    while (again := (CARD_KIND.take(opening) == _WILD_DRAW_FOUR).nonzero()[0]).size:
        some = rows.take(again)
        _shuffle(state, some, _in_pile(state, some))
        opening[again] = state.pile[some, state.pile_at[some]]
    state.pile_at[rows] += 1
    return opening


def _in_pile(state: State, rows: Rows) -> NDArray[np.bool_]:
    """Which cards the draw pile holds: (n, D)."""
    size = state.rules.deck_size
    game, place = (np.arange(size) >= state.pile_at.take(rows)[:, None]).nonzero()
    present = np.zeros((len(rows), size), np.bool_)
    present[game, state.pile[rows.take(game), place]] = True
    return present
