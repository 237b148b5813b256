"""`TableVecEnv`: an SB3 `VecEnv` over one `GameBatch`, without a Python loop over the games.

Each environment is a table where one seat learns and opponents from a pool hold the others. A step
plays the learner's action and then everything up to its next real choice: the opponents' actions,
and the learner's own where only one is legal, which nothing can be learnt from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from eval.answers import ask
from train.opponents import OpponentPool
from uno_env.game.actions import NUM_ACTIONS
from uno_env.game.engine import GameBatch
from uno_env.game.observation import HIGH
from uno_env.game.rules import Rules

Rows = NDArray[np.intp]
_MASKS = "action_masks"


class TableVecEnv(VecEnv):
    """N tables for one learner.

    Observations are (N, F) uint8 as laid out in `uno_env.game.observation`, rewards +1 for winning
    the round and -1 / (players - 1) for losing it. The learner's seat moves on with every round.
    Masks come from ``env_method("action_masks")`` as one block of all tables.

    Args:
        rules: of all tables.
        num_envs: N.
        opponents: who holds the other seats; one is chosen for each table and round.
        seed: of the deals, the choice of opponents and their own randomness.
        max_decisions: decisions of all seats after which a round is cut off (truncation).
    """

    def __init__(
        self,
        rules: Rules,
        num_envs: int,
        opponents: OpponentPool,
        *,
        seed: int = 0,
        max_decisions: int = 1_000,
    ) -> None:
        observation_space = spaces.Box(np.zeros_like(HIGH), HIGH, dtype=np.uint8)
        self.render_mode = None
        super().__init__(num_envs, observation_space, spaces.Discrete(NUM_ACTIONS))
        self.opponents = opponents
        self.max_decisions = max_decisions
        self.rng = np.random.default_rng([seed, 1])
        self.batch = GameBatch(rules, num_envs, seed)
        self.learner: NDArray[np.intp] = np.arange(num_envs) % rules.num_players
        self.opponent = np.zeros(num_envs, np.intp)
        self.decisions = np.zeros(num_envs, np.int32)
        self._steps = np.zeros(num_envs, np.int32)
        self._actions: NDArray[np.intp] = np.zeros(num_envs, np.intp)
        self._clear()

    # ------------------------------------------------------------------ the VecEnv interface

    def reset(self) -> NDArray[np.uint8]:
        """Deal all tables anew and play up to the learner's first choice."""
        rows: Rows = np.arange(self.num_envs)
        self._start(rows)
        self._play_on(rows)
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self.batch.observe(self.learner)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = np.asarray(actions, dtype=np.intp)

    def step_wait(self) -> VecEnvStepReturn:
        """Play the learner's actions and on to its next choice; finished tables are dealt anew."""
        self._clear()
        self._steps += 1
        rows: Rows = np.arange(self.num_envs)
        self._step(rows, self._actions)
        self._play_on(rows)
        return self.batch.observe(self.learner), self._rewards, self._dones, self._infos

    def env_method(
        self,
        method_name: str,
        *method_args: Any,  # noqa: ARG002
        indices: VecEnvIndices = None,  # noqa: ARG002
        **method_kwargs: Any,  # noqa: ARG002
    ) -> list[Any]:
        """The masks of all tables as a single block (N, A); there is no other method."""
        if method_name != _MASKS:
            raise AttributeError(f"{type(self).__name__} has no method {method_name!r}")
        return [self.batch.legal]

    def has_attr(self, attr_name: str) -> bool:
        """Whether `action_masks` is asked for."""
        return attr_name == _MASKS or hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of this object, once per table asked for."""
        value = None if attr_name == _MASKS else getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """The tables have no attributes of their own: always an AttributeError."""
        raise AttributeError(f"{attr_name!r} cannot be set to {value!r} at tables {indices}")

    def env_is_wrapped(
        self,
        wrapper_class: Any,  # noqa: ARG002
        indices: VecEnvIndices = None,
    ) -> list[bool]:
        """No table is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing is held open."""

    # ------------------------------------------------------------------ play

    def _clear(self) -> None:
        """New arrays for what a step brings; SB3 keeps those of the last one."""
        self._rewards = np.zeros(self.num_envs, np.float32)
        self._dones = np.zeros(self.num_envs, np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]

    def _start(self, rows: Rows) -> None:
        """New rounds with new opponents; the learner moves on by a seat."""
        self.batch.reset(rows)
        self.learner[rows] = (self.learner[rows] + 1) % self.batch.rules.num_players
        self.opponent[rows] = self.opponents.choose(len(rows), self.rng)
        self.decisions[rows] = 0
        self._steps[rows] = 0

    def _step(self, rows: Rows, actions: NDArray[np.intp]) -> None:
        """One action at each of some tables; those whose round ends with it are noted and dealt."""
        rewards, over = self.batch.step(actions, rows)
        self.decisions[rows] += 1
        cut = ~over & (self.decisions[rows] >= self.max_decisions)
        ended = over | cut
        if not ended.any():
            return
        where = rows[ended]
        own = rewards[ended, self.learner[where]]
        self._note_end(where, own, cut[ended])
        self._start(where)

    def _note_end(self, rows: Rows, rewards: NDArray[np.float32], cut: NDArray[np.bool_]) -> None:
        """Write the outcome of finished rounds, but of those in which the learner never chose."""
        chose = self._steps[rows] > 0
        rows, rewards, cut = rows[chose], rewards[chose], cut[chose]
        self._rewards[rows] = rewards
        self._dones[rows] = True
        self.opponents.record(self.opponent[rows], rewards > 0)
        last = self.batch.observe(self.learner[rows], rows)
        for i, row in enumerate(rows):
            self._infos[row] = {
                "terminal_observation": last[i],
                "TimeLimit.truncated": bool(cut[i]),
                "episode": {"r": float(rewards[i]), "l": int(self._steps[row])},
            }

    def _play_on(self, rows: Rows) -> None:
        """Play until each table waits for a choice of its learner's."""
        while True:
            mine = self.batch.player[rows] == self.learner[rows]
            free = self.batch.count_legal(rows) > 1
            rows = rows[~(mine & free)]
            if not rows.size:
                return
            legal = self.batch.legal_of(rows)
            actions = legal.argmax(axis=1)
            asked = (self.batch.count_legal(rows) > 1).nonzero()[0]
            if asked.size:
                actions[asked] = self._ask(rows[asked], legal[asked])
            self._step(rows, actions)

    def _ask(self, rows: Rows, legal: NDArray[np.bool_]) -> NDArray[np.intp]:
        """What the opponents at some tables choose.

        Raises:
            AgentError: one raised, or answered with something else than legal actions.
        """
        observation = self.batch.observe(where=rows)
        actions = np.empty(len(rows), np.intp)
        opponents = self.opponent[rows]
        for opponent in np.bincount(opponents).nonzero()[0]:
            some = (opponents == opponent).nonzero()[0]
            agent = self.opponents.agents[opponent]
            actions[some] = ask(
                agent, self.batch, rows[some], observation[some], legal[some], self.rng, self._where
            )
        return actions

    def _where(self, row: int) -> str:
        return f"table {row}, decision {self.decisions[row] + 1}"
