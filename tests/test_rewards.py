"""Points of cards, and the rewards that follow from points and wins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from uno_env import Rules
from uno_env.game.cards import CARD_BITS
from uno_env.game.scoring import (
    card_points,
    hand_points,
    point_rewards,
    round_rewards,
    win_rewards,
)


@pytest.mark.parametrize(("preset", "points"), [("angry_birds", 2160), ("classic", 1240)])
def test_points_of_a_whole_deck(preset: str, points: int) -> None:
    """Rule "Presets and switches": 2160 with the Angry Birds values, 1240 with the classic."""
    rules = Rules.preset(preset)
    deck = CARD_BITS[: rules.deck_size]
    assert hand_points(rules, deck).dtype == np.int32
    assert hand_points(rules, deck).sum() == points
    assert hand_points(rules, np.bitwise_or.reduce(deck)) == points


def test_cards_may_be_worth_nothing() -> None:
    rules = Rules(action_points=0, wild_points=0)
    assert hand_points(rules, np.bitwise_or.reduce(CARD_BITS)) == 4 * 2 * sum(range(10))


@pytest.mark.parametrize(
    ("winners", "rewards"),
    [
        ([1, 0], [1, -1]),
        ([0, 1], [-1, 1]),
        ([0, 0, 1, 0, 0], [*2 * [Fraction(-1, 4)], 1, *2 * [Fraction(-1, 4)]]),
        ([1, 0, 1, 0], [Fraction(1, 3), Fraction(-1, 3)] * 2),
        ([1, 1, 0], [Fraction(1, 4), Fraction(1, 4), Fraction(-1, 2)]),
        ([1, 1], [0, 0]),
        ([0, 0, 0], [0, 0, 0]),
    ],
)
def test_winning_takes_from_the_losers(winners: list[int], rewards: list[Fraction]) -> None:
    """A sole winner gets 1 and the P - 1 others -1 / (P - 1) each; winners share what one gets."""
    given = win_rewards(np.array([winners, winners], bool))
    assert given.dtype == np.float32
    assert given == pytest.approx(np.array([rewards, rewards], float))


def test_each_game_is_rewarded_by_itself() -> None:
    winners = np.array([[1, 0, 0], [0, 0, 0], [0, 1, 1]], bool)
    one_by_one = np.concatenate([win_rewards(game) for game in winners[:, None]])
    assert win_rewards(winners) == pytest.approx(one_by_one)
    points = np.array([[30, 0, 0], [0, 0, 0], [5, 7, 9]], np.int32)
    one_by_one = np.concatenate(
        [point_rewards(Rules(num_players=3), game) for game in points[:, None]]
    )
    assert point_rewards(Rules(num_players=3), points) == pytest.approx(one_by_one)


@pytest.mark.parametrize("players", [2, 3, 10])
def test_who_goes_out_wins_the_round(players: int) -> None:
    rewards = round_rewards(Rules(num_players=players))
    assert rewards[:-1] == pytest.approx(win_rewards(np.eye(players, dtype=bool)))
    assert rewards[-1].tolist() == [0] * players  # a blocked round


def test_partners_win_the_round_together() -> None:
    """Rule "Partners": opposite seats are a pair, and the reward of a win is shared."""
    rewards = 3 * round_rewards(Rules(num_players=4, partners=True))
    assert rewards == pytest.approx(np.array([[1, -1, 1, -1], [-1, 1, -1, 1]] * 2 + [[0] * 4]))


@pytest.mark.parametrize(
    ("points", "rewards"),
    [
        ([30, 0], [30, -30]),
        ([0, 30, 0], [-15, 30, -15]),
        ([12, 0, 7, 5], [8, -8, Fraction(4, 3), Fraction(-4, 3)]),
        ([0, 0, 0], [0, 0, 0]),
    ],
)
def test_points_count_against_the_mean_of_the_others(
    points: list[int], rewards: list[Fraction]
) -> None:
    """Where the lowest total wins they count the other way round."""
    both = np.array([points, points], np.int32)
    for scoring, sign in (("winner", 1), ("lowest", -1)):
        given = point_rewards(Rules(num_players=len(points), scoring=scoring), both)
        assert given.dtype == np.float32
        assert given == pytest.approx(sign * np.array([rewards, rewards], float))
    assert both.tolist() == [points, points]


def test_what_is_kept_for_all_games_cannot_be_written_on() -> None:
    rules = Rules.preset("angry_birds")
    for kept in (card_points(rules), round_rewards(rules)):
        with pytest.raises(ValueError, match="read-only"):
            kept[:] = 0
