"""A machine that plays whatever it likes by whatever rules, and looks after each step at all that
has to hold ("Always true" in the rulebook)."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from uno_env import ACTIONS, GameBatch, Rules
from uno_env.game import scoring
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.cards import CARD_KIND, CARDS
from uno_env.game.observation import LAYOUT
from uno_env.game.rules import HOUSE_RULES

GAMES = 3
VALUES = {
    "num_players": st.integers(2, 10),
    "deck": st.sampled_from(["angry_birds", "classic"]),
    "dealer_draw": st.sampled_from(["symbols_zero", "numbers_only"]),
    "voluntary_draw": st.sampled_from(["always", "without_match"]),
    "drawn_card": st.sampled_from(["optional", "forced"]),
    "wild_draw_four": st.sampled_from(["no_matching_colour", "no_matching_card", "bluff"]),
    "uno_call": st.sampled_from(["explicit", "automatic"]),
    "uno_enforcement": st.sampled_from(["caught", "automatic"]),
    "uno_penalty": st.integers(1, 10),
    "king_pig_recipients": st.sampled_from(["all", "opponents"]),
    "last_card_draws": st.booleans(),
    "action_points": st.integers(0, 500),
    "wild_points": st.integers(0, 500),
    "scoring": st.sampled_from(["winner", "lowest"]),
    "target": st.integers(1, 2_000),
    **dict.fromkeys(HOUSE_RULES, st.booleans()),
}
"""What each switch may be."""


@st.composite
def some_rules(draw: st.DrawFn) -> Rules:
    values = {name: draw(strategy) for name, strategy in VALUES.items()}
    if values["partners"]:
        values["num_players"] = 4
    return Rules(**values)


def test_every_switch_is_varied() -> None:
    assert set(VALUES) == {field.name for field in dataclasses.fields(Rules)}


class Machine(RuleBasedStateMachine):
    """Some games side by side, each with a copy that must not change with it."""

    @initialize(rules=some_rules(), seed=st.integers(0, 2**64 - 1))
    def deal(self, rules: Rules, seed: int) -> None:
        self.batch = GameBatch(rules, GAMES, seed)
        self.copy = self.batch.copy()
        self.copied = self.snapshot(self.copy)
        self.rewards = np.zeros((GAMES, rules.num_players), np.float32)
        self.deck = Counter(CARDS[kind] for kind in CARD_KIND[: rules.deck_size])

    @staticmethod
    def snapshot(batch: GameBatch) -> list[object]:
        return [batch.position(game) for game in range(batch.num_games)]

    @precondition(lambda self: not self.batch.done.all())
    @rule(chance=st.integers(0, 2**32 - 1), eager=st.booleans(), steps=st.integers(1, 25))
    def play_on(self, chance: int, eager: bool, steps: int) -> None:
        """Any legal actions, or any but draws, keeps and passes where there are others."""
        rng = np.random.default_rng(chance)
        for _ in range(steps):
            legal = self.batch.legal
            wanted = legal.copy()
            if eager:
                wanted[:, [Action.DRAW, Action.KEEP, Action.LET_GO, Action.ACCEPT]] = False
                wanted[~wanted.any(axis=1)] = legal[~wanted.any(axis=1)]
            actions = (wanted * (1 + rng.random(wanted.shape))).argmax(axis=1)
            before = self.batch.done
            self.rewards, done = self.batch.step(self.batch.check(actions))
            assert (done >= before).all()
            if done.any():
                break

    @precondition(lambda self: self.batch.done.any())
    @rule()
    def deal_again(self) -> None:
        """The next round of what is over, or a new game where a total has reached the target."""
        over = self.batch.game_over
        self.batch.next_round(self.batch.done & ~over)
        self.batch.reset(over)
        self.rewards[:] = 0

    @rule(game=st.integers(0, GAMES - 1))
    def put_back(self, game: int) -> None:
        """A position read off and loaded is the same game, and as text too."""
        position = self.batch.position(game)
        assert type(position).parse(str(position)) == position
        other = GameBatch(self.batch.rules, 2, seed=1)
        other.load(1, position)
        assert other.position(1) == position
        assert np.array_equal(other.legal[1], self.batch.legal[game])
        assert np.array_equal(other.observe(0)[1], self.batch.observe(0)[game])
        self.batch.load(game, position)

    @rule()
    def take_a_copy(self) -> None:
        assert self.snapshot(self.copy) == self.copied, "a copy changed with its original"
        self.copy = self.batch.take(np.arange(GAMES))
        self.copied = self.snapshot(self.copy)

    @invariant()
    def the_deck_is_whole(self) -> None:
        for position in self.snapshot(self.batch):
            cards = Counter(position.draw) + Counter(position.discard)
            for hand in position.hands:
                cards += Counter(hand)
            assert cards == self.deck
            assert position.direction in (1, -1)

    @invariant()
    def one_seat_acts_and_can(self) -> None:
        legal, done = self.batch.legal, self.batch.done
        assert (legal.any(axis=1) == ~done).all()
        assert (self.batch.player < self.batch.rules.num_players).all()
        acting = np.zeros(GAMES, np.intp)
        for seat in range(self.batch.rules.num_players):
            acting += self.batch.observe(seat)[:, LAYOUT["to_act"].start]
        assert (acting == ~done).all()

    @invariant()
    def the_mask_is_what_the_reasons_say(self) -> None:
        legal = self.batch.legal
        for game in range(GAMES):
            for action in range(NUM_ACTIONS):
                why = self.batch.why_illegal(game, action)
                assert (why is None) == legal[game, action], (ACTIONS[action], why)

    @invariant()
    def what_one_gains_others_lose(self) -> None:
        assert np.abs(self.rewards.sum(axis=1)).max() < 1e-5
        points = scoring.point_rewards(self.batch.rules, self.batch.points)
        assert np.abs(points.sum(axis=1)).max() < 1e-2
        won = self.batch.winner >= 0
        assert (self.batch.done >= won).all()
        assert (self.batch.points[~won] == 0).all()


def run(examples: int, steps: int) -> None:
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Machine, settings=chosen)


def test_all_that_has_to_hold_does() -> None:
    run(examples=25, steps=25)


@pytest.mark.long
def test_all_that_has_to_hold_does_for_long() -> None:
    run(examples=1_000, steps=60)
