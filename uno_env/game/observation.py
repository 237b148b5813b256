"""What a seat may know, as named slices of one flat vector of small whole numbers.

The vector is the same for every seat, every preset and 2 to 10 players. *Place* k is the seat k
places on from the observer in the direction of play, place 0 the observer; places beyond the number
of players are zeros. Kinds of cards are in the order of `CARDS`.

`LAYOUT` names the slices; `SCALE` brings each number to about the range 0 to 1, for networks. The
layout has a version; places for the house rules are in it already, zero until those are built.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from uno_env.game.cards import (
    CARD_BITS,
    CARD_KIND,
    NUM_CARDS,
    NUM_COLOURS,
    NUM_KINDS,
    NUM_SYMBOLS,
    Words,
    count_kinds,
    set_sizes,
)
from uno_env.game.legality import OF_COLOUR
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from uno_env.game.state import LACK_CAP, Phase, Rows, State

OBSERVATION_LAYOUT_VERSION = 1

_OPPONENTS = MAX_PLAYERS - 1
_DIGIT = 32
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


_FEATURES = (
    Feature("hand", NUM_KINDS, 4, 1 / 2, "cards of each kind in the observer's hand"),
    Feature("drawn", NUM_KINDS, 1, 1, "the card the observer has just drawn and may play"),
    Feature("unseen", NUM_KINDS, 4, 1 / 2, "cards of each kind in other hands or the draw pile"),
    Feature("known", NUM_KINDS, 4, 1 / 2, "of these, cards King Pigs were seen to deal to others"),
    Feature("known_colours", _OPPONENTS * 5, 112, 1 / 4, "the same by place 1-9: R Y G B, wilds"),
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
    Feature("scores_high", MAX_PLAYERS, 255, 1 / 16, "totals // 32, by place"),
    Feature("scores_low", MAX_PLAYERS, 31, 1 / 32, "totals % 32, by place"),
    Feature("num_players", MAX_PLAYERS - MIN_PLAYERS + 1, 1, 1, "2 to 10"),
    Feature("target", 2, 255, 1 / 32, "the target // 32, % 32"),
    Feature(
        "rules",
        18,
        100,
        1,
        "King Pigs in the deck; voluntary_draw always; drawn_card forced; wild_draw_four "
        "no_matching_colour, no_matching_card, bluff; uno_call explicit; uno_enforcement "
        "automatic; uno_penalty; king_pig_recipients all; last_card_draws; scoring lowest; "
        "action_points and wild_points // 5; stacking, seven_zero, jump_in, draw_to_match",
    ),
    Feature("partners", 1, 1, 1, "house rule partners"),
)


def _slices() -> dict[str, slice]:
    stops = np.cumsum([feature.size for feature in _FEATURES])
    return {
        feature.name: slice(int(stop) - feature.size, int(stop))
        for feature, stop in zip(_FEATURES, stops, strict=True)
    }


LAYOUT: dict[str, slice] = _slices()
"""Where each feature stands, by name."""
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

_COLOUR_SETS: Words = np.stack(
    [np.array([word, word]) for word in (*OF_COLOUR, ~np.bitwise_or.reduce(OF_COLOUR))]
)
"""The cards of each colour, then the wilds, as sets: (5, 2)."""


@cache
def _deck(size: int) -> Words:
    return np.bitwise_or.reduce(CARD_BITS[:size], axis=0)


@cache
def _places(num_players: int) -> NDArray[np.intp]:
    """Seats by place: ``[backwards, observer, place]``, shape (2, P, P)."""
    seats = np.arange(num_players)
    forwards = (seats[:, None] + seats) % num_players
    return np.stack([forwards, (seats[:, None] - seats) % num_players])


def _digits(numbers: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return np.minimum(numbers // _DIGIT, 255), numbers % _DIGIT


@cache
def _constant_part(rules: Rules) -> NDArray[np.uint8]:
    """The features that the rules alone decide, the others zero: (F,)."""
    row = np.zeros(OBSERVATION_SIZE, np.uint8)
    row[LAYOUT["num_players"]][rules.num_players - MIN_PLAYERS] = 1
    row[LAYOUT["target"]] = np.ravel(_digits(np.array([rules.target], np.int32)))
    row[LAYOUT["rules"]] = [
        rules.deck == "angry_birds",
        rules.voluntary_draw == "always",
        rules.drawn_card == "forced",
        rules.wild_draw_four == "no_matching_colour",
        rules.wild_draw_four == "no_matching_card",
        rules.wild_draw_four == "bluff",
        rules.uno_call == "explicit",
        rules.uno_enforcement == "automatic",
        rules.uno_penalty,
        rules.king_pig_recipients == "all",
        rules.last_card_draws,
        rules.scoring == "lowest",
        rules.action_points // 5,
        rules.wild_points // 5,
        rules.stacking,
        rules.seven_zero,
        rules.jump_in,
        rules.draw_to_match,
    ]
    row[LAYOUT["partners"]] = rules.partners
    row.flags.writeable = False
    return row


def observe(state: State, rows: Rows, seats: NDArray[np.intp]) -> NDArray[np.uint8]:
    """What one seat of each game may know: (n, F) uint8."""
    rules, players = state.rules, state.rules.num_players
    out = np.empty((len(rows), OBSERVATION_SIZE), np.uint8)
    out[:] = _constant_part(rules)
    turn = state.turn[rows].astype(np.intp)
    backwards, on_turn = np.divmod(turn, players)
    seats_by_place = _places(players)[backwards, seats]
    at = state.at_seat(rows[:, None], seats_by_place)
    hands = state.hands.reshape(-1, 2)[at]
    known = state.known.reshape(-1, 2)[at[:, 1:]]

    _observe_cards(out, state, rows, hands[:, 0], known)
    _observe_others(out, state, at[:, 1:], known)

    game = np.arange(len(rows))
    top, phase = state.top[rows].astype(np.intp), state.phase[rows].astype(np.intp)
    out[game, LAYOUT["top"].start + top % NUM_SYMBOLS] = 1
    out[game, LAYOUT["colour"].start + top // NUM_SYMBOLS] = phase != Phase.COLOUR
    out[game, LAYOUT["phase"].start + phase] = 1
    out[:, LAYOUT["to_act"].start] = (state.acting[rows] == seats) & (phase != Phase.OVER)
    out[:, LAYOUT["said"].start] = state.said[rows]
    out[:, LAYOUT["clockwise"].start] = backwards == 0
    place_on_turn = np.where(backwards == 0, on_turn - seats, seats - on_turn) % players
    out[game, LAYOUT["on_turn"].start + place_on_turn] = 1

    sizes = set_sizes(hands)
    for name, values in (
        ("hand_sizes", sizes),
        ("one_card", sizes == 1),
        ("two_cards", sizes == 2),
    ):
        out[:, LAYOUT[name]][:, :players] = values
    out[:, LAYOUT["pile"].start] = rules.deck_size - state.pile_at[rows]
    out[:, LAYOUT["discards"].start] = set_sizes(state.discard[rows])
    high, low = _digits(state.scores.reshape(-1)[at])
    out[:, LAYOUT["scores_high"]][:, :players] = high
    out[:, LAYOUT["scores_low"]][:, :players] = low
    return out


def _observe_cards(
    out: NDArray[np.uint8], state: State, rows: Rows, hand: Words, known: Words
) -> None:
    """Counts by kind: own hand, unseen, known to be held by others; and the card just drawn."""
    sets = np.empty((len(rows), 3, 2), np.uint64)
    sets[:, 0] = hand
    sets[:, 1] = _deck(state.rules.deck_size) & ~(hand | state.discard[rows])
    np.bitwise_or.reduce(known, axis=1, out=sets[:, 2])
    counts = count_kinds(sets)
    for i, name in enumerate(("hand", "unseen", "known")):
        out[:, LAYOUT[name]] = counts[:, i]

    drawn = np.flatnonzero(state.phase[rows] == Phase.DRAWN)
    kinds = CARD_KIND[state.drawn[rows[drawn]]].astype(np.intp)
    drawer_observes = (state.hands[rows[drawn], state.acting[rows[drawn]]] == hand[drawn]).all(
        axis=1
    )
    out[drawn, LAYOUT["drawn"].start + kinds] = drawer_observes


def _observe_others(
    out: NDArray[np.uint8], state: State, others: NDArray[np.intp], known: Words
) -> None:
    """By place of the opponents: colours they lack, and colours they were seen to be dealt."""
    number, opponents = others.shape
    lack = LACK_CAP - state.lack.reshape(-1, NUM_COLOURS)[others]
    out[:, LAYOUT["lack"]][:, : opponents * NUM_COLOURS] = lack.reshape(
        number, opponents * NUM_COLOURS
    )
    some = np.flatnonzero(known.any(axis=(1, 2)))
    if some.size:
        colours = set_sizes(known[some, :, None, :] & _COLOUR_SETS)
        columns = np.arange(
            LAYOUT["known_colours"].start, LAYOUT["known_colours"].start + opponents * 5
        )
        out[some[:, None], columns] = colours.reshape(len(some), -1)


FULL_SIZE = OBSERVATION_SIZE + MAX_PLAYERS * NUM_KINDS + NUM_CARDS


def observe_all(state: State, rows: Rows, seats: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Everything there is, seen from one seat: (n, FULL_SIZE) uint8.

    The observation; then the hands by place, 10 x 55 counts; then the draw pile in order, 112 times
    a kind plus one, zeros after its end. For critics in training and players that cheat.
    """
    players = state.rules.num_players
    out = np.zeros((len(rows), FULL_SIZE), np.uint8)
    out[:, :OBSERVATION_SIZE] = observe(state, rows, seats)
    backwards = (state.turn[rows] >= players).astype(np.intp)
    at = state.at_seat(rows[:, None], _places(players)[backwards, seats])
    hands = count_kinds(state.hands.reshape(-1, 2)[at]).reshape(len(rows), -1)
    out[:, OBSERVATION_SIZE : OBSERVATION_SIZE + players * NUM_KINDS] = hands
    places = state.pile_at[rows].astype(np.intp)[:, None] + np.arange(NUM_CARDS)
    size = state.rules.deck_size
    cards = state.pile[rows[:, None], np.minimum(places, size - 1)]
    out[:, -NUM_CARDS:] = np.where(places < size, CARD_KIND[cards] + 1, 0)
    return out
