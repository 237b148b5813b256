"""`TableVecEnv`: an SB3 `VecEnv` over one `GameBatch`, without a Python loop over the games.

Each environment is a table where one seat learns and opponents from a pool hold the others. A step
plays the learner's action and then everything up to its next real choice: the opponents' actions,
and the learner's own where only one is legal, which nothing can be learnt from.

`MixedTables` puts blocks of such tables side by side: other numbers of players, or other rules.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Any, Never

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from eval.answers import ask
from train.objective import Objective
from train.opponents import OpponentPool
from uno_env.game.actions import NUM_ACTIONS
from uno_env.game.cards import NUM_KINDS
from uno_env.game.checks import whole_number
from uno_env.game.engine import GameBatch
from uno_env.game.observation import FULL_SIZE, HIGH, OBSERVATION_SIZE
from uno_env.game.rules import MAX_PLAYERS, Rules

Rows = NDArray[np.intp]
_MASKS = "action_masks"


_MOST_OF_A_KIND = 4
"""Wild cards of a kind in the deck, the most there are."""


def _full_high() -> NDArray[np.uint8]:
    """The largest values of what `GameBatch.observe_all` gives: (FULL_SIZE,) uint8."""
    high = np.full(FULL_SIZE, NUM_KINDS, np.uint8)  # a kind plus one, but for what follows
    hands = slice(OBSERVATION_SIZE, OBSERVATION_SIZE + MAX_PLAYERS * NUM_KINDS)
    high[:OBSERVATION_SIZE] = HIGH
    high[hands] = _MOST_OF_A_KIND
    high[-1] = 1
    return high


FULL_HIGH = _full_high()
"""As `HIGH`, of the observation with all hands and the draw pile: (FULL_SIZE,) uint8."""


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


class SavedVecEnv(BlockVecEnv):
    """Tables that can be put away and taken out again as they were."""

    @abstractmethod
    def reset(self) -> NDArray[np.uint8]:
        """Deal all tables anew and play up to the learner's first choice; as `observe`."""

    @abstractmethod
    def observe(self) -> NDArray[np.uint8]:
        """What the learner is told now at all tables: a new array (N, F), or (N, FULL_SIZE)."""

    @abstractmethod
    def saved(self) -> tuple[dict[str, NDArray[Any]], list[Any]]:
        """All that decides what follows, opponents apart: arrays by name, and states of chance.

        The latter are as JSON can hold them.
        """

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]], chance: Sequence[Any]) -> None:
        """Go on from what `saved` gave on tables made with the same arguments.

        Raises:
            KeyError: an array is missing.
            ValueError: an array of another shape or dtype.
        """


