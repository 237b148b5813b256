"""What policy networks are given of situations and of legal actions."""

from __future__ import annotations

import numpy as np
import pytest

from agents import make_agent
from uno_env import GameBatch, Position, Rules
from uno_env.features import NAMES
from uno_env.game.actions import parse_action
from uno_env.game.rules import PRESETS
from uno_env.inputs import (
    ACTION_PLACES,
    ACTION_SIZE,
    SITUATION_PLACES,
    SITUATION_SIZE,
    inputs,
    situations,
)
from uno_env.legal_actions import LegalActions


def of_case(**case) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The situation of a position, and what is known of each action, by name."""
    position = Position.from_case(case)
    batch = GameBatch(position.rules)
    batch.load(0, position)
    legal = LegalActions.of(batch.legal)
    situation, action = inputs(batch.observe(), legal)
    by_id = dict(zip(legal.actions.tolist(), action, strict=True))

    class Known(dict):
        def __missing__(self, text: str) -> np.ndarray:
            return by_id[parse_action(text)]

    return situation[0], Known()


def some_choices(rules: Rules, games: int = 100) -> GameBatch:
    batch = GameBatch(rules, games, seed=3)
    rng, keen = np.random.default_rng(0), make_agent("keen")
    for _ in range(20):
        batch.step(keen.act(batch.observe(), batch.legal, rng))
        batch.reset(batch.done)
    return batch


THREE = {
    "rules": "angry_birds num_players=3 target=500",
    "hands": ["R5 R7 R7 GS W W", "Y1 Y2", "B1 B2 B3"],
    "discard": "B9 R1",
    "draw": "G0 G1 G2",
    "scores": [250, 100, 400],
}


def test_a_situation() -> None:
    situation, _ = of_case(**THREE)
    expected = {
        "said": [0],
        "size": [6 / 8],
        "size_is": [0, 0, 0, 0],
        "wilds": [2 / 2],
        "next": [2 / 8, 0, 1, 0],
        "last": [3 / 8, 0, 0, 1],
        "lowest": [2 / 8, 0, 1, 0],
        "second": [3 / 8, 0, 0, 1],
        "mean": [2.5 / 8],
        "players": [0, 1, 0],
        "even": [1 / 3],
        "pile": [3 / 64],
        "colours": [3 / 4, 1 / 4, 0, 0],
        "numbers": [3 / 8],
        "symbols": [1 / 2, 0, 0, 2 / 2, 0, 0],
        "active": [3 / 4],
        "scores": [250 / 500, 400 / 500],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(situation[SITUATION_PLACES[name]], values, err_msg=name)
    assert situation[SITUATION_PLACES["phase"]].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0]


def test_what_actions_do() -> None:
    _, actions = of_case(**THREE)
    expected = {
        "R7": {"held": [3 / 4], "copies": [2 / 2], "same_symbol": [2 / 4], "again": [0]},
        "W:G": {"held": [1 / 4], "copies": [2 / 2], "same_symbol": [2 / 4], "again": [0]},
        "draw": {"held": [0], "copies": [0], "size_next": [0, 0, 0], "kind": [1] + 8 * [0]},
    }
    for action, parts in expected.items():
        for name, values in parts.items():
            found = actions[action][ACTION_PLACES[name]]
            np.testing.assert_allclose(found, values, err_msg=f"{action} {name}")
    # A red card: the next acts after it, who has two cards.
    np.testing.assert_allclose(actions["R5"][ACTION_PLACES["size_next"]], [2 / 8, 0, 1])
    assert actions["R5"][ACTION_PLACES["symbol"]].argmax() == 5
    assert actions["W:B"][ACTION_PLACES["symbol"]].argmax() == 13
    features = dict(zip(NAMES, actions["W:B"][ACTION_PLACES["features"]], strict=True))
    assert features["wild"] == 1
    assert features["another_wild"] == 1
    assert not actions["draw"][ACTION_PLACES["features"]].any()


def test_a_skip_among_three_passes_the_next_over() -> None:
    _, actions = of_case(**{**THREE, "discard": "B9 GS"})
    np.testing.assert_allclose(actions["GS"][ACTION_PLACES["size_next"]], [3 / 8, 0, 0])
    _, actions = of_case(rules="angry_birds", hands=["GS R1 R2", "Y1"], discard="G1", draw="B1")
    assert actions["GS"][ACTION_PLACES["again"]].tolist() == [1]


def test_what_is_remembered_counts() -> None:
    """A colour that the next seat drew on is less likely in its hand."""
    case = {**THREE, "hands": ["R5 Y5 W", "Y1 Y2", "B1 B2 B3"], "discard": "B9 R1"}
    _, before = of_case(**case)
    _, after = of_case(**case, lack=[[15, 15, 15, 15], [0, 15, 15, 15], [15, 15, 15, 15]])
    place = ACTION_PLACES["holds_next"]
    assert after["R5"][place] < before["R5"][place]
    assert after["W:B"][place] == before["W:B"][place] > 0


def test_a_challenge_is_told_of_the_colour_that_was_active() -> None:
    """Rule "Bluffing": guilty is who held that colour, whatever else it may hold."""
    case = {
        "rules": "official num_players=2",
        "hands": ["R1 R2 R3", "B1 B2 B3 B4 B5 B6 B7"],
        "discard": "R7 W+4",
        "colour": "B",
        "phase": "challenge",
        "turn": 0,
        "on_turn": 1,
        "colour_before": "R",
        "guilty": False,
    }
    guilt = []
    for lack in ((15, 15, 15, 15), (0, 15, 15, 15), (15, 0, 0, 0)):
        _, actions = of_case(**case, lack=[[15, 15, 15, 15], list(lack)])
        guilt.append(float(actions["challenge"][ACTION_PLACES["guilt"]][0]))
    assert guilt[1] == 0 < guilt[0] == guilt[2]
    assert not actions["accept"][ACTION_PLACES["guilt"]].any()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("players", [2, 4, 10])
def test_numbers_are_small_and_do_not_depend_on_what_else_is_asked(preset, players) -> None:
    batch = some_choices(Rules.preset(preset, num_players=players))
    observation, legal = batch.observe(), LegalActions.of(batch.legal)
    situation, action = inputs(observation, legal)
    assert situation.shape == (100, SITUATION_SIZE)
    assert action.shape == (len(legal.rows), ACTION_SIZE)
    for numbers in (situation, action):
        assert np.isfinite(numbers).all()
        assert -1 <= numbers.min() <= numbers.max() <= 16
    np.testing.assert_array_equal(situations(observation), situation)
    other = some_choices(Rules.preset("classic", num_players=3))
    mixed = np.random.default_rng(0).permutation(200)
    seen = np.concatenate([observation, other.observe()])[mixed]
    mask = np.concatenate([batch.legal, other.legal])[mixed]
    together, _ = inputs(seen, LegalActions.of(mask))
    np.testing.assert_array_equal(together[mixed < 100], situation[mixed[mixed < 100]])


def test_of_nothing_there_is_nothing() -> None:
    batch = GameBatch("classic", 1)
    situation, action = inputs(batch.observe()[:0], LegalActions.of(batch.legal[:0]))
    assert situation.shape == (0, SITUATION_SIZE)
    assert action.shape == (0, ACTION_SIZE)


def test_legal_actions_of_some_rows() -> None:
    mask = np.zeros((3, 84), np.bool_)
    mask[0, [1, 2]] = mask[1, 64] = mask[2, [3, 5]] = True
    legal = LegalActions.of(mask)
    some = legal.of_rows(np.array([0, 2]), np.array([0, 1, 3, 4]))
    assert some.rows.tolist() == [0, 0, 1, 1]
    assert some.actions.tolist() == [1, 2, 3, 5]
    assert some.counts.tolist() == [2, 2]
    assert some.starts.tolist() == [0, 2]
