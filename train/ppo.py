"""Train a PPO agent: ``python -m train.ppo``.

MaskablePPO from sb3-contrib over `TableVecEnv`, against fixed agents and past selves. Writes a run
folder::

    arguments.json      the resolved arguments
    checkpoints/        MaskablePPO's state, and the policy, as of some rollouts
    tensorboard/        curves
    policy.safetensors  the portable policy at the end

and ends by printing how the policy does against the baselines.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import VecEnv
from threadpoolctl import threadpool_limits
from torch.distributions import Distribution

from agents.policy import PolicyAgent
from eval.arguments import finite_number, rules_for, whole_number
from eval.command import run_command
from eval.floor import MAX_DEALS
from eval.tournament import benchmark, format_table
from train.callbacks import Checkpoints, PastSelves, Progress
from train.network import ColourSharedPolicy, export_policy
from train.opponents import OpponentPool
from train.vec_env import TableVecEnv
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from uno_env.policy import MAX_HIDDEN

_PROG = "python -m train.ppo"

_WHOLE_NUMBERS = {
    "seed": (0, 2**32 - 1),
    "total_timesteps": (1, sys.maxsize),
    "num_envs": (1, 2**31 - 1),
    "num_steps": (1, 2**31 - 1),
    "batch_size": (2, 2**31 - 1),
    "num_epochs": (1, 2**31 - 1),
    "hidden": (1, MAX_HIDDEN),
    "past_every": (1, sys.maxsize),
    "max_past": (1, 2**31 - 1),
    "present_past": (1, 2**31 - 1),
    "max_decisions": (1, 2**31 - 1),
    "checkpoint_every": (1, sys.maxsize),
    "benchmark_deals": (1, MAX_DEALS),
    "torch_threads": (1, 4 * (os.cpu_count() or 1)),
}
"""From where to where each of these arguments may go."""

_ABOVE_ZERO = ("a finite number above 0", lambda x: x > 0)
_SHARE = ("a number from 0 to 1", lambda x: 0 <= x <= 1)
_FINITE_NUMBERS: dict[str, tuple[str, Callable[[float], bool]]] = {
    "learning_rate": _ABOVE_ZERO,
    "clip_range": _ABOVE_ZERO,
    "gamma": _SHARE,
    "gae_lambda": _SHARE,
    "past_share": _SHARE,
    "ent_coef": ("a finite number", math.isfinite),
}
"""What each of these arguments may be, and the check of it."""


def _new_run_folder() -> Path:
    return Path("runs") / time.strftime("%Y%m%d-%H%M%S")


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """How to train. The defaults take two to three minutes on two CPU cores."""

    rules: str = "angry_birds"
    """Preset, optionally followed by switches, such as "classic uno_penalty=2"."""
    num_players: int | None = None
    """Seats at each table; by default as many as the rules say, or 2."""
    seed: int = 0
    """Of the network, the deals, the opponents and the sampling of actions."""
    out: Path = field(default_factory=_new_run_folder)
    """Run folder; it must not exist yet. By default a new one under runs/, named by the time."""

    total_timesteps: int = 2_000_000
    """Choices of the learner to train on."""
    num_envs: int = 2_048
    """Tables stepped together."""
    num_steps: int = 8
    """Choices at each table between two updates."""
    batch_size: int = 4_096
    """Choices in each gradient step."""
    num_epochs: int = 3
    """Passes over the data in each update."""
    learning_rate: float = 2e-3
    """Adam's step size at the start; it falls linearly to zero."""
    gamma: float = 1.0
    """Discount per choice. A round is short and only its end counts."""
    gae_lambda: float = 0.95
    """Of generalised advantage estimation."""
    clip_range: float = 0.2
    """PPO's clip range."""
    ent_coef: float = 0.005
    """Weight of the entropy bonus."""
    hidden: int = 64
    """Units in each hidden layer."""

    opponents: tuple[str, ...] = ("greedy", "keen")
    """Fixed opponents: names of agents, or policy files."""
    past_share: float = 0.5
    """Share of rounds against past selves."""
    past_every: int = 10
    """Rollouts between two past selves that join the pool."""
    max_past: int = 20
    """Past selves kept."""
    present_past: int = 2
    """Past selves that play at a time."""
    max_decisions: int = 1_000
    """Decisions of all seats after which a training round is cut off."""

    checkpoint_every: int = 25
    """Rollouts between two checkpoints."""
    benchmark_deals: int = 10_000
    """Duplicate deals against each baseline at the end."""
    torch_threads: int = 2
    """Threads for torch."""

    def __post_init__(self) -> None:
        for name, (low, high) in _WHOLE_NUMBERS.items():
            self._set(name, whole_number(name, getattr(self, name), low, high))
        for name, (allowed, fits) in _FINITE_NUMBERS.items():
            self._set(name, finite_number(name, getattr(self, name), allowed, fits))
        if self.num_players is not None:
            players = whole_number("num_players", self.num_players, MIN_PLAYERS, MAX_PLAYERS)
            self._set("num_players", players)
        self._check_batches()
        self._check_texts()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_batches(self) -> None:
        choices = self.num_envs * self.num_steps
        if choices % self.batch_size == 1:
            raise ValueError(
                f"batch_size={self.batch_size} leaves 1 of the {choices} choices of an update, "
                "num_envs x num_steps: a gradient step needs at least 2"
            )

    def _check_texts(self) -> None:
        """Everything that is not a number."""
        if not isinstance(self.rules, str):
            raise ValueError(f"rules={self.rules!r}: allowed is text such as 'classic'")
        if not isinstance(self.out, str | os.PathLike):
            raise ValueError(f"out={self.out!r}: allowed is the path of a folder")
        self._set("out", Path(self.out))
        names: Any = self.opponents
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"opponents={names!r}: allowed is a sequence of names or policy files")
        if not names:
            raise ValueError("opponents is empty: allowed is at least one name or policy file")
        self._set("opponents", tuple(names))


