"""`TableVecEnv`: an SB3 `VecEnv` over one `GameBatch`, without a Python loop over the games.

Each environment is a table where one seat learns and opponents from a pool hold the others. A step
plays the learner's action and then everything up to its next real choice: the opponents' actions,
and the learner's own where only one is legal, which nothing can be learnt from.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Never

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from eval.answers import ask
from train.opponents import OpponentPool
from uno_env.game.actions import NUM_ACTIONS
from uno_env.game.checks import whole_number
from uno_env.game.engine import GameBatch
from uno_env.game.observation import HIGH
from uno_env.game.rules import Rules

Rows = NDArray[np.intp]
_MASKS = "action_masks"


class _Nothing(dict[str, Any]):
    """The info of every table at which no round ended: empty, and refused to whoever writes on it.

    It stays a dict, which SB3 says infos are, can be deep-copied as by SB3's own environments, and
    gives a plain dict when copied.
    """

    def _refuse(self, *_args: object, **_settings: object) -> Never:
        raise TypeError(
            "the info of a table at which no round ended is shared by all of these: write on a "
            "copy of it"
        )

    __setitem__ = __ior__ = update = setdefault = _refuse


_NOTHING = _Nothing()


class BlockVecEnv(VecEnv):
    """What SB3 asks of a `VecEnv`, where masks come as one block: subclasses give `masks()`."""

    @abstractmethod
    def masks(self) -> NDArray[np.bool_]:
        """The learner's legal actions at all tables: (N, A) bool."""

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
        return [self.masks()]

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


