"""Portable policy files: round trips, and what is refused."""

from __future__ import annotations

import json
import math
import pickle
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from colours import renamed, renamed_actions
from safetensors.numpy import load_file, save_file

from uno_env import GameBatch, Rules
from uno_env.policy import MAX_BYTES, MAX_HIDDEN, Policy, PolicyFileError, weight_shapes


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
    assert (again.logits(observation, mask) == policy.logits(observation, mask)).all()
    assert (again.act(observation, mask) == policy.act(observation, mask)).all()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("preset", ["angry_birds", "official"])
def test_colours_are_treated_alike(preset: str) -> None:
    """Renaming colours in what is seen renames the actions that are liked."""
    order = [2, 0, 3, 1]
    batch = GameBatch(Rules.preset(preset, num_players=4), 200, seed=1)
    for _ in range(30):
        batch.step(batch.legal.argmax(axis=1))
    seen, mask = batch.observe(), batch.legal
    policy = random_policy()
    before, after = policy.logits(seen, mask), policy.logits(*renamed(seen, mask, order))
    assert np.isfinite(before[mask]).all()
    assert (before[~mask] == -np.inf).all()
    np.testing.assert_allclose(after, before[:, renamed_actions(order)], rtol=1e-3, atol=1e-3)


def test_tables_of_different_sizes_may_be_asked_together() -> None:
    """An answer does not depend on what else is asked."""
    policy = random_policy()
    tables = [GameBatch(Rules.preset("angry_birds", num_players=n), 20, seed=n) for n in (2, 5, 3)]
    seen = np.concatenate([table.observe() for table in tables])
    mask = np.concatenate([table.legal for table in tables])
    mixed = np.random.default_rng(0).permutation(len(seen))
    alone = np.concatenate([policy.logits(table.observe(), table.legal) for table in tables])
    together = policy.logits(seen[mixed], mask[mixed])
    np.testing.assert_allclose(together, alone[mixed], rtol=1e-4, atol=1e-4)


