"""Train a PPO agent: ``python -m train.ppo [quick|standard|long] [OPTIONS]``.

The first word is a preset of the arguments, `quick` if there is none; every argument can still be
given. MaskablePPO from sb3-contrib learns at tables of `train.vec_env`, against fixed agents and
past selves. It writes a run folder (`train.run`) with the learning curve, checkpoints and the
policy that was best in evaluation, and ends by printing how that does against the baselines.

``python -m train.ppo --resume RUN`` goes on with a run that was interrupted, from its last
checkpoint, as if it had not been.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from stable_baselines3.common.vec_env import VecEnv
from threadpoolctl import threadpool_limits
from torch.distributions import Distribution
from torch.utils.tensorboard import SummaryWriter

from agents.policy import PolicyAgent
from eval.command import run_command
from eval.tournament import benchmark, format_table
from train import checkpoint
from train.arguments import PRESETS, Arguments, preset
from train.callbacks import EnoughError, PastSelves, Recorder, Watch
from train.diagnostics import LearningError
from train.evaluation import Evaluation
from train.network import ActionScoringPolicy
from train.objective import Objective
from train.opponents import OpponentPool
from train.run import (
    POLICY,
    RunError,
    RunFolder,
    check_same,
    last_checkpoint,
    read_arguments,
)
from train.start import CriticFirst, prepare, warm_start
from train.vec_env import MixedTables, SavedVecEnv, TableVecEnv
from uno_env.policy import Policy

_PROG = "python -m train.ppo"

__all__ = ["PRESETS", "Arguments", "preset", "resume", "train"]


def train(arguments: Arguments) -> Path:
    """Train, write the run folder and return the path of the best policy in it.

    Raises:
        ValueError: arguments that do not fit each other, an unknown opponent.
        FileNotFoundError: an opponent's policy file that is not there.
        FileExistsError: the run folder exists.
        OSError: the run folder cannot be written.
        AgentError: an opponent raised, or answered with something else than legal actions.
        LearningError: a loss or a weight is not finite; the checkpoints are as they were before.
        KeyboardInterrupt: as it came, with how to go on.
    """
    model, pool, evaluation = _set_up(arguments)
    with RunFolder.new(arguments) as folder:
        return _learn(model, _recorder(folder, arguments, pool, evaluation))


def resume(run: Path, total_timesteps: int | None = None) -> Path:
    """Go on with a run from its last checkpoint, as if it had never been interrupted.

    Args:
        run: its folder.
        total_timesteps: how long to train in all, not less than was asked for at first; the
            learning rate then falls to zero anew, from what is left.

    Raises:
        RunError: there is no run, it is in use, it has no checkpoint or one that cannot be used, or
            less steps are asked for.
        LearningError: as for `train`, and so are all others.
    """
    saved = read_arguments(run)
    arguments = replace(saved, total_timesteps=total_timesteps or saved.total_timesteps)
    check_same(saved, arguments)
    with RunFolder(run) as folder:
        at = last_checkpoint(run)
        model, pool, evaluation = _set_up(arguments)
        recorder = _recorder(folder, arguments, pool, evaluation)
        recorder.restore(*checkpoint.read(at, model, pool))
        folder.write_arguments(arguments)
        folder.drop_progress_after(model.num_timesteps)
        if recorder.best.timesteps:
            folder.take_policy(recorder.best.timesteps)
        return _learn(model, recorder)


def _set_up(arguments: Arguments) -> tuple[MaskablePPO, OpponentPool, Evaluation]:
    """All that can be refused, before anything is written."""
    kinds = arguments.named_kinds()
    set_up_torch(arguments.torch_threads)
    pool = make_pool(arguments)
    evaluation = Evaluation(
        kinds, arguments.eval_opponents, arguments.eval_deals, Objective(arguments.points_share)
    )
    return make_learner(make_tables(arguments, pool), arguments), pool, evaluation


def _recorder(
    folder: RunFolder, arguments: Arguments, pool: OpponentPool, evaluation: Evaluation
) -> Recorder:
    rules = next(iter(evaluation.kinds.values()))
    past = PastSelves(pool, rules, every=arguments.past_every)
    return Recorder(folder, arguments, pool, evaluation, past, Watch(arguments.critic_first))


def _learn(model: MaskablePPO, recorder: Recorder) -> Path:
    """Train with everything that happens beside it."""
    run, total = recorder.folder.path, recorder.arguments.total_timesteps
    model.set_logger(Logger(None, [_Curves(run / "tensorboard", model.num_timesteps)]))
    left = total - model.num_timesteps
    new = model.num_timesteps == 0
    try:
        if left > 0:
            model.learn(
                left,
                callback=[
                    CriticFirst(recorder.arguments.critic_first),
                    *(recorder.watch, recorder.past, recorder),
                ],
                log_interval=None,  # type: ignore[arg-type]
                reset_num_timesteps=new,
            )
    except EnoughError:
        pass
    except LearningError as error:
        raise LearningError(f"{error}\n{_what_is_kept(run)}") from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_what_is_kept(run)) from None
    finally:
        recorder.stop()
        model.logger.close()
    return run / POLICY


def _what_is_kept(run: Path) -> str:
    try:
        last_checkpoint(run)
    except RunError:
        return "no checkpoint yet"
    return f"go on from the last checkpoint with --resume {run}"


class _Curves(TensorBoardOutputFormat):
    """SB3's curves, where those beyond the checkpoint that a run goes on from are dropped."""

    def __init__(self, folder: Path, timesteps: int) -> None:
        self.writer = SummaryWriter(str(folder), purge_step=timesteps + 1)
        self._is_closed = False


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
                objective=Objective(arguments.points_share),
            )
        )
        before += number
    return blocks[0] if len(blocks) == 1 else MixedTables(blocks)


