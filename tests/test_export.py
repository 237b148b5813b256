"""From a run's checkpoints to a portable policy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from test_resume import SMALL

from agents import make_agent
from train import export as command
from train.export import export
from train.ppo import Arguments, make_learner, make_pool, make_tables, train
from train.run import RunError, last_checkpoint
from uno_env import GameBatch, Rules
from uno_env.policy import Policy


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("export") / "run"
    train(Arguments(out=run, **{**SMALL, "learning_rate": 0.02}))
    return run


@pytest.mark.parametrize("players", [2, 3, 7])
def test_exported_and_sb3_policies_choose_the_same_actions(
    run: Path, players: int, tmp_path: Path
) -> None:
    exported = Policy.load(export(run, tmp_path / "mine.safetensors", last=True))
    arguments = Arguments(out=run, **SMALL)
    model = make_learner(make_tables(arguments, make_pool(arguments)), arguments)
    saved = torch.load(last_checkpoint(run) / "network.pt", weights_only=True)
    model.policy.load_state_dict(saved["policy"])
    batch = GameBatch(Rules.preset("angry_birds", num_players=players), 1_000, seed=9)
    rng = np.random.default_rng(0)
    same = asked = 0
    for _ in range(20):
        live = ~batch.done
        told, seen, mask = batch.observe_all()[live], batch.observe()[live], batch.legal[live]
        theirs, _ = model.predict(told, deterministic=True, action_masks=mask)
        own, liked = exported.act(seen, mask), exported.logits(seen, mask)
        # Both compute in float32 in another order: only what is liked alike may change places.
        each = np.arange(len(seen))
        np.testing.assert_allclose(liked[each, own], liked[each, theirs], atol=1e-4, rtol=1e-4)
        same += (own == theirs).sum()
        asked += len(seen)
        batch.step(
            make_agent("random").act(batch.observe(), batch.legal | batch.done[:, None], rng)
        )
    assert asked > 15_000
    assert same / asked > 0.995


def test_the_best_is_exported_with_its_story(run: Path, tmp_path: Path) -> None:
    own = Policy.load(run / "policy.safetensors")
    path = export(run, tmp_path / "best.safetensors")
    best = Policy.load(path)
    for name, weights in own.weights.items():
        assert (best.weights[name] == weights).all()
    assert best.training["timesteps"] == own.training["timesteps"]
    assert best.training["arguments"]["learning_rate"] == 0.02


def test_what_cannot_be_exported_is_said(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RunError, match="holds no run"):
        export(tmp_path)
    for words, message in (
        ([str(tmp_path)], "holds no run"),
        ([str(run), "--out", str(tmp_path / "x.txt")], "ends in .safetensors"),
    ):
        monkeypatch.setattr(sys, "argv", ["export", *words])
        assert command.main() == 2
        assert message in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["export", str(run), "--out", str(tmp_path / "y.safetensors")])
    assert command.main() == 0
    assert (tmp_path / "y.safetensors").exists()
