"""What a seat may know, as named slices of one flat vector of small whole numbers.

The vector is the same for every seat, every preset and 2 to 10 players. *Place* k is the seat k
places on from the observer in the direction of play, place 0 the observer; places beyond the number
of players are zeros. Sets of cards are counted by face, 16 numbers a colour: a coloured face says
how many such cards there are; a wild has four places, one under each colour, of which as many are 1
as there are copies.

`LAYOUT` names the slices; `SCALE` makes the numbers small, mostly up to 1, for networks. The layout
has a version, which a change of `SCALE` raises too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from uno_env.game.cards import (
    CARD_BITS,
    CARD_KIND,
    NO_CARD,
    NO_COLOUR,
    NUM_CARDS,
    NUM_COLOURS,
    NUM_FACES,
    NUM_KINDS,
    NUM_SYMBOLS,
    Words,
    count_faces,
    count_kinds,
    set_sizes,
    take_sets,
)
from uno_env.game.legality import OF_COLOUR
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, Rules, cached_by_rules
from uno_env.game.state import LACK_CAP, ONE_FOR_EACH_COLOUR, Phase, Rows, State

OBSERVATION_LAYOUT_VERSION = 2

_OPPONENTS = MAX_PLAYERS - 1
_DRAWN, _OVER = int(Phase.DRAWN), int(Phase.OVER)
POINTS_UNIT = 5
"""Points of cards are given in this unit, rounded down."""
DIGIT = 32
"""Scores are written with two digits of this base, the higher one cut off at 255."""


@dataclass(frozen=True)
class Feature:
    """One named slice of the observation."""

    name: str
    size: int
    high: int
    """The largest value."""
    scale: float
    """What to multiply with for a network."""
    meaning: str


_SWITCHES: tuple[tuple[str, Callable[[Rules], int]], ...] = (
    ("king_pigs", lambda rules: rules.deck == "angry_birds"),
    ("voluntary_draw_always", lambda rules: rules.voluntary_draw == "always"),
    ("drawn_card_forced", lambda rules: rules.drawn_card == "forced"),
    ("no_matching_colour", lambda rules: rules.wild_draw_four == "no_matching_colour"),
    ("no_matching_card", lambda rules: rules.wild_draw_four == "no_matching_card"),
    ("bluff", lambda rules: rules.wild_draw_four == "bluff"),
    ("uno_call_explicit", lambda rules: rules.uno_call == "explicit"),
    ("uno_enforcement_automatic", lambda rules: rules.uno_enforcement == "automatic"),
    ("uno_penalty", lambda rules: rules.uno_penalty),
    ("king_pig_to_all", lambda rules: rules.king_pig_recipients == "all"),
    ("last_card_draws", lambda rules: rules.last_card_draws),
    ("scoring_lowest", lambda rules: rules.scoring == "lowest"),
    ("action_points_in_fives", lambda rules: rules.action_points // POINTS_UNIT),
    ("wild_points_in_fives", lambda rules: rules.wild_points // POINTS_UNIT),
    ("stacking", lambda rules: rules.stacking),
    ("seven_zero", lambda rules: rules.seven_zero),
    ("jump_in", lambda rules: rules.jump_in),
    ("draw_to_match", lambda rules: rules.draw_to_match),
)
"""The switches that change play, in the order of the feature `rules`, and what they say of it."""

_FEATURES = (
    Feature("hand", NUM_FACES, 2, 1, "the observer's hand, by face"),
    Feature("unseen", NUM_FACES, 2, 1, "cards in other hands or the draw pile, by face"),
    Feature("known", NUM_FACES, 2, 1, "of these, cards King Pigs were seen to deal to others"),
    Feature("drawn", NUM_FACES, 1, 1, "the card the observer has just drawn and may play"),
    Feature(
        "known_colours",
        _OPPONENTS * 5,
        112,
        1 / 4,
        "cards King Pigs were seen to deal, by place 1-9: R Y G B, wilds",
    ),
    Feature(
        "lack",
        _OPPONENTS * NUM_COLOURS,
        LACK_CAP,
        1 / LACK_CAP,
        "by place 1-9 and colour: 15 less the cards it got since it last drew on that colour, or 0",
    ),
    Feature("top", NUM_SYMBOLS, 1, 1, "symbol of the top card: 0-9, S, R, +2, W, W+4, KP"),
    Feature("colour", NUM_COLOURS, 1, 1, "the active colour; zeros while it is to be named"),
    Feature("phase", len(Phase), 1, 1, "the kind of decision, in the order of `Phase`"),
    Feature("to_act", 1, 1, 1, "whether the observer is to act"),
    Feature("said", 1, 1, 1, "whether the player whose turn it is has said UNO"),
    Feature("clockwise", 1, 1, 1, "the direction of play"),
    Feature("stack", 1, 255, 1 / 16, "house rule stacking: cards to draw"),
    Feature("on_turn", MAX_PLAYERS, 1, 1, "place of the player whose turn it is"),
    Feature("hand_sizes", MAX_PLAYERS, NUM_CARDS, 1 / 16, "cards in hand, by place"),
    Feature("one_card", MAX_PLAYERS, 1, 1, "whether it is one card, by place"),
    Feature("two_cards", MAX_PLAYERS, 1, 1, "whether it is two cards, by place"),
    Feature("pile", 1, NUM_CARDS, 1 / 64, "cards in the draw pile"),
    Feature("discards", 1, NUM_CARDS, 1 / 64, "cards in the discard pile"),
    Feature("scores_high", MAX_PLAYERS, 255, 1 / 16, "totals // 32 up to 255, by place"),
    Feature("scores_low", MAX_PLAYERS, 31, 1 / 32, "totals % 32, by place"),
    Feature("num_players", MAX_PLAYERS - MIN_PLAYERS + 1, 1, 1, "2 to 10"),
    Feature("target", 2, 255, 1 / 32, "the target // 32 up to 255, % 32"),
    Feature("rules", len(_SWITCHES), 100, 1 / 10, ", ".join(name for name, _ in _SWITCHES)),
    Feature("partners", 1, 1, 1, "house rule partners"),
    Feature(
        "colour_before",
        NUM_COLOURS,
        1,
        1,
        "the colour active before the Wild Draw 4 that may still be challenged; else zeros",
    ),
)


def _slices() -> dict[str, slice]:
    stops = np.cumsum([feature.size for feature in _FEATURES])
    return {
        feature.name: slice(int(stop) - feature.size, int(stop))
        for feature, stop in zip(_FEATURES, stops, strict=True)
    }


LAYOUT: dict[str, slice] = _slices()
"""Where each feature stands, by name."""
SWITCH_PLACES: dict[str, int] = {
    name: LAYOUT["rules"].start + i for i, (name, _) in enumerate(_SWITCHES)
}
"""Where each switch of the rules stands, by name."""
FEATURES: dict[str, Feature] = {feature.name: feature for feature in _FEATURES}
OBSERVATION_SIZE = sum(feature.size for feature in _FEATURES)
HIGH: NDArray[np.uint8] = np.repeat(
    np.array([feature.high for feature in _FEATURES], np.uint8),
    [feature.size for feature in _FEATURES],
)
"""The largest value of each number: (F,)."""
SCALE: NDArray[np.float32] = np.repeat(
    np.array([feature.scale for feature in _FEATURES], np.float32),
    [feature.size for feature in _FEATURES],
)
"""What to multiply each number with for a network: (F,)."""

COLOUR_WORDS: NDArray[np.uint64] = np.array(
    [*OF_COLOUR, ~np.bitwise_or.reduce(OF_COLOUR)], np.uint64
)[:, None, None]
"""The faces of each colour, then the wilds: (5, 1, 1)."""


@cache
def deck_words(size: int) -> Words:
    """The cards of a deck as a set: (2,)."""
    return np.bitwise_or.reduce(CARD_BITS[:size], axis=0)


VIEW_SEATS = MAX_PLAYERS
"""A *view* is a turn and an observer in one number: ``VIEW_SEATS * turn + seat``."""


@cache
def seats_by_place(num_players: int) -> NDArray[np.intp]:
    """The seats at places 0 to P - 1, by view: (P, 2 P x 10)."""
    table = np.zeros((num_players, 2 * num_players, VIEW_SEATS), np.intp)
    seats = np.arange(num_players)
    for turn in range(2 * num_players):
        step = 1 if turn < num_players else -1
        table[:, turn, :num_players] = (seats + step * seats[:, None]) % num_players
    return table.reshape(num_players, -1)


@cache
def view_rows(num_players: int) -> NDArray[np.void]:
    """The features from `clockwise` to `on_turn`, by view: (2 P x 10,) records."""
    turns = np.arange(2 * num_players).repeat(VIEW_SEATS)
    on_turn = turns % num_players
    place = np.argmax(seats_by_place(num_players) == on_turn, axis=0)
    rows = np.zeros((len(turns), OBSERVATION_SIZE), np.uint8)
    rows[:, LAYOUT["clockwise"].start] = turns < num_players
    rows[np.arange(len(turns)), LAYOUT["on_turn"].start + place] = 1
    return _records(rows, VIEW_COLUMNS).copy()


def _table_rows() -> NDArray[np.void]:
    """The features from `top` to `said`, by ``256 * phase + 4 * top + 2 * to_act + said``."""
    rows = np.zeros((len(Phase), NUM_FACES, 2, 2, OBSERVATION_SIZE), np.uint8)
    for phase in Phase:
        rows[phase, ..., LAYOUT["phase"].start + phase] = 1
    for face in range(NUM_FACES):
        colour, symbol = divmod(face, NUM_SYMBOLS)
        rows[:, face, ..., LAYOUT["top"].start + symbol] = 1
        rows[:, face, ..., LAYOUT["colour"].start + colour] = 1
    rows[Phase.COLOUR, ..., LAYOUT["colour"]] = 0
    rows[:, :, 1, :, LAYOUT["to_act"].start] = 1
    rows[..., 1, LAYOUT["said"].start] = 1
    return _records(rows.reshape(-1, OBSERVATION_SIZE), TABLE_COLUMNS).copy()


def _records(rows: NDArray[np.uint8], columns: slice) -> NDArray[np.void]:
    """Some columns of (n, m), each row as one record: (n,), the same memory.

    Numpy moves a record as a whole, but the bytes of a short row one after the other.
    """
    width = columns.stop - columns.start
    return np.ndarray(len(rows), (np.void, width), rows, columns.start, (rows.shape[1],))


# Features that stand side by side and depend on little are written together, from a table.
TABLE_COLUMNS = slice(LAYOUT["top"].start, LAYOUT["said"].stop)
VIEW_COLUMNS = slice(LAYOUT["clockwise"].start, LAYOUT["on_turn"].stop)
TABLE_ROWS = _table_rows()

DRAWN_ROWS = count_faces(CARD_BITS[:, 0].copy(), CARD_BITS[:, 1].copy())
"""The features `drawn`, by card: (113, 64)."""

COLOUR_ROWS = np.eye(NO_COLOUR + 1, NUM_COLOURS, dtype=np.uint8)
"""The feature `colour_before`, by colour; zeros for `NO_COLOUR`: (5, 4)."""


def _digits(numbers: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return np.minimum(numbers // DIGIT, 255), numbers % DIGIT


@cached_by_rules
def constant_part(rules: Rules) -> NDArray[np.uint8]:
    """The features that the rules alone decide, the others zero: (F,)."""
    row = np.zeros(OBSERVATION_SIZE, np.uint8)
    row[LAYOUT["num_players"]][rules.num_players - MIN_PLAYERS] = 1
    row[LAYOUT["target"]] = np.ravel(_digits(np.array([rules.target], np.int32)))
    row[LAYOUT["rules"]] = [value(rules) for _, value in _SWITCHES]
    row[LAYOUT["partners"]] = rules.partners
    row.flags.writeable = False
    return row


def observe(state: State, rows: Rows, seats: NDArray[np.intp]) -> NDArray[np.uint8]:
    """What one seat of each game may know: (n, F) uint8."""
    rules, players = state.rules, state.rules.num_players
    out = np.empty((len(rows), OBSERVATION_SIZE), np.uint8)
    if not rows.size:
        return out
    out[:] = constant_part(rules)
    view = VIEW_SEATS * state.turn.take(rows) + seats
    # Places first, games second: numpy joins and counts along the first axis many times as fast.
    at = rows * players + seats_by_place(players).take(view, axis=1)
    hands = take_sets(state.flat_hands, at)

    _observe_cards(out, state, rows, hands[0])
    _observe_known(out, take_sets(state.flat_known, at[1:]))
    _observe_table(out, state, rows, seats)
    _records(out, VIEW_COLUMNS)[:] = view_rows(players).take(view)

    # The four counts of a seat, a byte each, are moved as one number.
    lack = LACK_CAP * ONE_FOR_EACH_COLOUR - state.flat_lack.take(at[1:].T)
    out[:, LAYOUT["lack"]][:, : NUM_COLOURS * (players - 1)] = lack.view(np.uint8)
    sizes = set_sizes(hands).T
    out[:, LAYOUT["hand_sizes"]][:, :players] = sizes
    out[:, LAYOUT["one_card"]][:, :players] = sizes == 1
    out[:, LAYOUT["two_cards"]][:, :players] = sizes == 2
    if state.rules.stacking:
        out[:, LAYOUT["stack"].start] = state.stack.take(rows)
    if state.scores.any():
        high, low = _digits(state.scores.ravel().take(at.T))
        out[:, LAYOUT["scores_high"]][:, :players] = high
        out[:, LAYOUT["scores_low"]][:, :players] = low
    return out


def _observe_cards(out: NDArray[np.uint8], state: State, rows: Rows, hand: Words) -> None:
    """The observers' hands (n, 2), the unseen cards, and how many are in the two piles."""
    discard = take_sets(state.discard, rows)
    seen = hand | discard
    deck = deck_words(state.rules.deck_size)
    first, second = np.empty((2, 2, len(rows)), np.uint64)
    for words, copy in ((first, 0), (second, 1)):
        words[0] = hand[:, copy]
        np.bitwise_xor(seen[:, copy], deck[copy], out=words[1])
    of_hand, of_unseen = count_faces(first, second)
    out[:, LAYOUT["hand"]] = of_hand
    out[:, LAYOUT["unseen"]] = of_unseen
    out[:, LAYOUT["pile"].start] = state.rules.deck_size - state.pile_at.take(rows)
    out[:, LAYOUT["discards"].start] = set_sizes(discard)


