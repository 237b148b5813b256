"""The policies that ship with the package, and the player that picks among them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from agents import make_agent
from eval.match import play
from uno_env import GameBatch, Rules
from uno_env.game.rules import PRESETS
from uno_env.policies import FAMILIES, GOALS, Goal, TrainedPlayer, path_of
from uno_env.policy import Policy


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("preset", PRESETS)
def test_each_preset_has_a_policy_for_each_goal_and_a_card(preset: str, goal: Goal) -> None:
    path = path_of(preset, goal)
    policy = Policy.load(path)
    assert policy.training["algorithm"] == "MaskablePPO"
    assert (policy.training["arguments"]["points_share"] > 0) == (goal == "games")
    card = path.with_suffix(".md").read_text()
    for word in (preset, "seed", "steps", "Measured", "expert", "greedy", "keen"):
        assert word in card


def test_no_policy_is_for_no_preset() -> None:
    assert set(FAMILIES) == set(PRESETS)
    shipped = set(path_of("classic").parent.glob("*.safetensors"))
    assert shipped == {path_of(preset, goal) for preset in PRESETS for goal in GOALS}
    with pytest.raises(ValueError, match="preset='chess': allowed are angry_birds"):
        path_of("chess")


def test_an_unknown_goal_is_refused() -> None:
    with pytest.raises(ValueError, match="goal='fun': allowed are rounds, games"):
        TrainedPlayer(goal="fun")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="goal='fun': allowed are rounds, games"):
        make_agent("trained:goal=fun")


def test_it_plays_each_game_by_its_rules() -> None:
    """Rows of all presets together are answered as each alone by its policy."""
    observations, masks, alone = [], [], []
    for preset in PRESETS:
        batch = GameBatch(Rules.preset(preset, num_players=3), 50, seed=1)
        observations.append(batch.observe())
        masks.append(batch.legal)
        alone.append(Policy.load(path_of(preset)).act(batch.observe(), batch.legal))
    mixed = np.random.default_rng(0).permutation(150)
    rng = np.random.default_rng(0)
    answers = TrainedPlayer().act(
        np.concatenate(observations)[mixed], np.concatenate(masks)[mixed], rng
    )
    np.testing.assert_array_equal(answers, np.concatenate(alone)[mixed])


@pytest.mark.parametrize("preset", PRESETS)
def test_it_is_better_than_greedy(preset: str) -> None:
    result = play(["trained", "greedy"], rules=preset, deals=1_000)
    assert result.win_rate().low > 0.55


def test_the_goal_of_games_wins_more_of_them() -> None:
    agents = ["trained:goal=games", "trained"]
    assert play(agents, deals=1_500, games=True, seed=3).win_rate().low > 0.5


def test_heat_makes_it_weaker() -> None:
    result = play([make_agent("trained"), make_agent("trained:temperature=20")], deals=500)
    assert result.win_rate().low > 0.6


def test_a_temperature_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="temperature=-1"):
        TrainedPlayer(-1.0)


def test_an_environment_takes_it_by_name() -> None:
    """As an opponent it does what the policy file does."""
    by_name, by_file = (
        gymnasium.make("uno_env:UnoAngryBirds-v0", num_players=3, opponents=[opponent, "random"])
        for opponent in ("trained", str(path_of("angry_birds")))
    )
    for env in (by_name, by_file):
        env.reset(seed=5)
    for _ in range(15):
        action = int(by_name.unwrapped.action_masks().argmax())
        one, two = by_name.step(action), by_file.step(action)
        np.testing.assert_array_equal(one[0], two[0])
        if one[2] or one[3]:
            break


def test_the_installed_package_is_enough(tmp_path: Path) -> None:
    """Neither torch nor `agents`, which the wheel does not hold, is needed to play against it."""
    program = (
        "import sys, gymnasium\n"
        "sys.modules['torch'] = sys.modules['agents'] = None\n"
        "env = gymnasium.make('uno_env:UnoClassic-v0', opponents='trained')\n"
        "env.reset(seed=1)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, timeout=300)
