"""Evaluation's choice of the best, and signs that a run does not learn."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from test_resume import SMALL

from agents import make_agent
from agents.policy import PolicyAgent
from eval.match import play
from train import ppo
from train.diagnostics import (
    IN_A_ROW,
    Diagnostics,
    LearningError,
    LearningWarning,
    Rollout,
    what_is_not_finite,
)
from train.evaluation import SEED, Best, Evaluation, Score
from train.network import export_policy
from train.objective import Objective
from train.ppo import Arguments, make_learner, make_pool, make_tables, train
from train.run import checkpoints
from uno_env import Rules

GOOD = {
    "rollout": Rollout(forced=0.0, most_entropy=1.5, mean_square=0.9),
    "kl": 0.01,
    "value_loss": 0.7,
    "remaining": 0.8,
}


def look(diagnostics: Diagnostics, updates: int = IN_A_ROW, **changes: object) -> list[str]:
    found = []
    for i in range(updates):
        found += diagnostics.look(**{"entropy": 1.0 - i / 100, **GOOD, **changes})
    return found


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"entropy": 1e-5}, "entropy collapsed"),
        ({"entropy": 1.2}, "policy constant"),
        ({"kl": 1e-9}, "policy constant"),
        ({"value_loss": 50.0}, "value loss exploding"),
        ({"kl": 0.5}, "KL huge"),
        ({"rollout": Rollout(0.95, 1.5, 0.9)}, "choices forced"),
    ],
)
def test_each_sign_is_told_once(changes: dict, name: str) -> None:
    diagnostics = Diagnostics()
    assert look(diagnostics, IN_A_ROW - 1, **changes) == []
    with pytest.warns(LearningWarning, match=name):
        assert look(diagnostics, 1, **changes) == [name]
    assert look(diagnostics, 5, **changes) == []


def test_a_run_that_learns_is_left_alone() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert look(Diagnostics(), 50) == []
        assert look(Diagnostics(), 50, kl=1e-9, remaining=0.05) == [], "the rate is near its end"


def test_what_is_not_finite_is_named() -> None:
    layer = torch.nn.Linear(2, 2)
    assert what_is_not_finite(layer, {"loss": 1.0}) is None
    assert what_is_not_finite(layer, {"loss": float("nan")}) == "loss"
    with torch.no_grad():
        layer.bias[0] = torch.inf
    assert what_is_not_finite(layer, {}) == "weights bias"


def test_a_run_ends_on_nan_and_keeps_the_last_good_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rollouts = []

    def poison(self: ppo.Watch) -> None:
        collected(self)
        rollouts.append(1)
        if len(rollouts) == 8:
            self.model.rollout_buffer.advantages[:] = np.nan

    collected = ppo.Watch._on_rollout_end
    monkeypatch.setattr(ppo.Watch, "_on_rollout_end", poison)
    run = tmp_path / "run"
    with pytest.raises(LearningError, match=r"is not finite after 512 choices(.|\n)*--resume"):
        train(Arguments(out=run, **SMALL))
    assert int(checkpoints(run)[-1].name) == 6 * 64


def test_a_score_is_of_what_the_policy_is_for(tmp_path: Path) -> None:
    """Shares of rounds, or what was gained on the others; both 1 where all play alike."""
    arguments = Arguments(out=tmp_path, **SMALL)
    learner = make_learner(make_tables(arguments, make_pool(arguments)), arguments)
    policy = export_policy(learner.policy, Rules.preset("angry_birds"))
    kinds = {"three": Rules.preset("angry_birds", num_players=3)}
    keen = make_agent("keen")
    lineup = [PolicyAgent(policy, "greedy"), keen, keen]
    match = play(lineup, kinds["three"], deals=40, seed=SEED)

    def value(points_share: float) -> float:
        objective = Objective(points_share)
        score, shares = Evaluation(kinds, ["keen"], 40, objective).play(policy)
        assert shares["three/greedy/keen"] == match.win_rate().value
        assert score.parts[0].shape == (40,)
        return score.value

    own, *others = match.mean_points
    by_rounds, by_points = 3 * match.win_rate().value, 1 + 2 * (own - np.mean(others)) / 100
    assert by_rounds != pytest.approx(by_points, abs=0.01)
    assert value(0.0) == pytest.approx(by_rounds)
    assert value(1.0) == pytest.approx(by_points)
    assert value(0.25) == pytest.approx(0.75 * by_rounds + 0.25 * by_points)


def score(*shares: float) -> Score:
    return Score((np.array(shares),))


def test_the_best_is_the_latest_not_measurably_below_the_highest() -> None:
    best = Best()
    base = np.linspace(0, 1, 100)
    assert best.offer(score(*base), 1)
    noise = np.where(np.arange(100) % 2, 0.1, -0.1)  # standard error of the difference: 0.01
    assert best.offer(score(*(base - 0.005 + noise)), 2), "lower by less than an error"
    assert best.timesteps == 2
    assert best.without_gain == 1
    assert not best.offer(score(*(base - 0.03 + noise)), 3)
    assert best.timesteps == 2
    assert best.offer(score(*(base + 0.03 + noise)), 4)
    assert (best.timesteps, best.without_gain) == (4, 0)
    assert not best.offer(score(*base), 5), "the highest does not drift down"


def test_an_actor_that_waits_for_the_critic_is_no_sign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []
    monkeypatch.setattr(Diagnostics, "look", lambda *_: looked.append(1))
    train(Arguments(out=tmp_path / "run", **{**SMALL, "critic_first": 192}))
    assert len(looked) == SMALL["total_timesteps"] // 64 - 3


def test_patience_ends_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Best, "offer", lambda self, *_: bool(setattr(self, "without_gain", 2)))
    run = tmp_path / "run"
    monkeypatch.setattr(ppo.RunFolder, "take_policy", lambda *_: None)
    train(Arguments(out=run, **{**SMALL, "patience": 2}))
    assert int(checkpoints(run)[-1].name) == 4 * 64