class TableVecEnv(SavedVecEnv):
    """N tables for one learner.

    Observations are (N, F) uint8 as laid out in `uno_env.game.observation`. A round is rewarded by
    what it is worth (`Objective`), times the root of (players - 1): so winning deviates by 1 at
    tables of every size; else the smallest ones would drown what there is to learn at the others.

    The learner's seat moves on with every round.
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
        full_information: whether the learner's observations, and ``terminal_observation``, are rows
            (FULL_SIZE,) of `GameBatch.observe_all`, for a critic that sees the true hands. What the
            actor may know are the first F of a row. Opponents see what they always do.
        objective: what rounds are worth.

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
        full_information: bool = False,
        objective: Objective = Objective(),  # noqa: B008 - it is frozen
    ) -> None:
        num_envs = whole_number("num_envs", num_envs, 1)
        if not isinstance(opponents, OpponentPool):
            raise TypeError(f"opponents={opponents!r}: allowed is an OpponentPool")
        self.max_decisions = whole_number("max_decisions", max_decisions, 1)
        self.batch = GameBatch(rules, num_envs, seed)
        self.full_information = full_information
        self.objective = objective
        high = FULL_HIGH if full_information else HIGH
        observation_space = spaces.Box(np.zeros_like(high), high, dtype=np.uint8)
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
        with self.or_as_before():
            self.deal()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self.observe()

    def deal(self) -> None:
        """What `reset` does to the tables, which are not as before where this raises."""
        rows: Rows = np.arange(self.num_envs)
        self._start(rows)
        self._play_on(rows)
        self._ready = True
        self._actions = None

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
        self.keep(self.checked(actions))

    def checked(self, actions: NDArray[Any]) -> NDArray[np.intp]:
        """The actions as `keep` wants them. Raises as `step_async`."""
        if not self._ready:
            raise ResetNeeded("call reset() before step()")
        return self.batch.check(actions)

    def keep(self, actions: NDArray[np.intp]) -> None:
        """Have these actions played by the next step; they are trusted to be legal."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Play the learner's actions and on to its next choice; finished tables are dealt anew.

        Raises:
            gymnasium.error.ResetNeeded: no actions were given since the last step.
            AgentError: an opponent raised, or answered with something else than legal actions.
        """
        actions = self.taken()
        with self.or_as_before():
            self.advance(actions)
        return self.observe(), *self.outcome()

    def taken(self) -> NDArray[np.intp]:
        """The actions that were kept, which are then no more.

        Raises:
            gymnasium.error.ResetNeeded: there are none.
        """
        if self._actions is None:
            raise ResetNeeded("there are no actions to play: call step_async() before step_wait()")
        actions, self._actions = self._actions, None
        return actions

    def advance(self, actions: NDArray[np.intp]) -> None:
        """What `step_wait` does to the tables, which are not as before where this raises."""
        self._clear()
        rows: Rows = np.arange(self.num_envs)
        self._steps += 1
        self._step(rows, actions)
        self._play_on(rows)

    def outcome(self) -> tuple[NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Rewards, dones and infos of the last step."""
        return self._rewards, self._dones, self._infos

    def observe(self) -> NDArray[np.uint8]:
        """See `SavedVecEnv.observe`."""
        return self._observe(self.learner)

    def _observe(self, seats: NDArray[np.intp], rows: Rows | None = None) -> NDArray[np.uint8]:
        observe = self.batch.observe_all if self.full_information else self.batch.observe
        return observe(seats, rows)

    def masks(self) -> NDArray[np.bool_]:
        """The learner's legal actions at all tables: (N, A) bool, a new array."""
        return self.batch.legal

    # ------------------------------------------------------------------ play

    def _clear(self) -> None:
        """New arrays for what a step brings; SB3 keeps those of the last one."""
        self._rewards = np.zeros(self.num_envs, np.float32)
        self._dones = np.zeros(self.num_envs, np.bool_)
        self._infos: list[dict[str, Any]] = [_NOTHING] * self.num_envs

    def _own_arrays(self) -> dict[str, NDArray[Any]]:
        """What there is beside the state of the games, by name; no copies."""
        names = ("learner", "opponent", "decisions", "_steps")
        return {name.removeprefix("_"): getattr(self, name) for name in names}

    @contextmanager
    def or_as_before(self) -> Iterator[None]:
        """Where what is done raises, the tables and the pool's counts are as they were before."""
        state = self.batch.state.copy()
        arrays: list[NDArray[Any]] = [*self._own_arrays().values(), *self.opponents.counts()]
        copies = [array.copy() for array in arrays]
        chance, ready = self.rng.bit_generator.state, self._ready
        try:
            yield
        except BaseException:
            self.batch.state = state
            for array, copy in zip(arrays, copies, strict=True):
                array[:] = copy
            self.rng.bit_generator.state = chance
            self._ready = ready
            raise

    # ------------------------------------------------------------------ put away

    def saved(self) -> tuple[dict[str, NDArray[Any]], list[Any]]:
        """See `SavedVecEnv.saved`."""
        arrays = {**self.batch.state.arrays(), **self._own_arrays()}
        copies = {name: array.copy() for name, array in arrays.items()}
        return copies, [self.rng.bit_generator.state]

    def restore(self, arrays: Mapping[str, NDArray[Any]], chance: Sequence[Any]) -> None:
        """See `SavedVecEnv.restore`."""
        targets = {**self.batch.state.arrays(), **self._own_arrays()}
        for name, target in targets.items():
            found = arrays[name]
            if found.shape != target.shape or found.dtype != target.dtype:
                raise ValueError(
                    f"array {name} is {found.dtype} of the shape {found.shape}: needed is "
                    f"{target.dtype} of the shape {target.shape}"
                )
        for name, target in targets.items():
            target[:] = arrays[name]
        (self.rng.bit_generator.state,) = chance
        self._ready, self._actions = True, None

    def _start(self, rows: Rows) -> None:
        """New rounds with new opponents; the learner moves on by a seat."""
        self.batch.reset(rows)
        self.learner[rows] = (self.learner[rows] + 1) % self.batch.rules.num_players
        self.opponent[rows] = self.opponents.choose(
            len(rows), self.rng, self.batch.rules.num_players
        )
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
        self._note_end(where, rewards[ended] > 0, cut[ended])
        self._start(where)

    def _note_end(self, rows: Rows, winners: NDArray[np.bool_], cut: NDArray[np.bool_]) -> None:
        """Write the outcome of finished rounds, but of those in which the learner never chose.

        Args:
            rows: (n,) the tables.
            winners: (n, P) who won.
            cut: (n,) whether the round was cut off.
        """
        chose = self._steps[rows] > 0
        rows, winners, cut = rows[chose], winners[chose], cut[chose]
        rules, own = self.batch.rules, (np.arange(len(rows)), self.learner[rows])
        won = winners[own]
        rewards = self.objective.worth(rules, winners, self.batch.points[rows])[own]
        rewards *= np.float32(math.sqrt(rules.num_players - 1))
        self._rewards[rows] = rewards
        self._dones[rows] = True
        self.opponents.record(self.opponent[rows], won, self.batch.rules.num_players)
        last = self._observe(self.learner[rows], rows)
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