def test_acts_legally_and_by_temperature() -> None:
    policy = random_policy()
    batch = GameBatch("angry_birds", 300, seed=3)
    rows = np.arange(300)
    observation, mask = batch.observe(), batch.legal
    likeliest = policy.act(observation, mask)
    assert mask[rows, likeliest].all()
    cold = policy.act(observation, mask, np.random.default_rng(0), temperature=1e-6)
    # Colours of which a seat knows the same are alike, and their wilds equally likely.
    logits = policy.logits(observation, mask)
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
        ({"uno_env.format": "1"}, "its format is 1, this version reads 2"),
        ({"uno_env.actions": "9"}, "its actions is 9"),
        ({"uno_env.observation": "1"}, "its observation is 1, this version reads 2"),
        ({"uno_env.network": "mlp"}, "its network is mlp"),
        ({"uno_env.inputs": "0"}, "its inputs is 0"),
        ({"uno_env.rules": "chess"}, "unknown preset 'chess'"),
        ({"uno_env.training": "{"}, "training summary is no JSON"),
        ({"uno_env.training": "[" * 100_000}, "training summary is no JSON"),
        ({"uno_env.training": '{"loss": NaN}'}, "JSON cannot hold it"),
        ({"uno_env.actions": None}, "its header does not say the actions"),
        ({"uno_env.rules": None}, "its header does not say the rules"),
        ({"uno_env.training": "[]"}, "training summary is no mapping"),
        ({"uno_env.training": "[" * 100_000}, "training summary is no JSON: it is nested too"),
        ({"uno_env.training": '{"machine": "\\ud800"}'}, "half of a surrogate pair"),
        ({"uno_env.training": '{"loss": NaN}'}, "training: JSON cannot hold it"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(
    path: Path, change: dict[str, str | None], message: str
) -> None:
    header = {**header_of(path), **change}
    kept = {name: value for name, value in header.items() if value is not None}
    save_file(load_file(path), path, metadata=kept)
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


@pytest.mark.parametrize("kind", ["missing", "unknown", "shape", "dtype", "nan", "huge", "empty"])
def test_weights_that_do_not_fit_are_refused(path: Path, kind: str) -> None:
    weights, header = load_file(path), header_of(path)
    name = "second.weight"
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
    elif kind == "huge":
        weights[name][0, 0] = 1e30
    else:
        weights = {"first.bias": np.zeros(0, np.float32)}
    save_file(weights, path, metadata=header)
    with pytest.raises(PolicyFileError):
        Policy.load(path)


class Touches:
    """Its pickle makes a file when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return Path.touch, (self.path,)


def test_a_pickle_is_no_policy_and_runs_no_code(path: Path) -> None:
    marker = path.with_name("ran")
    path.write_bytes(pickle.dumps(Touches(marker)))
    for write in (lambda: None, lambda: torch.save({"first.bias": Touches(marker)}, path)):
        write()
        with pytest.raises(PolicyFileError, match="is no safetensors file"):
            Policy.load(path)
    assert not marker.exists()


def test_names_in_a_summary_are_not_imported(path: Path) -> None:
    policy = random_policy()
    opponents = {"arguments": {"opponents": ["antigravity:Agent"], "warm_start": "x.safetensors"}}
    Policy(policy.weights, policy.rules, opponents).save(path)
    assert Policy.load(path).training == opponents
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("hidden", [4_096, 2**20, 2**40])
@pytest.mark.parametrize("data", [b"", bytes(1_000)])
def test_a_header_that_claims_much_takes_no_memory(path: Path, hidden: int, data: bytes) -> None:
    table, at = {}, 0
    for name, shape in weight_shapes(hidden).items():
        end = at + 4 * math.prod(shape)
        table[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps({"__metadata__": header_of(path), **table}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    tracemalloc.start()
    with pytest.raises(PolicyFileError, match="is no safetensors file"):
        Policy.load(path)
    assert tracemalloc.get_traced_memory()[1] < 2**18
    tracemalloc.stop()


def test_a_file_larger_than_any_network_is_not_read(path: Path) -> None:
    random_policy(hidden=MAX_HIDDEN).save(path)
    assert path.stat().st_size < MAX_BYTES
    with path.open("ab") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(PolicyFileError, match=r"is larger than [\d,]+ bytes: no policy file is"):
        Policy.load(path)


def test_a_policy_takes_memory_as_its_size_warrants(path: Path) -> None:
    random_policy(hidden=512).save(path)
    tracemalloc.start()
    Policy.load(path)
    assert tracemalloc.get_traced_memory()[1] < 3 * path.stat().st_size
    tracemalloc.stop()


def test_a_dtype_that_numpy_does_not_know_is_refused(path: Path) -> None:
    table = {"first.bias": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]}}
    text = json.dumps({"__metadata__": header_of(path), **table}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"12")
    with pytest.raises(PolicyFileError, match=r"weights first\.bias are F8_E4M3: needed is F32"):
        Policy.load(path)


@pytest.mark.parametrize(
    "lay",
    [np.asfortranarray, lambda v: np.flip(v.copy()), lambda v: np.repeat(v, 2, axis=-1)[..., ::2]],
)
def test_weights_may_lie_in_any_order(tmp_path: Path, lay: Callable) -> None:
    laid = {name: lay(value) for name, value in random_policy().weights.items()}
    policy = Policy(laid, Rules())
    policy.save(tmp_path / "laid.safetensors")
    again = Policy.load(tmp_path / "laid.safetensors")
    for name, value in laid.items():
        assert (again.weights[name] == value).all()


def test_weights_are_copied() -> None:
    weights = {name: value.copy() for name, value in random_policy().weights.items()}
    policy = Policy(weights, Rules())
    weights["first.bias"][:] = np.nan
    assert np.isfinite(policy.weights["first.bias"]).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"weights": None}, "weights=None: allowed is a Mapping"),
        ({"rules": None}, "rules=None: allowed is a Rules"),
        ({"rules": "nonsense"}, "rules='nonsense': allowed is a Rules"),
        ({"training": 5}, "training=5: allowed is a Mapping"),
        ({"training": {"loss": float("nan")}}, "training: JSON cannot hold it"),
        ({"training": {"rules": Rules()}}, "training: JSON cannot hold it"),
        ({"weights": {}}, "hold no `first.bias`"),
        (
            {"weights": {"first.bias": np.zeros(5_000, np.float32)}},
            r"first\.bias of shape \(5000,\): allowed are 1 to 4096 hidden units",
        ),
    ],
)
def test_what_makes_no_policy_is_refused(wrong: dict, message: str) -> None:
    arguments = {"weights": random_policy().weights, "rules": Rules(), "training": {}, **wrong}
    with pytest.raises((PolicyFileError, TypeError), match=message):
        Policy(**arguments)


def test_training_is_kept_as_json_holds_it(tmp_path: Path) -> None:
    policy = Policy(random_policy().weights, Rules(), {"opponents": ("keen", "greedy")})
    policy.save(tmp_path / "policy.safetensors")
    assert Policy.load(tmp_path / "policy.safetensors").training == policy.training


@pytest.mark.parametrize("name", ["", "policy", "policy.zip"])
def test_a_name_that_could_not_be_played_is_not_saved(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"allowed is a name that ends in \.safetensors"):
        random_policy().save(tmp_path / name if name else name)
    assert not any(tmp_path.iterdir())


def test_a_folder_is_no_policy(tmp_path: Path) -> None:
    with pytest.raises(PolicyFileError, match="is a folder"):
        Policy.load(tmp_path)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda seen, mask: (seen[0], mask), "observation of the shape"),
        (lambda seen, mask: (seen[:, 1:], mask), "observation of the shape"),
        (lambda seen, mask: (seen, mask[0]), r"mask of the shape \(84,\): needed is \(3, 84\)"),
        (lambda seen, mask: (seen, mask[:2]), r"mask of the shape \(2, 84\)"),
        (lambda seen, mask: (seen, mask & [[True], [False], [True]]), "row 1 of the mask has no"),
        (lambda seen, mask: (seen, mask, None, -1.0), r"temperature=-1\.0: allowed"),
        (lambda seen, mask: (seen, mask, None, np.nan), "temperature=nan: allowed"),
    ],
)
def test_what_cannot_be_answered_is_refused(ask: Callable, message: str) -> None:
    batch = GameBatch("classic", 3)
    with pytest.raises(ValueError, match=message):
        random_policy().act(*ask(batch.observe(), batch.legal))


def test_nothing_asked_is_nothing_answered() -> None:
    batch = GameBatch("classic", 1)
    policy = random_policy()
    assert policy.logits(batch.observe()[:0], batch.legal[:0]).shape == (0, 84)
    assert policy.act(batch.observe()[:0], batch.legal[:0]).shape == (0,)


def test_a_failed_save_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def fail(self: Path, data: bytes) -> int:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="disk full"):
        random_policy(seed=1).save(path)
    assert path.read_bytes() == before