class TableVecEnv(BlockVecEnv):
    """N tables for one learner.

    Observations are (N, F) uint8 as laid out in `uno_env.game.observation`, rewards +1 for winning
    the round and -1 / (players - 1) for losing it. The learner's seat moves on with every round.
    Masks come from ``env_method("action_masks")`` as one block of all tables. Where a round ended,
    the info has ``terminal_observation``, ``TimeLimit.truncated`` and ``episode``; all other tables
    share one that is empty and cannot be written on.

    Where a call raises, all tables are as they were before it.

    Args:
        rules: of all tables.
        num_envs: N, at least 1.
        opponents: who holds the other seats; one is chosen for each table and round.
        seed: of the deals, the choice of opponents and their own randomness.
        max_decisions: decisions of all seats after which a round is cut off (truncation), at least
            1.

    Raises:
        ValueError: a number out of range, rules that are not allowed.
        TypeError: an argument of another type.
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
        num_envs = whole_number("num_envs", num_envs, 1)
        if not isinstance(opponents, OpponentPool):
            raise TypeError(f"opponents={opponents!r}: allowed is an OpponentPool")
        self.max_decisions = whole_number("max_decisions", max_decisions, 1)
        self.batch = GameBatch(rules, num_envs, seed)
        observation_space = spaces.Box(np.zeros_like(HIGH), HIGH, dtype=np.uint8)
        self.render_mode = None
        super().__init__(num_envs, observation_space, spaces.Discrete(NUM_ACTIONS))
        self.opponents = opponents
        self.rng = np.random.default_rng([seed, 1])
        self.learner: NDArray[np.intp] = np.arange(num_envs) % self.batch.rules.num_players
        self.opponent = np.zeros(num_envs, np.intp)
        self.decisions = np.zeros(num_envs, np.int32)
        self._steps = np.zeros(num_envs, np.int32)
        self._actions: NDArray[np.intp] | None = None
        self._ready = False
        self._clear()

    # ------------------------------------------------------------------ the VecEnv interface

    def reset(self) -> NDArray[np.uint8]:
        """Deal all tables anew and play up to the learner's first choice.

        Raises:
            AgentError: an opponent raised, or answered with something else than legal actions.
        """
        rows: Rows = np.arange(self.num_envs)
        with self._or_as_before():
            self._start(rows)
            self._play_on(rows)
        self._ready = True
        self._actions = None
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self.batch.observe(self.learner)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions for `step_wait`.

        Args:
            actions: (N,) integers, legal action ids.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
            ValueError: actions of another shape, out of range or illegal; names the first table
                concerned, as a game, and the reason.
            TypeError: actions that are no integers.
        """
        if not self._ready:
            raise ResetNeeded("call reset() before step()")
        self._actions = self.batch.check(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Play the learner's actions and on to its next choice; finished tables are dealt anew.

        Raises:
            gymnasium.error.ResetNeeded: no actions were given since the last step.
            AgentError: an opponent raised, or answered with something else than legal actions.
        """
        if self._actions is None:
            raise ResetNeeded("there are no actions to play: call step_async() before step_wait()")
        actions, self._actions = self._actions, None
        self._clear()
        rows: Rows = np.arange(self.num_envs)
        with self._or_as_before():
            self._steps += 1
            self._step(rows, actions)
            self._play_on(rows)
        return self.batch.observe(self.learner), self._rewards, self._dones, self._infos

    def masks(self) -> NDArray[np.bool_]:
        """The learner's legal actions at all tables: (N, A) bool, a new array."""
        return self.batch.legal

    # ------------------------------------------------------------------ play

    def _clear(self) -> None:
        """New arrays for what a step brings; SB3 keeps those of the last one."""
        self._rewards = np.zeros(self.num_envs, np.float32)
        self._dones = np.zeros(self.num_envs, np.bool_)
        self._infos: list[dict[str, Any]] = [_NOTHING] * self.num_envs

    @contextmanager
    def _or_as_before(self) -> Iterator[None]:
        """Where what is done raises, the tables and the pool's counts are as they were before."""
        state = self.batch.state.copy()
        arrays: list[NDArray[Any]] = [
            *(self.learner, self.opponent, self.decisions, self._steps),
            *(self.opponents.rounds, self.opponents.wins),
        ]
        copies = [array.copy() for array in arrays]
        chance = self.rng.bit_generator.state
        try:
            yield
        except BaseException:
            self.batch.state = state
            for array, copy in zip(arrays, copies, strict=True):
                array[:] = copy
            self.rng.bit_generator.state = chance
            raise

    def _start(self, rows: Rows) -> None:
        """New rounds with new opponents; the learner moves on by a seat."""
        self.batch.reset(rows)
        self.learner[rows] = (self.learner[rows] + 1) % self.batch.rules.num_players
        self.opponent[rows] = self.opponents.choose(len(rows), self.rng)
        self.decisions[rows] = 0
        self._steps[rows] = 0

    def _step(self, rows: Rows, actions: NDArray[np.intp]) -> None:
        """One action at each of some tables; those whose round ends with it are noted and dealt."""
        # Without indices the core has none to check.
        everywhere = rows.size == self.num_envs
        rewards, over = self.batch.step(actions, None if everywhere else rows)
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
            free = self.batch.count_legal(rows) > 1
            theirs = self.batch.player[rows] != self.learner[rows]
            goes_on = theirs | ~free
            rows, asked = rows[goes_on], free[goes_on].nonzero()[0]
            if not rows.size:
                return
            legal = self.batch.legal_of(rows)
            actions = legal.argmax(axis=1)
            if asked.size:
                actions[asked] = self._ask(rows[asked], legal[asked])
            self._step(rows, actions)

    def _ask(self, rows: Rows, legal: NDArray[np.bool_]) -> NDArray[np.intp]:
        """What the opponents at some tables choose.

        Raises:
            AgentError: one raised, or answered with something else than legal actions.
        """
        # Each opponent's tables stand together, so that it is given slices and not copies.
        order = np.argsort(self.opponent[rows], kind="stable")
        rows, legal = rows[order], legal[order]
        opponents = self.opponent[rows]
        observation = self.batch.observe(where=rows)
        answers = np.empty(rows.size, np.intp)
        for start, stop in pairwise([0, *np.flatnonzero(np.diff(opponents)) + 1, rows.size]):
            some = slice(start, stop)
            agent = self.opponents.agents[opponents[start]]
            answers[some] = ask(
                agent, self.batch, rows[some], observation[some], legal[some], self.rng, self._where
            )
        actions = np.empty_like(answers)
        actions[order] = answers
        return actions

    def _where(self, row: int) -> str:
        return f"table {row}, decision {self.decisions[row] + 1}"