def _observe_known(out: NDArray[np.uint8], known: Words) -> None:
    """What opponents (P - 1, n, 2) were seen to be dealt: all by face, each by colour."""
    together = np.bitwise_or.reduce(known, axis=0)
    some = (together[:, 0] | together[:, 1]).nonzero()[0]
    if not some.size:
        return
    first, second = together.take(some, axis=0).T.copy()
    out[some, LAYOUT["known"]] = count_faces(first, second)
    first, second = known.take(some, axis=1).transpose(2, 0, 1)
    colours = np.bitwise_count(first & COLOUR_WORDS)
    colours += np.bitwise_count(second & COLOUR_WORDS)
    start = LAYOUT["known_colours"].start
    by_row = colours.transpose(2, 1, 0).reshape(len(some), -1)
    out[some, start : start + by_row.shape[1]] = by_row


def _observe_table(
    out: NDArray[np.uint8], state: State, rows: Rows, seats: NDArray[np.intp]
) -> None:
    """The top card, the active colour, what is being decided, and the card just drawn."""
    phase = state.phase.take(rows)
    acting = state.acting.take(rows) == seats
    to_act = acting & (phase != _OVER)
    flags = 2 * to_act.view(np.uint8) + state.said.take(rows).view(np.uint8)
    at = phase.astype(np.intp)
    at *= NUM_FACES
    at += state.top.take(rows)
    at *= 4
    at += flags
    _records(out, TABLE_COLUMNS)[:] = TABLE_ROWS.take(at)

    # Only who has drawn the card sees it.
    drawn = (acting & (phase == _DRAWN)).nonzero()[0]
    if drawn.size:
        cards = state.drawn.take(rows.take(drawn))
        out[drawn, LAYOUT["drawn"]] = DRAWN_ROWS.take(cards, axis=0)

    if state.rules.wild_draw_four == "bluff":
        before = state.colour_before.take(rows)
        out[:, LAYOUT["colour_before"]] = COLOUR_ROWS.take(before, axis=0)


