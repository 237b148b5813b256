"""What of a run goes into a checkpoint and comes out of it; `train.run` says which files."""

from __future__ import annotations

import json
import random
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from agents.policy import PolicyAgent
from eval.arrays import read_arrays
from eval.folder import fingerprint
from train.network import export_policy
from train.opponents import OpponentPool
from train.run import POLICY, RunError
from train.vec_env import SavedVecEnv
from uno_env.game.rules import Rules
from uno_env.policy import Policy

_POOL = "pool."
_EXTRA = "extra."


def write(
    folder: Path,
    model: MaskablePPO,
    pool: OpponentPool,
    rules: Rules,
    extra: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
) -> None:
    """Write a checkpoint into an empty folder, between two iterations of the learner.

    Args:
        folder: where.
        model: the learner, whose environment is a `SavedVecEnv`.
        pool: the opponents.
        rules: for the policy files.
        extra: what else is to be kept, as JSON holds it.
        arrays: the same, as arrays.
    """
    tables, chance = _tables(model).saved()
    network = {**model.get_parameters(), "chance": torch.get_rng_state()}
    torch.save(network, folder / "network.pt")
    tables |= {f"{_POOL}{i}": array for i, array in enumerate(pool.counts())}
    tables |= {f"{_EXTRA}{name}": array for name, array in arrays.items()}
    np.savez(folder / "arrays.npz", **tables)  # type: ignore[arg-type]
    (folder / "past").mkdir()
    for number, agent in enumerate(pool.agents[pool.num_fixed :]):
        assert isinstance(agent, PolicyAgent)
        agent.policy.save(folder / "past" / f"{number:06d}.safetensors")
    training = {"timesteps": model.num_timesteps}
    export_policy(model.policy, rules, training).save(folder / POLICY)
    state = {
        **extra,
        "timesteps": model.num_timesteps,
        "updates_of_weights": model._n_updates,
        "remaining": model._current_progress_remaining,
        "episodes": list(model.ep_info_buffer or ()),
        "present": pool.present.tolist(),
        "opponents": _fingerprints(pool),
        "chance": chance,
        "numpy": _numpy_state(),
        "python": random.getstate(),
    }
    (folder / "state.json").write_text(json.dumps(state) + "\n")


def read(
    folder: Path, model: MaskablePPO, pool: OpponentPool
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Put a new learner and its pool in the state of a checkpoint.

    Args:
        folder: the checkpoint.
        model: a learner made with the same arguments.
        pool: its opponents, without past selves.

    Returns:
        All of ``state.json``, and the extra arrays that were given to `write`.

    Raises:
        RunError: the checkpoint is damaged or of other arguments, or a fixed opponent has changed.
    """
    try:
        return _read(folder, model, pool)
    except RunError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise RunError(f"the checkpoint {folder} cannot be used: {what}") from error


def _read(
    folder: Path, model: MaskablePPO, pool: OpponentPool
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    state = json.loads((folder / "state.json").read_text())
    _check_opponents(state["opponents"], pool)
    arrays = read_arrays(folder / "arrays.npz")
    network = torch.load(folder / "network.pt", weights_only=True)
    chance = network.pop("chance")
    model.set_parameters(network, exact_match=True)
    tables = _tables(model)
    tables.restore(arrays, state["chance"])
    for path in sorted((folder / "past").iterdir()):
        pool.agents.append(PolicyAgent(Policy.load(path), temperature=1.0))
    pool.present = np.array(state["present"], np.intp)
    for i, count in enumerate(pool.counts()):
        count[:] = arrays[f"{_POOL}{i}"]
    pool.refresh()
    model.num_timesteps = state["timesteps"]
    model._n_updates = state["updates_of_weights"]
    model._current_progress_remaining = state["remaining"]
    model.ep_info_buffer = deque(state["episodes"], maxlen=model._stats_window_size)
    model.ep_success_buffer = deque(maxlen=model._stats_window_size)
    model._last_obs = tables.observe()
    model._last_episode_starts = arrays[f"{_EXTRA}starts"]
    torch.set_rng_state(chance)
    np.random.set_state(state["numpy"])  # noqa: NPY002, what SB3 uses
    version, words, gauss = state["python"]
    random.setstate((version, tuple(words), gauss))
    return state, {
        name.removeprefix(_EXTRA): array
        for name, array in arrays.items()
        if name.startswith(_EXTRA)
    }


def _tables(model: MaskablePPO) -> SavedVecEnv:
    assert isinstance(model.env, SavedVecEnv)
    return model.env


def _numpy_state() -> list[Any]:
    """Of numpy's global generator, by which SB3 shuffles, as JSON holds it."""
    name, keys, *rest = np.random.get_state()  # noqa: NPY002
    return [name, np.asarray(keys).tolist(), *rest]


def _fingerprints(pool: OpponentPool) -> dict[str, str]:
    return {agent.name: fingerprint(agent) for agent in pool.agents[: pool.num_fixed]}


def _check_opponents(saved: dict[str, str], pool: OpponentPool) -> None:
    for name, found in _fingerprints(pool).items():
        if saved.get(name) != found:
            raise RunError(
                f"opponent {name!r} has changed since the checkpoint: it was "
                f"{saved.get(name, 'not there')}, now it is {found}"
            )
