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
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure
from threadpoolctl import threadpool_limits
from torch.distributions import Distribution

from agents import make_agent
from agents.policy import PolicyAgent
from eval.tournament import benchmark, format_table
from train.callbacks import Checkpoints, PastSelves, Progress
from train.network import ColourSharedPolicy, export_policy
from train.opponents import OpponentPool
from train.vec_env import TableVecEnv
from uno_env.game.rules import Rules


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """How to train. The defaults take about three minutes on two CPU cores."""

    rules: str = "angry_birds"
    """Preset, optionally followed by switches, such as "classic uno_penalty=2"."""
    num_players: int = 2
    """Seats at each table."""
    seed: int = 0
    """Of the network, the deals, the opponents and the sampling of actions."""
    out: Path | None = None
    """Run folder; it must not exist yet. By default a new one under runs/, named by the time."""

    total_timesteps: int = 1_500_000
    """Choices of the learner to train on."""
    num_envs: int = 512
    """Tables stepped together."""
    num_steps: int = 32
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
    max_decisions: int = 1_000
    """Decisions of all seats after which a training round is cut off."""

    checkpoint_every: int = 25
    """Rollouts between two checkpoints."""
    benchmark_deals: int = 10_000
    """Duplicate deals against each baseline at the end."""
    torch_threads: int = 2
    """Threads for torch."""

    def __post_init__(self) -> None:
        positive = (
            "total_timesteps num_envs num_steps batch_size num_epochs hidden past_every max_past "
            "max_decisions checkpoint_every benchmark_deals torch_threads learning_rate clip_range"
        )
        for name in positive.split():
            if getattr(self, name) <= 0:
                raise ValueError(f"{name}={getattr(self, name)}: allowed is a number above 0")
        for name in ("gamma", "gae_lambda", "past_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}={getattr(self, name)}: allowed is a number from 0 to 1")
        if not self.opponents:
            raise ValueError("opponents is empty: allowed is at least one name or policy file")


def train(arguments: Arguments) -> Path:
    """Train, write the run folder and return the path of the policy in it.

    Raises:
        ValueError: arguments that do not fit each other, an unknown opponent.
        FileExistsError: the run folder exists.
    """
    rules = Rules.make(arguments.rules, num_players=arguments.num_players)
    fixed = [make_agent(name) for name in arguments.opponents]
    run = _make_run_folder(arguments)

    torch.set_num_threads(arguments.torch_threads)
    # Numpy multiplies for the past selves; small products are slowest where threads share them.
    threadpool_limits(limits=1, user_api="blas")
    # Checking each distribution's parameters takes a third of the time of a forward pass.
    Distribution.set_default_validate_args(False)
    pool = OpponentPool(fixed, past_share=arguments.past_share, max_past=arguments.max_past)
    env = TableVecEnv(
        rules,
        arguments.num_envs,
        pool,
        seed=arguments.seed,
        max_decisions=arguments.max_decisions,
    )
    model = MaskablePPO(
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
    model.set_logger(configure(str(run / "tensorboard"), ["tensorboard"]))
    started = time.time()
    model.learn(
        arguments.total_timesteps,
        callback=[
            PastSelves(pool, rules, every=arguments.past_every),
            Checkpoints(run / "checkpoints", rules, every=arguments.checkpoint_every),
            Progress(pool),
        ],
    )
    summary = {
        "algorithm": "MaskablePPO",
        "timesteps": model.num_timesteps,
        "seconds": round(time.time() - started, 1),
        "arguments": _as_json(arguments),
    }
    path = run / "policy.safetensors"
    export_policy(model.policy, rules, summary).save(path)
    return path


def _as_json(arguments: Arguments) -> dict[str, object]:
    fields = dataclasses.asdict(arguments)
    return {**fields, "out": None if arguments.out is None else str(arguments.out)}


def _make_run_folder(arguments: Arguments) -> Path:
    run = arguments.out or Path("runs") / time.strftime("%Y%m%d-%H%M%S")
    try:
        run.mkdir(parents=True)
    except FileExistsError:
        raise FileExistsError(f"the run folder {run} exists: name another with --out") from None
    partial = run / ".arguments.json.partial"
    partial.write_text(json.dumps(_as_json(arguments), indent=2) + "\n")
    partial.replace(run / "arguments.json")
    return run


def main() -> int:
    """The command line."""
    try:
        arguments = tyro.cli(Arguments, description=__doc__)
        path = train(arguments)
    except (ValueError, FileExistsError, FileNotFoundError) as error:
        print(f"train.ppo: {error}", file=sys.stderr)
        return 2
    print(f"\nThe policy is in {path}. Share of rounds won against the baselines:\n")
    agent = PolicyAgent.load(path)
    rules = Rules.make(arguments.rules, num_players=arguments.num_players)
    results = benchmark(agent, rules=rules, deals=arguments.benchmark_deals, jobs=os.cpu_count())
    print(format_table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