_PILE_START = OBSERVATION_SIZE + MAX_PLAYERS * NUM_KINDS
FULL_SIZE = _PILE_START + NUM_CARDS + 2


def observe_all(state: State, rows: Rows, seats: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Everything there is, seen from one seat: (n, FULL_SIZE) uint8.

    The observation; then the hands by place, 10 x 55 counts; then the draw pile in order, 112 times
    a kind plus one, zeros after its end; then the card just drawn by whoever it was, a kind plus
    one; and whether the Wild Draw 4 on top was a bluff. For critics and players that cheat.
    """
    players = state.rules.num_players
    out = np.zeros((len(rows), FULL_SIZE), np.uint8)
    out[:, :OBSERVATION_SIZE] = observe(state, rows, seats)
    view = VIEW_SEATS * state.turn.take(rows) + seats
    at = rows[:, None] * players + seats_by_place(players).take(view, axis=1).T
    hands = count_kinds(take_sets(state.flat_hands, at)).reshape(len(rows), players * NUM_KINDS)
    out[:, OBSERVATION_SIZE : OBSERVATION_SIZE + hands.shape[1]] = hands
    places = state.pile_at[rows].astype(np.intp)[:, None] + np.arange(NUM_CARDS)
    size = state.rules.deck_size
    cards = state.pile[rows[:, None], np.minimum(places, size - 1)]
    out[:, _PILE_START : _PILE_START + NUM_CARDS] = np.where(places < size, CARD_KIND[cards] + 1, 0)
    drawn = state.drawn.take(rows)
    out[:, -2] = np.where(drawn == NO_CARD, 0, CARD_KIND[drawn] + 1)
    out[:, -1] = state.guilty.take(rows)
    return out
