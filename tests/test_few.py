"""Few games, stepped one by one, take the same course as they do among many, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from test_batch import some_legal

from uno_env import ACTIONS, GameBatch, Rules
from uno_env.game import few
from uno_env.game.engine import FEW_TO_STEP
from uno_env.game.rules import HOUSE_RULES

GAMES = FEW_TO_STEP + 4
TABLES = [
    *(Rules.preset(name, num_players=players) for name in ("angry_birds", "classic", "official")
      for players in (2, 3, 10)),
    Rules.preset("angry_birds", num_players=4, wild_draw_four="bluff", uno_call="automatic"),
    Rules.preset("angry_birds", num_players=2, voluntary_draw="without_match",
                 uno_enforcement="automatic", king_pig_recipients="opponents"),
    Rules.preset("angry_birds", num_players=3, drawn_card="forced", last_card_draws=False,
                 wild_draw_four="no_matching_card"),
    Rules.preset("official", num_players=4, **dict.fromkeys(HOUSE_RULES, True)),
    Rules.preset("angry_birds", num_players=3, stacking=True),
]  # fmt: skip


@pytest.mark.parametrize("rules", TABLES, ids=str)
def test_state_and_what_is_seen_equal_those_of_a_game_among_many(rules: Rules) -> None:
    many = GameBatch(rules, GAMES, seed=40)
    ones = [GameBatch(rules, 1, seed=40 + game) for game in range(GAMES)]
    apart = GameBatch(rules, GAMES, seed=40)
    for number in range(300):
        # Every third choice is any legal action, so that cards are drawn, kept and not called.
        legal = many.legal
        any_legal = (legal * np.random.default_rng(number).random(legal.shape)).argmax(axis=1)
        actions = any_legal if number % 3 == 0 else some_legal(many, number)
        rewards, done = many.step(actions)
        for start in range(0, GAMES, 4):
            games = np.arange(start, start + 4)[::-1]
            own_rewards, own_done = apart.step(actions[games], games)
            assert np.array_equal(own_rewards, rewards[games])
            assert np.array_equal(own_done, done[games])
        for name, array in many.state.arrays().items():
            assert np.array_equal(array, getattr(apart.state, name)), f"step {number}: {name}"
        seat = number % rules.num_players
        seen, legal = many.observe(seat), many.legal
        acting = many.observe()
        for game, one in enumerate(ones):
            what = f"step {number}, game {game}, {ACTIONS[actions[game]]}"
            own_rewards, own_done = one.step(actions[game : game + 1])
            assert own_rewards.tolist() == [rewards[game].tolist()], what
            assert own_done.tolist() == [done[game]], what
            for name, array in many.state.arrays().items():
                own = getattr(one.state, name)[0]
                assert np.array_equal(array[game], own), f"{what}: {name}"
            assert np.array_equal(one.observe(seat)[0], seen[game]), what
            assert np.array_equal(one.observe()[0], acting[game]), what
            assert np.array_equal(one.legal[0], legal[game]), what
            if done[game]:
                one.next_round()
        if done.any():
            many.next_round(done)
            apart.next_round(done)


def test_most_steps_are_taken_the_short_way() -> None:
    batch, taken = GameBatch("angry_birds", 1, seed=0), 0
    for number in range(1_000):
        taken += few.step(batch.take([0]).state, 0, int(some_legal(batch, number)[0]))
        batch.step(some_legal(batch, number))
        if batch.done[0]:
            batch.reset()
    assert taken > 850


def test_what_is_not_taken_changes_nothing() -> None:
    refused = 0
    batch = GameBatch(Rules.preset("official", num_players=3), 1, seed=3)
    for number in range(1_000):
        copy = batch.copy()
        if not few.step(copy.state, 0, int(some_legal(batch, number)[0])):
            refused += 1
            for name, array in batch.state.arrays().items():
                assert np.array_equal(array, getattr(copy.state, name)), name
        batch.step(some_legal(batch, number))
        if batch.done[0]:
            batch.reset()
    assert refused > 20


def test_what_is_seen_is_a_new_array_to_write_on() -> None:
    batch = GameBatch("angry_birds", 1)
    for array in (batch.observe(), batch.legal):
        before = array.copy()
        array[:] = 0
        assert np.array_equal(before, batch.observe() if before.dtype == np.uint8 else batch.legal)
