"""Chance is fair: shuffles, deals, first players, opening cards, King Pigs, neighbouring games.

Each test has a fixed seed and compares counts with exact expectations by Pearson's chi-square. The
limit is the value that a fair shuffle exceeds once in 10,000 tests (`ALARM`), so that a seed that
passes says something and the tests as a whole hardly ever fail for nothing when a seed is changed.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from uno_env import GameBatch, Rules
from uno_env.game import dealing, scoring
from uno_env.game.cards import (
    CARD_COLOUR,
    CARD_KIND,
    COPIES,
    KIND_OF_TEXT,
    NUM_KINDS,
    kind_of_face,
    set_sizes,
)
from uno_env.game.state import NO_SEAT, State

ALARM = 1e-4
DEALS = 40_000


def tail(statistic: float, freedom: int) -> float:
    """The probability that chi-square with so many degrees of freedom is above a value.

    Wilson and Hilferty's cube root, which is good to a few per cent in the tails that matter here.
    """
    spread = 2 / (9 * freedom)
    z = ((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    return math.erfc(z / math.sqrt(2)) / 2


def assert_fair(counts: np.ndarray, expected: np.ndarray, freedom: int | None = None) -> None:
    """Counts are those expected; `freedom` is one less than there are, unless told otherwise."""
    assert counts.shape == expected.shape
    assert counts.sum() == pytest.approx(expected.sum())
    assert expected.min() > 5, "too few to compare"
    statistic = float((np.square(counts - expected) / expected).sum())
    assert tail(statistic, freedom or counts.size - 1) > ALARM, (statistic, counts, expected)


def test_the_yardstick() -> None:
    """Tails from tables of chi-square, and a die that is loaded by a tenth is noticed."""
    for statistic, freedom, probability in (
        (3.841, 1, 0.05),
        (29.59, 10, 0.001),
        (61.66, 30, 6e-4),
    ):
        assert tail(statistic, freedom) == pytest.approx(probability, rel=0.15)
    die = np.random.default_rng(0).multinomial(60_000, [1.1 / 6.1, *[1 / 6.1] * 5])
    with pytest.raises(AssertionError):
        assert_fair(die, np.full(6, 10_000.0))


def dealt(rules: Rules, seed: int) -> State:
    """Shuffled and dealt, but no card turned up yet."""
    state = State.empty(rules, DEALS)
    rows = np.arange(DEALS)
    dealing.seed_streams(state, rows, np.uint64(seed) + rows.astype(np.uint64))
    dealing.deal_round(state, rows)
    return state


def test_every_card_comes_to_every_place_alike() -> None:
    """Of the whole pile, cut into eighths: each card in each of them."""
    state = dealt(Rules(num_players=2), seed=1)
    size = state.rules.deck_size
    counts = np.zeros((size, 8), np.int64)
    places = np.arange(size) * 8 // size
    np.add.at(counts, (state.pile.astype(np.intp), np.broadcast_to(places, state.pile.shape)), 1)
    expected = np.full(counts.shape, DEALS) * np.bincount(places) / size
    # Each card lies somewhere, each place holds a card: both margins are fixed.
    assert_fair(counts, expected, freedom=(size - 1) * 7)


def test_cards_side_by_side_know_nothing_of_each_other() -> None:
    """The colours of the first two cards of a pile: as without putting the first back."""
    state = dealt(Rules(num_players=2), seed=2)
    colour = CARD_COLOUR[state.pile[:, :2]].astype(np.intp)
    counts = np.zeros((5, 5), np.int64)
    np.add.at(counts, (colour[:, 0], colour[:, 1]), 1)
    of_colour = np.bincount(CARD_COLOUR[: state.rules.deck_size]).astype(float)
    size = state.rules.deck_size
    expected = np.outer(of_colour, of_colour) - np.diag(of_colour)
    assert_fair(counts, DEALS * expected / (size * (size - 1)))


@pytest.mark.parametrize("players", [2, 3, 10])
def test_every_seat_is_dealt_every_kind_alike(players: int) -> None:
    state = dealt(Rules(num_players=players), seed=3)
    bits = state.hands
    kinds = CARD_KIND[: state.rules.deck_size]
    from_cards = np.stack(
        [(bits & dealing.CARD_BITS[card]).any(axis=2).sum(axis=0) for card in range(len(kinds))]
    )
    counts = np.zeros((NUM_KINDS, players), np.int64)
    np.add.at(counts, kinds, from_cards)
    share = COPIES[:, None] / len(kinds)
    assert_fair(counts, np.broadcast_to(7 * DEALS * share, counts.shape), (NUM_KINDS - 1) * players)
    assert (set_sizes(bits) == 7).all()


@pytest.mark.parametrize("preset", ["angry_birds", "classic"])
@pytest.mark.parametrize("players", [2, 3, 7])
def test_every_seat_deals_as_often(preset: str, players: int) -> None:
    batch = GameBatch(Rules.preset(preset, num_players=players), DEALS, seed=4)
    counts = np.bincount(batch.state.dealer, minlength=players)
    assert_fair(counts, np.full(players, DEALS / players))


def test_opening_cards() -> None:
    """All cards but the Wild Draw 4, which goes back, alike."""
    batch = GameBatch("angry_birds", DEALS, seed=5)
    kinds = np.array([kind_of_face(face) for face in batch.state.top.tolist()])
    counts = np.bincount(kinds, minlength=NUM_KINDS)
    four = KIND_OF_TEXT["W+4"]
    assert counts[four] == 0
    copies = np.delete(COPIES, four).astype(float)
    assert_fair(np.delete(counts, four), DEALS * copies / copies.sum())


@pytest.mark.parametrize("players", [3, 5])
def test_first_players(players: int) -> None:
    """By the opening card, from the dealer: skipped, reversed, or the seat on its left."""
    batch = GameBatch(Rules(num_players=players), DEALS, seed=6)
    place = (batch.player - batch.state.dealer.astype(np.intp)) % players
    counts = np.bincount(place, minlength=players)
    expected = np.zeros(players)
    skipping, reversing, cards = 16, 8, 108  # Skips and Draw Twos; of all but the Wild Draw 4
    expected[2 % players] += skipping
    expected[0] += reversing
    expected[1] += cards - skipping - reversing
    some = expected > 0
    assert (counts[~some] == 0).all()
    assert_fair(counts[some], DEALS * expected[some] / cards)


def test_king_pigs_run_as_long_as_they_have_to() -> None:
    """Cards dealt up to the first of a colour: 25 of 112 are, so negative hypergeometric."""
    rules = Rules(num_players=2)
    state = State.empty(rules, DEALS)
    rows = np.arange(DEALS)
    dealing.seed_streams(state, rows, np.uint64(7) + rows.astype(np.uint64))
    dealing._shuffle_deck(state, rows)
    colours = rows % 4
    seats = np.broadcast_to(np.array([[1], [0]]), (2, DEALS))
    dealing.deal_until_colour(state, rows, seats, colours)
    lengths = set_sizes(state.hands).sum(axis=1)
    assert np.array_equal(state.pile_at, lengths)
    chances, none_yet = [], 1.0
    for length in range(1, 89):
        left = rules.deck_size - length + 1
        chances.append(none_yet * 25 / left)
        none_yet *= 1 - 25 / left
    assert sum(chances) == pytest.approx(1)
    longest = 24
    counts = np.bincount(np.minimum(lengths, longest), minlength=longest + 1)[1:]
    expected = np.array([*chances[: longest - 1], sum(chances[longest - 1 :])])
    assert_fair(counts, DEALS * expected)


def test_games_with_neighbouring_seeds_know_nothing_of_each_other() -> None:
    """First cards of piles, and what is dealt to a hand, of each game and the next."""
    state = dealt(Rules(num_players=2), seed=8)
    first = CARD_COLOUR[state.pile[:, 14]].astype(np.intp)
    counts = np.zeros((5, 5), np.int64)
    np.add.at(counts, (first[:-1], first[1:]), 1)
    shares = np.bincount(CARD_COLOUR[:112]) / 112
    assert_fair(counts, (DEALS - 1) * np.outer(shares, shares))
    points = scoring.hand_points(state.rules, state.hands)[:, 0].astype(float)
    for apart in (1, 2, 64):
        correlation = np.corrcoef(points[:-apart], points[apart:])[0, 1]
        assert abs(correlation) * math.sqrt(DEALS) < 3.9  # exceeded with ALARM, both ways


def test_rounds_of_a_game_know_nothing_of_each_other() -> None:
    batch = GameBatch("angry_birds", DEALS, seed=9)
    rounds = []
    for _ in range(4):
        rounds.append(scoring.hand_points(batch.rules, batch.state.hands)[:, 1].astype(float))
        batch.state.phase[:] = 8
        batch.state.winner[:] = NO_SEAT
        batch.next_round()
    for before, after in pairwise(rounds):
        assert abs(np.corrcoef(before, after)[0, 1]) * math.sqrt(DEALS) < 3.9
