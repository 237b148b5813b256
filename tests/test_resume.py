"""A run that was killed goes on as if it had not been."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from train import ppo
from train.ppo import Arguments, resume, train
from train.run import RunError, RunFolder, checkpoints, last_checkpoint, read_progress
from uno_env.policy import Policy

ROOT = Path(__file__).parents[1]
SMALL: dict[str, Any] = {
    "total_timesteps": 768,
    "num_players": (2, 3),
    "num_envs": 16,
    "num_steps": 4,
    "batch_size": 32,
    "num_epochs": 2,
    "hidden": 8,
    "past_every": 2,
    "max_past": 3,
    "checkpoint_every": 3,
    "eval_every": 4,
    "eval_deals": 4,
    "eval_opponents": ("keen",),
    "torch_threads": 1,
}


def curve(run: Path) -> list[dict[str, Any]]:
    """The learning curve without what the clock says."""
    return [
        {name: value for name, value in row.items() if not name.startswith("time/")}
        for row in read_progress(run)
    ]


def weights(path: Path) -> list[np.ndarray]:
    return list(Policy.load(path).weights.values())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("whole") / "run"
    train(Arguments(out=run, **SMALL))
    assert len(curve(run)) == 12
    return run


def assert_same(run: Path, whole: Path) -> None:
    assert curve(run) == curve(whole)
    assert [path.name for path in checkpoints(run)] == [path.name for path in checkpoints(whole)]
    for name in ("policy.safetensors", f"checkpoints/{768:012d}/policy.safetensors"):
        for one, other in zip(weights(run / name), weights(whole / name), strict=True):
            assert (one == other).all()


@pytest.mark.parametrize("after", [4, 5, 8, 12])
def test_an_interrupted_run_goes_on_to_the_same_bits(
    after: int, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, updates = tmp_path / "run", []

    def rollout(self: ppo.Recorder) -> None:
        updates.append(1)
        if len(updates) == after:
            raise KeyboardInterrupt
        collected(self)

    collected = ppo.Recorder._on_rollout_end
    with monkeypatch.context() as patch:
        patch.setattr(ppo.Recorder, "_on_rollout_end", rollout)
        with pytest.raises(KeyboardInterrupt, match="go on from the last checkpoint"):
            train(Arguments(out=run, **SMALL))
    resume(run)
    assert_same(run, whole)


def test_a_killed_process_goes_on_to_the_same_bits(whole: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    script = (
        "from pathlib import Path; from train.ppo import Arguments, train\n"
        f"train(Arguments(out=Path({str(run)!r}), **{SMALL!r}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", script], env=environment, cwd=ROOT)
    while not checkpoints(run) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    with (run / "progress.jsonl").open("a") as file:
        file.write('{"timesteps": 9')
    (run / "checkpoints" / ".000000000999.partial").mkdir()
    resume(run)
    assert_same(run, whole)


def test_a_run_that_is_over_can_be_made_longer(whole: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(Arguments(out=run, **{**SMALL, "total_timesteps": 128}))
    resume(run, 256)
    assert [row["timesteps"] for row in curve(run)] == [64, 128, 192, 256]
    with pytest.raises(RunError, match=r"total_timesteps=128: the run in .* has 256"):
        resume(run, 128)


def test_folders_in_use_or_without_a_checkpoint_are_refused(whole: Path, tmp_path: Path) -> None:
    with RunFolder(whole), pytest.raises(RunError, match="in use by another process"):
        resume(whole)
    with pytest.raises(RunError, match="holds no run"):
        resume(tmp_path)
    Path(tmp_path / "arguments.json").write_text((whole / "arguments.json").read_text())
    with pytest.raises(RunError, match="holds no checkpoint"):
        resume(tmp_path)


class Touches:
    """Its pickle makes a file when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["network.pt", "arrays.npz", "past/000000.safetensors"])
@pytest.mark.parametrize("bare", [True, False])
def test_a_checkpoint_with_pickles_runs_no_code(
    name: str, bare: bool, whole: Path, tmp_path: Path
) -> None:
    run, marker = tmp_path / "run", tmp_path / "ran"
    shutil.copytree(whole, run)
    path = last_checkpoint(run) / name
    assert path.exists()
    if bare:
        path.write_bytes(pickle.dumps(Touches(marker), protocol=2))
    elif name == "arrays.npz":
        np.savez(path, starts=np.array([Touches(marker)], object))
    else:
        torch.save({"policy": Touches(marker)}, path)
    with pytest.raises(RunError, match="cannot be used"):
        resume(run)
    assert not marker.exists()


def test_command_goes_on_and_refuses_other_arguments(
    whole: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for options, message in (
        (("--learning-rate", "0.1"), "learning_rate=0.1: the run in"),
        (("--out", "other"), "leave it out"),
        (("--total-timesteps", "5"), "total_timesteps=5"),
    ):
        monkeypatch.setattr(sys, "argv", ["ppo", "--resume", str(whole), *options])
        assert ppo.main() == 2
        assert message in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["ppo", "slow"])
    assert ppo.main() == 2
    assert "unknown preset 'slow'" in capsys.readouterr().err
