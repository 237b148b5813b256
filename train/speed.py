"""How fast training and policies are, for `eval.benchmark`.

Of training it is frames per second, and the ceiling above them.

The ceiling is what the same learner makes of an environment that costs nothing. What lies between
the two is the time of the tables: the core, the opponents, and what the learner is told.

Of policies it is decisions per second: of a portable one in numpy, and of the same in torch, as SB3
asks it (`predict`).

`eval` may not import `train`, so `eval.benchmark` looks this module up by its name. The contract is
that of `workloads` and `comparisons`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn

from agents import make_agent
from agents.policy import PolicyAgent
from eval.timing import Comparison, Play, Workload
from train.callbacks import PastSelves
from train.network import export_policy
from train.opponents import OpponentPool
from train.ppo import Arguments, make_learner, make_pool, make_tables, set_up_torch
from train.vec_env import BlockVecEnv, SavedVecEnv
from uno_env.game.engine import GameBatch
from uno_env.game.observation import OBSERVATION_SIZE
from uno_env.game.rules import Rules

TABLE = "training, frames per second over whole iterations"
DECISIONS = "a policy of the default size, decisions per second"
NUM_ENVS = (256, 1_024)
FRAMES = 16_384
"""Of an iteration: a rollout and the update on it."""
DECISIONS_AT_ONCE = (1, 4_096)
PAST_SELVES = 6
"""In the pool from the start: as many as a run of the default length has halfway."""
TARGET = 0.85
"""The share of the ceiling that is aimed at."""


class RecordedTables(BlockVecEnv):
    """What tables did, played again and again at no cost, whatever the actions are.

    The same spaces, observations, masks, rewards and ends of rounds, for as many steps as were
    recorded, and then from the start. Nothing can be learnt from it.

    Args:
        tables: N tables; they are reset and play `steps` steps, with random actions of the learner.
        steps: how many, at least 1.
    """

    def __init__(self, tables: SavedVecEnv, steps: int) -> None:
        self.render_mode = None
        super().__init__(tables.num_envs, tables.observation_space, tables.action_space)
        chooser, rng = make_agent("random"), np.random.default_rng(0)
        self._first = tables.reset()
        self._masks: list[NDArray[np.bool_]] = []
        self._returns: list[Any] = []
        for _ in range(steps):
            mask = tables.masks()
            self._masks.append(mask)
            # The agent looks at the mask alone.
            self._returns.append(
                tables.step(chooser.act(self._first[:, :OBSERVATION_SIZE], mask, rng))
            )
        self._at = 0

    def reset(self) -> NDArray[np.uint8]:
        """The observations that were there before the first recorded step."""
        self._at = 0
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self._first.copy()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Ignore the actions."""

    def step_wait(self) -> VecEnvStepReturn:
        """The next recorded step, in arrays of its own but for the infos."""
        observation, rewards, dones, infos = self._returns[self._at]
        self._at = (self._at + 1) % len(self._returns)
        return observation.copy(), rewards.copy(), dones.copy(), infos

    def masks(self) -> NDArray[np.bool_]:
        """The recorded masks, as `TableVecEnv` gives them: (N, A) bool."""
        return self._masks[self._at]


def _add_past_selves(model: MaskablePPO, pool: OpponentPool, rules: Rules) -> None:
    rng = np.random.default_rng(0)
    for _ in range(PAST_SELVES):
        pool.add_past(PolicyAgent(export_policy(model.policy, rules), temperature=1.0), rng)


def learner_play(arguments: Arguments, ceiling: bool) -> Play:
    """A learner that goes on by an iteration at a time, one of them over.

    Args:
        arguments: of training; two threads or more are not for measuring on one core.
        ceiling: whether it learns on recorded tables in place of real ones.
    """
    set_up_torch(arguments.torch_threads)
    rules = arguments.kinds_of_tables()[0]
    pool = make_pool(arguments)
    tables = make_tables(arguments, pool)
    model = make_learner(tables, arguments)
    _add_past_selves(model, pool, rules)
    if ceiling:
        model = make_learner(RecordedTables(tables, arguments.num_steps), arguments)
    # Each iteration is a call of `learn`, at the end of which the falling rate would be zero, and
    # the learner would stay what it was.
    model.lr_schedule = lambda _: arguments.learning_rate
    past = PastSelves(pool, rules, every=arguments.past_every)
    frames = arguments.num_envs * arguments.num_steps

    def advance(_: None) -> int:
        model.learn(frames, callback=past, reset_num_timesteps=False)
        return frames

    advance(None)
    return Play(advance)


def _arguments(num_envs: int) -> Arguments:
    """The defaults of training, but for the number of tables, at the same frames an iteration."""
    return replace(
        Arguments(num_players=(2,), torch_threads=1),
        num_envs=num_envs,
        num_steps=FRAMES // num_envs,
    )


def _column(num_envs: int) -> str:
    return f"{num_envs:,} environments"


def _at_once(number: int) -> str:
    return f"{number:,} at once"


def decisions_play(number: int, *, portable: bool) -> Play:
    """A policy that chooses at so many tables of 2 players, again and again the same choices.

    Args:
        number: of choices made at a time.
        portable: whether by the portable policy, or by SB3's in torch, of the same weights.
    """
    arguments = _arguments(NUM_ENVS[0])
    set_up_torch(1)
    model = make_learner(make_tables(arguments, make_pool(arguments)), arguments)
    batch = GameBatch(arguments.kinds_of_tables()[0], number, seed=0)
    mask = batch.legal
    if portable:
        policy, seen = export_policy(model.policy, batch.rules), batch.observe()

        def choose() -> None:
            policy.act(seen, mask)
    else:
        told = batch.observe_all()

        def choose() -> None:
            model.predict(told, deterministic=True, action_masks=mask)

    def advance(_: None) -> int:
        choose()
        return number

    advance(None)
    return Play(advance)


_TRAINING, _CEILING = "PPO at the tables", "the same at no cost"
_PORTABLE, _SB3 = "portable, in numpy", "SB3's, in torch"


def workloads() -> list[Workload]:
    """Training and its ceiling: 2 players, against the default opponents and past selves.

    Decisions of policies, one at a time and many at once.
    """
    decisions = [
        Workload(
            DECISIONS, row, partial(decisions_play, number, portable=portable), _at_once(number)
        )
        for row, portable in ((_PORTABLE, True), (_SB3, False))
        for number in DECISIONS_AT_ONCE
    ]
    return decisions + [
        Workload(
            TABLE, row, partial(learner_play, _arguments(num_envs), ceiling), _column(num_envs)
        )
        for row, ceiling in ((_TRAINING, False), (_CEILING, True))
        for num_envs in NUM_ENVS
    ]


def comparisons() -> list[Comparison]:
    """The share of the ceiling; numpy to torch."""
    decisions = [
        Comparison(f"{_PORTABLE}, {_at_once(number)}", f"{_SB3}, {_at_once(number)}")
        for number in DECISIONS_AT_ONCE
    ]
    return decisions + [
        Comparison(f"{_TRAINING}, {_column(num_envs)}", f"{_CEILING}, {_column(num_envs)}", TARGET)
        for num_envs in NUM_ENVS
    ]