def train(arguments: Arguments) -> Path:
    """Train, write the run folder and return the path of the policy in it.

    Raises:
        ValueError: arguments that do not fit each other, an unknown opponent.
        FileNotFoundError: an opponent's policy file that is not there.
        FileExistsError: the run folder exists.
        OSError: the run folder cannot be written.
        AgentError: an opponent raised, or answered with something else than legal actions.
        KeyboardInterrupt: as it came, with where the checkpoints are.
    """
    rules = rules_for(arguments.rules, arguments.num_players)
    set_up_torch(arguments.torch_threads)
    pool = make_pool(arguments)
    model = make_learner(make_tables(arguments, rules, pool), arguments)
    run = arguments.out
    _make_run_folder(arguments)

    model.set_logger(configure(str(run / "tensorboard"), ["tensorboard"]))
    started = time.time()
    _learn(model, pool, rules, arguments)
    summary = {
        "algorithm": "MaskablePPO",
        "timesteps": model.num_timesteps,
        "seconds": round(time.time() - started, 1),
        "arguments": _as_json(arguments),
    }
    path = run / "policy.safetensors"
    export_policy(model.policy, rules, summary).save(path)
    return path


def set_up_torch(threads: int) -> None:
    """Set what holds for the whole process: threads, and no checks that only cost time."""
    torch.set_num_threads(threads)
    # Numpy multiplies for the past selves; small products are slowest where threads share them.
    threadpool_limits(limits=1, user_api="blas")
    # Checking each distribution's parameters takes a third of the time of a forward pass.
    Distribution.set_default_validate_args(False)


def make_pool(arguments: Arguments) -> OpponentPool:
    """The opponents that the arguments ask for, without past selves yet.

    Raises:
        ValueError: an unknown opponent.
        FileNotFoundError: an opponent's policy file that is not there.
    """
    return OpponentPool(
        arguments.opponents,
        past_share=arguments.past_share,
        max_past=arguments.max_past,
        present_past=arguments.present_past,
    )


def make_tables(arguments: Arguments, rules: Rules, pool: OpponentPool) -> TableVecEnv:
    """The tables that the arguments ask for."""
    return TableVecEnv(
        rules,
        arguments.num_envs,
        pool,
        seed=arguments.seed,
        max_decisions=arguments.max_decisions,
    )


def make_learner(env: VecEnv, arguments: Arguments) -> MaskablePPO:
    """The learner that the arguments ask for, on any environment with the tables' spaces."""
    return MaskablePPO(
        ColourSharedPolicy,
        env,
        learning_rate=lambda remaining: arguments.learning_rate * remaining,
        n_steps=arguments.num_steps,
        batch_size=arguments.batch_size,
        n_epochs=arguments.num_epochs,
        gamma=arguments.gamma,
        gae_lambda=arguments.gae_lambda,
        clip_range=arguments.clip_range,
        ent_coef=arguments.ent_coef,
        policy_kwargs={"net_arch": [arguments.hidden]},
        seed=arguments.seed,
        device="cpu",
    )


def _learn(model: MaskablePPO, pool: OpponentPool, rules: Rules, arguments: Arguments) -> None:
    """Train with everything that happens beside it."""
    checkpoints = arguments.out / "checkpoints"
    progress = Progress(pool)
    callbacks: list[BaseCallback] = [
        PastSelves(pool, rules, every=arguments.past_every),
        Checkpoints(checkpoints, rules, every=arguments.checkpoint_every),
        progress,
    ]
    try:
        model.learn(arguments.total_timesteps, callback=callbacks)
    except KeyboardInterrupt:
        kept = f"checkpoints are in {checkpoints}" if checkpoints.exists() else "no checkpoint yet"
        raise KeyboardInterrupt(kept) from None
    finally:
        progress.stop()


def _as_json(arguments: Arguments) -> dict[str, object]:
    return {**dataclasses.asdict(arguments), "out": str(arguments.out)}


def _make_run_folder(arguments: Arguments) -> None:
    run, text = arguments.out, json.dumps(_as_json(arguments), indent=2)
    try:
        run.mkdir(parents=True)
    except FileExistsError:
        raise FileExistsError(f"the run folder {run} exists: name another with --out") from None
    partial = run / ".arguments.json.partial"
    partial.write_text(text + "\n")
    partial.replace(run / "arguments.json")


def _train_and_benchmark(arguments: Arguments) -> str:
    """What the command line does; returns the table of the baselines."""
    path = train(arguments)
    print(f"\nThe policy is in {path}. Share of rounds won against the baselines:\n")
    agent = PolicyAgent.load(path)
    results = benchmark(
        agent, rules=agent.policy.rules, deals=arguments.benchmark_deals, jobs=os.cpu_count() or 1
    )
    return format_table(results)


def main() -> int:
    """The command line; returns the exit status."""
    arguments = tyro.cli(Arguments, description=__doc__)
    try:
        return run_command(_PROG, lambda: _train_and_benchmark(arguments))
    except (ValueError, OSError) as error:
        print(f"{_PROG}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