class MixedTables(SavedVecEnv):
    """Blocks of tables side by side, as one `VecEnv`: a learner that plays all of them at once.

    Environments are numbered through the blocks in their order. Where a call raises, the tables of
    all blocks are as they were before it.

    Args:
        blocks: one or more, with the same pool and the same spaces.

    Raises:
        ValueError: no blocks, other pools, or other spaces.
    """

    def __init__(self, blocks: Sequence[TableVecEnv]) -> None:
        if not blocks:
            raise ValueError("blocks is empty: allowed is at least one")
        first = blocks[0]
        for block in blocks:
            if block.opponents is not first.opponents:
                raise ValueError("blocks with pools of their own: allowed is one pool for all")
            if block.observation_space != first.observation_space:
                raise ValueError("blocks that tell the learner more or less than others")
        self.render_mode = None
        self.blocks = tuple(blocks)
        self.opponents = first.opponents
        sizes = [block.num_envs for block in blocks]
        super().__init__(sum(sizes), first.observation_space, first.action_space)
        self._ends = np.cumsum(sizes)[:-1]

    @contextmanager
    def _or_as_before(self) -> Iterator[None]:
        with ExitStack() as stack:
            for block in self.blocks:
                stack.enter_context(block.or_as_before())
            yield

    def reset(self) -> NDArray[np.uint8]:
        """Deal all tables anew; see `TableVecEnv.reset`."""
        with self._or_as_before():
            for block in self.blocks:
                block.deal()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self.observe()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions for `step_wait`; see `TableVecEnv.step_async`.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
            ValueError: actions of another shape, out of range or illegal; says in which block.
            TypeError: actions that are no integers.
        """
        array = np.asarray(actions)
        if array.shape != (self.num_envs,):
            raise ValueError(f"actions have the shape {array.shape}: allowed is ({self.num_envs},)")
        checked = []
        for number, own in enumerate(np.split(array, self._ends)):
            try:
                checked.append(self.blocks[number].checked(own))
            except ValueError as error:
                raise ValueError(f"block {number}: {error}") from None
        for block, own in zip(self.blocks, checked, strict=True):
            block.keep(own)

    def step_wait(self) -> VecEnvStepReturn:
        """Play on at all tables; see `TableVecEnv.step_wait`."""
        actions = [block.taken() for block in self.blocks]
        with self._or_as_before():
            for block, own in zip(self.blocks, actions, strict=True):
                block.advance(own)
        rewards, dones, infos = zip(*(block.outcome() for block in self.blocks), strict=True)
        joined = [info for own in infos for info in own]
        return self.observe(), np.concatenate(rewards), np.concatenate(dones), joined

    def observe(self) -> NDArray[np.uint8]:
        """See `SavedVecEnv.observe`."""
        return np.concatenate([block.observe() for block in self.blocks])

    def masks(self) -> NDArray[np.bool_]:
        """The learner's legal actions at all tables: (N, A) bool, a new array."""
        return np.concatenate([block.masks() for block in self.blocks])

    def saved(self) -> tuple[dict[str, NDArray[Any]], list[Any]]:
        """See `SavedVecEnv.saved`."""
        saved = [block.saved() for block in self.blocks]
        arrays = {
            f"{number}.{name}": array
            for number, (own, _) in enumerate(saved)
            for name, array in own.items()
        }
        return arrays, [chance for _, own in saved for chance in own]

    def restore(self, arrays: Mapping[str, NDArray[Any]], chance: Sequence[Any]) -> None:
        """See `SavedVecEnv.restore`."""
        for number, (block, state) in enumerate(zip(self.blocks, chance, strict=True)):
            start = f"{number}."
            own = {
                name.removeprefix(start): array
                for name, array in arrays.items()
                if name.startswith(start)
            }
            block.restore(own, [state])
