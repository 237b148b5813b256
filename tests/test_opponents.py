"""The pool: who is met how often."""

from __future__ import annotations

import numpy as np
import pytest

from agents import make_agent
from train.opponents import OpponentPool


def make_pool(**options: object) -> OpponentPool:
    settings = {"past_share": 0.5, "max_past": 4, "floor": 0.0, **options}
    return OpponentPool(["keen", "greedy", "expert"], **settings)


def play(pool: OpponentPool, wins: dict[int, float], players: int, rounds: int = 100_000) -> None:
    for agent, share in wins.items():
        won = np.arange(rounds) < share * rounds
        pool.record(np.full(rounds, agent), won, players)
    pool.update()


def test_strength_is_a_half_where_the_share_of_wins_is_even() -> None:
    pool = make_pool()
    for players in (2, 3, 7, 10):
        assert pool.strength(players) == pytest.approx(0.5)
        play(pool, {0: 1 / players}, players)
        assert pool.strength(players)[0] == pytest.approx(0.5, abs=1e-4)
    # At a table of three others, twice as strong as each of them wins 2 rounds of 5.
    play(pool, {1: 0.4}, 4)
    assert pool.strength(4)[1] == pytest.approx(2 / 3, abs=1e-3)


def test_the_hardest_are_met_most_often() -> None:
    pool = make_pool(power=2.0)
    play(pool, {0: 0.8, 1: 0.6, 2: 0.4}, 2)
    weights = np.array([0.2, 0.4, 0.6]) ** 2
    np.testing.assert_allclose(pool.shares(2), weights / weights.sum(), atol=1e-3)
    met = np.bincount(pool.choose(100_000, np.random.default_rng(0), 2))
    np.testing.assert_allclose(met / met.sum(), pool.shares(2), atol=0.01)


def test_equals_are_met_most_often_if_asked() -> None:
    pool = make_pool(weighting="equals")
    play(pool, {0: 0.95, 1: 0.5, 2: 0.1}, 2)
    weights = np.array([0.95 * 0.05, 0.25, 0.09])
    np.testing.assert_allclose(pool.shares(2), weights / weights.sum(), atol=1e-3)
    play(even := make_pool(weighting="even"), {0: 0.95, 1: 0.5}, 2)
    np.testing.assert_allclose(even.shares(2), 1 / 3)


def test_nobody_is_forgotten() -> None:
    pool = make_pool(floor=0.3, power=3.0)
    play(pool, {0: 1.0, 1: 0.5, 2: 0.5}, 2)
    assert pool.shares(2)[0] == pytest.approx(0.1, abs=1e-3)
    assert pool.shares(2).sum() == pytest.approx(1)


def test_numbers_of_players_are_told_apart() -> None:
    pool = make_pool()
    play(pool, {0: 0.9, 1: 0.1}, 2)
    play(pool, {0: 0.1, 1: 0.6}, 4)
    assert pool.shares(2)[0] < pool.shares(2)[1]
    assert pool.shares(4)[0] > pool.shares(4)[1]
    np.testing.assert_allclose(pool.shares(7), 1 / 3)


def test_older_rounds_count_less() -> None:
    pool = make_pool(half_life=2.0)
    play(pool, {0: 0.9}, 2, rounds=1_000)
    for _ in range(40):
        pool.update()
    play(pool, {0: 0.2}, 2, rounds=1_000)
    assert pool.strength(2)[0] < 0.22
    assert pool.rounds[0] == 2_000, "all rounds are still told"
    assert pool.wins[0] == 1_100


def test_shares_stay_until_the_next_update() -> None:
    pool = make_pool()
    before = pool.shares(2).copy()
    pool.record(np.zeros(1_000, np.intp), np.ones(1_000, np.bool_), 2)
    assert (pool.shares(2) == before).all()
    pool.update()
    assert pool.shares(2)[0] < before[0]


def test_past_selves_have_their_share_and_the_hard_ones_play() -> None:
    rng = np.random.default_rng(0)
    pool = make_pool(past_share=0.4, present_past=2, max_past=5)
    for _ in range(4):
        pool.add_past(make_agent("greedy"), rng)
    assert pool.shares(2)[3:].sum() == pytest.approx(0.4)
    assert np.count_nonzero(pool.shares(2)[3:]) == 2
    play(pool, {3: 1.0, 4: 1.0, 5: 1.0, 6: 0.5}, 2)
    times = np.zeros(8)
    for _ in range(200):
        # One that makes room is new again.
        pool.agents = pool.agents[:7]
        pool.add_past(make_agent("greedy"), rng)
        times[pool.present] += 1
    assert times[6] > 3 * times[3:6].max()
    assert times[7] > 3 * times[3:6].max()


def test_wrong_settings_are_refused() -> None:
    for wrong, message in (
        ({"weighting": "soft"}, "weighting='soft': allowed is one of hard, equals, even"),
        ({"power": -1.0}, "power=-1.0: allowed is a number from 0"),
        ({"floor": 1.5}, "floor=1.5: allowed is a number from 0 to 1"),
        ({"half_life": 0.0}, "half_life=0.0: allowed is a number above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            make_pool(**wrong)