def make_learner(env: VecEnv, arguments: Arguments) -> MaskablePPO:
    """The learner that the arguments ask for, on any environment with the tables' spaces."""
    model = MaskablePPO(
        ActionScoringPolicy,
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
    assert isinstance(model.policy, ActionScoringPolicy)
    prepare(model.policy, arguments.kinds_of_tables(), arguments.seed)
    if arguments.warm_start:
        warm_start(model.policy, Policy.load(arguments.warm_start))
    return model


def _table_of_baselines(path: Path, arguments: Arguments) -> str:
    """The policy against the baselines, for each kind of table."""
    print(f"\nThe policy is in {path}. Share of rounds won against the baselines:\n")
    agent = PolicyAgent.load(path)
    deals, jobs = arguments.benchmark_deals, os.cpu_count() or 1
    return "\n\n".join(
        f"{kind}\n\n{format_table(benchmark(agent, rules=rules, deals=deals, jobs=jobs))}"
        for kind, rules in arguments.named_kinds().items()
    )


def _parse(words: Sequence[str]) -> tuple[Arguments, Path | None]:
    """The arguments, and the run to go on with, if one is.

    Raises:
        ValueError: no such preset, no run to go on with, or arguments that it does not have.
    """
    first = argparse.ArgumentParser(prog=_PROG, add_help=False, allow_abbrev=False)
    first.add_argument("--resume", type=Path)
    name = words[0] if words and not words[0].startswith("-") else None
    options, rest = first.parse_known_args(words[1:] if name else words)
    run: Path | None = options.resume
    if run is None:
        default = preset(name or "quick")
    elif name:
        raise RunError(f"{name} --resume {run}: a run keeps its arguments; leave the preset out")
    else:
        default = read_arguments(run)
    given: Arguments = tyro.cli(
        Arguments, prog=_PROG, description=__doc__, default=default, args=rest
    )
    if run is not None:
        if given.out != default.out:
            raise RunError(f"--out {given.out}: the run to go on with is {run}; leave it out")
        check_same(default, given)
    return given, run


def main() -> int:
    """The command line; returns the exit status."""

    def output() -> str:
        arguments, run = _parse(sys.argv[1:])
        path = resume(run, arguments.total_timesteps) if run else train(arguments)
        return _table_of_baselines(path, arguments)

    try:
        return run_command(_PROG, output)
    except LearningError as error:
        print(f"{_PROG}: {error}", file=sys.stderr)
        return 1
    except (ValueError, OSError) as error:
        print(f"{_PROG}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
