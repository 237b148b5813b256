"""What bots that know nothing of house rules make of them."""

from __future__ import annotations

import numpy as np
import pytest

from agents import make_agent
from eval.match import play
from uno_env import ACTIONS, GameBatch, Position, Rules
from uno_env.game.observation import SWITCH_PLACES
from uno_env.game.rules import HOUSE_RULES, PRESETS
from uno_env.rules_of_thumb import narrow

BOTS = ["greedy", "thrifty", "watcher", "expert", "trained"]


def table(**case) -> GameBatch:
    position = Position.from_case(case)
    batch = GameBatch(position.rules)
    batch.load(0, position)
    return batch


def sensible(batch: GameBatch) -> list[str]:
    return [ACTIONS[i] for i in np.flatnonzero(narrow(batch.observe(), batch.legal)[0])]


def choices(batch: GameBatch) -> dict[str, str]:
    rng = np.random.default_rng(0)
    return {bot: ACTIONS[make_agent(bot).act(batch.observe(), batch.legal, rng)[0]] for bot in BOTS}


STACK = {
    "rules": {"stacking": True},
    "hands": ["R+2 B+2 G1 W", "G4 G5", "Y1 Y2"],
    "discard": "R7 Y+2",
    "draw": "B1 B2 B3 B4 B5",
    "phase": "stack",
    "stack": 2,
}


def test_draw_cards_are_answered() -> None:
    batch = table(**STACK)
    assert sensible(batch) == ["R+2", "B+2"]
    assert set(choices(batch).values()) <= {"R+2", "B+2"}
    keen = make_agent("keen").act(batch.observe(), batch.legal, np.random.default_rng(1))
    assert ACTIONS[keen[0]] in ("R+2", "B+2")


def test_uno_is_still_said_before_an_answer() -> None:
    batch = table(**{**STACK, "hands": ["R+2 G1", "G4 G5", "Y1 Y2"]})
    assert sensible(batch) == ["R+2", "uno"]
    assert set(choices(batch).values()) == {"uno"}


def test_jumps_are_taken() -> None:
    batch = table(
        rules={"jump_in": True},
        hands=["R5 G1 G2", "B2 G4 R7"],
        discard="R3 R5",
        draw="B1",
        phase="jump_in",
        turn=0,
        on_turn=1,
    )
    assert sensible(batch) == ["R5"]
    assert set(choices(batch).values()) == {"R5"}


@pytest.mark.parametrize(("direction", "swap"), [(1, "swap:2"), (-1, "swap:2")])
def test_hands_are_swapped_with_who_has_the_fewest_cards(direction: int, swap: str) -> None:
    batch = table(
        rules={"seven_zero": True},
        hands=["G1 G2 B1", "B2 G4 R7 R8", "Y1", "Y3 Y4"],
        discard="R3 Y7",
        draw="B1",
        phase="swap",
        direction=direction,
    )
    assert sensible(batch) == [swap]
    assert set(choices(batch).values()) == {swap}


SEVEN = {"rules": {"seven_zero": True}, "discard": "R3", "draw": "B1"}


@pytest.mark.parametrize(
    ("hands", "plays"),
    [
        # A hand that is larger is not wanted, one much smaller is before all else.
        (["R7 R5 G1", "B2 G4 R8", "Y1 Y2 Y3"], ["R5"]),
        (["R7 R5 G1 G2 G3", "B2 G4", "Y1 Y2 Y3"], ["R7"]),
        (["R7 R5 G1 G2", "B2 G4", "Y1 Y2 Y3"], ["R5", "R7"]),
        # A zero brings the hand of who sits before.
        (["R0 R5 G1", "B2", "Y1 Y2 Y3"], ["R5"]),
        (["R0 R5 G1 G2", "B2 B3 B4 B5", "Y1"], ["R0"]),
        # Where nothing else can be played, it is.
        (["R7 G5 G1", "B2 G4 R8", "Y1 Y2 Y3"], ["R7"]),
        (["R7", "B2 G4 R8", "Y1 Y2 Y3"], ["R7"]),
    ],
)
def test_sevens_and_zeros_are_played_where_they_pay(hands: list[str], plays: list[str]) -> None:
    found = [text for text in sensible(table(**SEVEN, hands=hands)) if text[0] == "R"]
    assert found == plays


def test_without_house_rules_nothing_changes() -> None:
    for preset in PRESETS:
        batch = GameBatch(preset, 50, seed=1)
        mask = batch.legal
        assert narrow(batch.observe(), mask) is mask


@pytest.mark.parametrize("bot", ["keen", *BOTS])
def test_bots_play_whole_rounds_under_all_house_rules(bot: str) -> None:
    for switches in ({"wild_draw_four": "bluff"}, {"voluntary_draw": "without_match"}):
        rules = Rules(num_players=4, **dict.fromkeys(HOUSE_RULES, True), **switches)
        result = play([make_agent(bot), *[make_agent("keen")] * 3], rules, deals=30)
        assert result.truncated == 0
        # Rounds won by one pair or the other: a partner plays for both.
        assert 0 < result.wins[0] + result.wins[2] < result.rounds


@pytest.mark.parametrize("players", [2, 4])
def test_swapping_for_smaller_hands_wins_more(players: int) -> None:
    """`greedy` against itself without the rules of thumb."""

    class Ignorant(type(make_agent("greedy"))):
        name = "ignorant"

        def act(self, observation, mask, rng):
            plain = observation.copy()
            plain[:, SWITCH_PLACES["seven_zero"]] = 0
            return super().act(plain, mask, rng)

    result = play(
        ["greedy", *[Ignorant()] * (players - 1)], {"seven_zero": True}, deals=2_000 // players
    )
    assert result.win_rate().low > 1 / players
