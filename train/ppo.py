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

import json
import os
import sys
import time
from pathlib import Path

import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import VecEnv
from threadpoolctl import threadpool_limits
from torch.distributions import Distribution

from agents.policy import PolicyAgent
from eval.command import run_command
from eval.tournament import benchmark, format_table
from train.arguments import PRESETS, Arguments, preset
from train.callbacks import Checkpoints, PastSelves, Progress
from train.network import ColourSharedPolicy, export_policy
from train.opponents import OpponentPool
from train.vec_env import MixedTables, SavedVecEnv, TableVecEnv
from uno_env.game.rules import Rules

_PROG = "python -m train.ppo"

__all__ = ["PRESETS", "Arguments", "preset", "train"]


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
    rules = arguments.kinds_of_tables()[0]
    set_up_torch(arguments.torch_threads)
    pool = make_pool(arguments)
    model = make_learner(make_tables(arguments, pool), arguments)
    run = arguments.out
    _make_run_folder(arguments)

    model.set_logger(configure(str(run / "tensorboard"), ["tensorboard"]))
    started = time.time()
    _learn(model, pool, rules, arguments)
    summary = {
        "algorithm": "MaskablePPO",
        "timesteps": model.num_timesteps,
        "seconds": round(time.time() - started, 1),
        "arguments": arguments.as_json(),
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
        weighting=arguments.opponent_weighting,
        power=arguments.opponent_power,
        floor=arguments.opponent_floor,
        half_life=arguments.opponent_half_life,
    )


def make_tables(arguments: Arguments, pool: OpponentPool) -> SavedVecEnv:
    """The tables that the arguments ask for; each has a seed of its own, from one on.

    Raises:
        ValueError: rules that are not allowed, or that say another number of players.
    """
    blocks: list[TableVecEnv] = []
    before = 0
    kinds = zip(arguments.kinds_of_tables(), arguments.tables_of_each_kind(), strict=True)
    for rules, number in kinds:
        blocks.append(
            TableVecEnv(
                rules,
                number,
                pool,
                seed=arguments.seed + before,
                max_decisions=arguments.max_decisions,
                full_information=arguments.full_information,
            )
        )
        before += number
    return blocks[0] if len(blocks) == 1 else MixedTables(blocks)


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


def _make_run_folder(arguments: Arguments) -> None:
    run, text = arguments.out, json.dumps(arguments.as_json(), indent=2)
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
