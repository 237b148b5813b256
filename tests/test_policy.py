"""Portable policy files: round trips, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from uno_env import GameBatch, Rules
from uno_env.game.cards import NUM_SYMBOLS
from uno_env.game.observation import LAYOUT, OBSERVATION_SIZE
from uno_env.policy import (
    COLOUR_INPUTS,
    COLOUR_OUTPUTS,
    COMMON_INPUTS,
    COMMON_OUTPUTS,
    Policy,
    PolicyFileError,
    weight_shapes,
)


def random_policy(hidden: int = 8, seed: int = 0) -> Policy:
    rng = np.random.default_rng(seed)
    weights = {
        name: rng.normal(size=shape).astype(np.float32)
        for name, shape in weight_shapes(hidden).items()
    }
    return Policy(weights, Rules.preset("classic", num_players=3), {"timesteps": 7})


def header_of(path: Path) -> dict[str, str]:
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + size])["__metadata__"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "policy.safetensors"
    random_policy().save(path)
    return path


def test_round_trip(path: Path) -> None:
    policy, again = random_policy(), Policy.load(path)
    assert again.rules == policy.rules
    assert again.training == policy.training
    batch = GameBatch("classic", 50)
    observation, mask = batch.observe(), batch.legal
    assert (again.logits(observation) == policy.logits(observation)).all()
    assert (again.act(observation, mask) == policy.act(observation, mask)).all()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_every_input_and_output_is_used_once() -> None:
    inputs = np.concatenate([COLOUR_INPUTS.ravel(), COMMON_INPUTS])
    assert sorted(inputs) == list(range(OBSERVATION_SIZE))
    outputs = np.concatenate([COLOUR_OUTPUTS.ravel(), COMMON_OUTPUTS])
    assert sorted(outputs) == list(range(84))


def test_colours_are_treated_alike() -> None:
    """Exchanging two colours in what is seen exchanges their logits."""
    batch = GameBatch(Rules.preset("angry_birds", num_players=4), 200, seed=1)
    for _ in range(30):
        batch.step(batch.legal.argmax(axis=1))
    seen = batch.observe()
    swapped = seen.copy()
    swapped[:, COLOUR_INPUTS[[0, 2]]] = seen[:, COLOUR_INPUTS[[2, 0]]]
    assert (swapped != seen).any()
    policy = random_policy()
    before, after = policy.logits(seen), policy.logits(swapped)
    np.testing.assert_allclose(
        after[:, COLOUR_OUTPUTS[[2, 0]]], before[:, COLOUR_OUTPUTS[[0, 2]]], rtol=1e-3, atol=1e-3
    )
    np.testing.assert_allclose(
        after[:, COMMON_OUTPUTS], before[:, COMMON_OUTPUTS], rtol=1e-3, atol=1e-3
    )


def test_acts_legally_and_by_temperature() -> None:
    policy = random_policy()
    batch = GameBatch("angry_birds", 300, seed=3)
    rows = np.arange(300)
    observation, mask = batch.observe(), batch.legal
    likeliest = policy.act(observation, mask)
    assert mask[rows, likeliest].all()
    cold = policy.act(observation, mask, np.random.default_rng(0), temperature=1e-6)
    # Colours of which a seat knows the same are alike, and their wilds equally likely.
    logits = policy.logits(observation)
    np.testing.assert_allclose(logits[rows, cold], logits[rows, likeliest], rtol=1e-4)
    hot = policy.act(observation, mask, np.random.default_rng(0), temperature=1e6)
    assert mask[rows, hot].all()
    assert (hot != likeliest).mean() > 0.5
    with pytest.raises(ValueError, match="needs an rng"):
        policy.act(observation, mask, temperature=1.0)


def test_samples_legally_whatever_the_noise() -> None:
    """Exponential noise in single precision is exactly zero now and then."""

    class Zeros(np.random.Generator):
        def standard_exponential(self, size, dtype):  # type: ignore[no-untyped-def, override]
            return np.zeros(size, dtype)

    batch = GameBatch("angry_birds", 50, seed=3)
    rng = Zeros(np.random.PCG64(0))
    actions = random_policy().act(batch.observe(), batch.legal, rng, temperature=1.0)
    assert batch.legal[np.arange(50), actions].all()


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no policy file at"):
        Policy.load(tmp_path / "none.safetensors")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"uno_env.format": "2"}, "its format is 2, this version reads 1"),
        ({"uno_env.actions": "9"}, "its actions is 9"),
        ({"uno_env.observation": "0"}, "its observation is 0"),
        ({"uno_env.network": "mlp"}, "its network is mlp"),
        ({"uno_env.rules": "chess"}, "unknown preset 'chess'"),
        ({"uno_env.training": "{"}, "cannot be used"),
        ({"uno_env.training": "[]"}, "training summary is no mapping"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(
    path: Path, change: dict[str, str], message: str
) -> None:
    save_file(load_file(path), path, metadata={**header_of(path), **change})
    with pytest.raises(PolicyFileError, match=message):
        Policy.load(path)


def test_a_foreign_file_is_refused(path: Path) -> None:
    save_file(load_file(path), path)
    with pytest.raises(PolicyFileError, match="says nothing of uno_env"):
        Policy.load(path)
    path.write_text("weights\n" * 100)
    with pytest.raises(PolicyFileError, match="is no safetensors file"):
        Policy.load(path)


def test_a_truncated_file_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(PolicyFileError, match="is no safetensors file"):
        Policy.load(path)


@pytest.mark.parametrize("kind", ["missing", "unknown", "shape", "dtype", "nan", "empty"])
def test_weights_that_do_not_fit_are_refused(path: Path, kind: str) -> None:
    weights, header = load_file(path), header_of(path)
    name = "second.own"
    if kind == "missing":
        del weights[name]
    elif kind == "unknown":
        weights["third"] = weights[name]
    elif kind == "shape":
        weights[name] = weights[name][:, :-1].copy()
    elif kind == "dtype":
        weights[name] = weights[name].astype(np.float64)
    elif kind == "nan":
        weights[name][0, 0] = np.nan
    else:
        weights = {"first.bias": np.zeros(0, np.float32)}
    save_file(weights, path, metadata=header)
    with pytest.raises(PolicyFileError):
        Policy.load(path)


def test_a_failed_save_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def fail(self: Path, data: bytes) -> int:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="disk full"):
        random_policy(seed=1).save(path)
    assert path.read_bytes() == before


def test_layout_of_sets_is_by_colour() -> None:
    """The network relies on 16 numbers a colour in each set of cards."""
    for name in ("hand", "unseen", "known", "drawn"):
        place = LAYOUT[name]
        assert place.stop - place.start == 4 * NUM_SYMBOLS
