"""The Gymnasium vector environment: N tables stepped together in numpy.

::

    envs = gymnasium.make_vec("uno_env:UnoAngryBirds-v0", num_envs=1024)
    observations, infos = envs.reset(seed=1)
    observations, rewards, terminations, truncations, infos = envs.step(actions)
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from uno_env.envs.tables import RulesLike, Tables, observation_space, rules_of
from uno_env.game.actions import NUM_ACTIONS
from uno_env.game.checks import MAX_SEED, one_of, whole_number, whole_numbers
from uno_env.game.rules import MAX_CYCLES
from uno_env.game.state import Rows
from uno_env.render.modes import FPS, RENDER_MODES, Renderer, hint_at_modes

Infos = dict[str, Any]


class UnoVectorEnv(VectorEnv[NDArray[np.uint8], NDArray[np.integer], NDArray[Any]]):
    """N environments like `uno_env.envs.single_agent.UnoEnv`, stepped together.

    Each takes the course that a single environment with its seed and actions takes. Only opponents
    that use the `rng` they are given share it over the batch, and so depend on it.

    An episode that ends is followed by the next in the same step (``AutoresetMode.SAME_STEP``): so
    each row of each mask has a legal action, where with NEXT_STEP a masked policy would be asked
    for an action that there is not, and no step is spent on dealing. As is Gymnasium's convention
    for it, the observation that is returned is the first of the new episode, the last of the old
    stands in ``infos["final_obs"]`` (N,) object where ``infos["_final_obs"]`` (N,) bool is true,
    and its info in ``infos["final_info"]``.

    ``infos["action_mask"]`` is (N, 84) int8. An illegal action is a `ValueError` that names the
    first environment concerned and the reason. Where a call raises, be it for an opponent's sake in
    the middle of a step, all games are as they were.

    Args:
        num_envs: N, at least 1.
        rules: this and what follows as for `UnoEnv`.
        preset: see there.
        num_players: see there.
        opponents: see there; each is asked for all games at once.
        seat: see there.
        reward: see there.
        max_cycles: see there.
        render_mode: see there, without ``"human"``; `render` gives N of what it gives there.

    Raises:
        ValueError: an argument with a value that is not allowed, a policy file that does not fit.
        TypeError: an argument of the wrong type.
        FileNotFoundError: a policy file that is not there.
        gymnasium.error.DependencyNotInstalled: a render mode that needs pygame-ce, missing.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # an instance's in Gymnasium
        "render_modes": [mode for mode in RENDER_MODES if mode != "human"],
        "render_fps": FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: RulesLike | None = None,
        *,
        preset: str | None = None,
        num_players: int | None = None,
        opponents: Any = "random",
        seat: int | str = 0,
        reward: str = "win",
        max_cycles: int | None = MAX_CYCLES,
        render_mode: str | None = None,
    ) -> None:
        self.rules = rules_of(rules, preset, num_players)
        self.num_envs = whole_number("num_envs", num_envs, 1)
        self.render_mode = one_of("render_mode", render_mode, None, *self.metadata["render_modes"])
        self._renderer = Renderer(self.render_mode)
        self.single_observation_space = observation_space()
        self.single_action_space = spaces.Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._tables = Tables(
            self.rules,
            self.num_envs,
            secrets.randbits(64),
            opponents=opponents,
            seat=seat,
            reward=reward,
            max_cycles=max_cycles,
        )

    def reset(
        self,
        *,
        seed: int | Sequence[int] | NDArray[np.integer] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.uint8], Infos]:
        """Deal new rounds and play up to the learners' first decisions.

        Args:
            seed: environment i gets ``seed + i``, modulo 2^64; or one for each. Without, chance
                runs on; the first is random.
            options: ``{"reset_mask": (N,) bool}`` resets those environments alone; other keys are
                ignored.

        Returns:
            Observations (N, F) uint8 and infos, of all environments.

        Raises:
            ValueError: a seed out of range, not as many as environments, a mask of another shape or
                with nothing to reset, or an opponent's answer that is not legal.
            TypeError: seeds that are no whole numbers, a mask that is not bool, an opponent's
                answer of another kind.
            RuntimeError: an opponent raised.
        """
        rows = self._rows_of(options)
        seeds = None if seed is None else self._seeds_of(seed)
        if rows.size < self.num_envs and not self._tables.ready:
            raise ResetNeeded("call reset() for all environments first")
        before = self._np_random, self._np_random_seed
        if seeds is not None:
            if isinstance(seed, Sequence | np.ndarray):
                self.np_random = np.random.default_rng(seeds)
            else:
                super().reset(seed=int(seeds[0]), options=options)
            seeds = seeds[rows]
        try:
            with self._tables.or_as_before(self.np_random):
                self._tables.deal(self.np_random, rows, seeds)
        except BaseException:
            self._np_random, self._np_random_seed = before
            raise
        return self._tables.observe(), self._infos()

    def step(
        self, actions: NDArray[np.integer]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Play an action in each environment and on to the next decision of its learner.

        Args:
            actions: (N,) integers, legal action ids.

        Returns:
            Observations (N, F) uint8, rewards (N,) float64, whether each round is over (N,) bool,
            whether it was truncated (N,) bool, and infos.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
            ValueError: actions of another shape, out of range or illegal; an opponent's answer that
                is not legal.
            TypeError: actions that are no integers, an opponent's answer of another kind.
            RuntimeError: an opponent raised.
        """
        tables = self._tables
        checked = tables.check(actions)
        infos: Infos = {}
        with tables.or_as_before(self.np_random):
            outcome = tables.step(checked, self.np_random)
            ended = outcome.ended
            if ended.size:
                infos = self._final_infos(ended)
                tables.deal(self.np_random, ended)
        infos |= self._infos()
        return tables.observe(), outcome.rewards, outcome.terminated, outcome.truncated, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """The learners' legal actions: (N, 84) bool, at least one in each row after a reset."""
        return self._tables.masks() & self._tables.ready

    def render(self) -> tuple[Any, ...] | None:
        """Each table as the render mode has it, N strings or arrays.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        if not self._tables.ready:
            raise ResetNeeded("call reset() before render()")
        if self.render_mode is None:
            hint_at_modes()
            return None
        return tuple(self._tables.render(table, self._renderer) for table in range(self.num_envs))

    def _infos(self) -> Infos:
        everywhere = np.ones(self.num_envs, np.bool_)
        return {"action_mask": self.action_masks().view(np.int8), "_action_mask": everywhere}

    def _final_infos(self, ended: Rows) -> Infos:
        """The last observations and infos of episodes, as Gymnasium's own vectors keep them."""
        where = np.zeros(self.num_envs, np.bool_)
        where[ended] = True
        final = np.full(self.num_envs, None, dtype=object)
        for row, observation in zip(ended, self._tables.observe(ended), strict=True):
            final[row] = observation
        no_actions = np.zeros((self.num_envs, NUM_ACTIONS), np.int8)
        return {
            "final_obs": final,
            "_final_obs": where,
            "final_info": {"action_mask": no_actions, "_action_mask": where.copy()},
            "_final_info": where.copy(),
        }

    def _rows_of(self, options: dict[str, Any] | None) -> Rows:
        if options is None or "reset_mask" not in options:
            return np.arange(self.num_envs)
        mask = np.asarray(options["reset_mask"])
        if mask.dtype != np.bool_:
            raise TypeError(f"reset_mask is {mask.dtype}: allowed is bool")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"reset_mask has the shape {mask.shape} and {mask.sum()} true entries: allowed is "
                f"({self.num_envs},) with at least one"
            )
        return mask.nonzero()[0]

    def _seeds_of(self, seed: Any) -> NDArray[np.uint64]:
        if np.ndim(seed) == 0:
            first = np.uint64(whole_number("seed", seed, 0, MAX_SEED, note=", or a list"))
            return first + np.arange(self.num_envs, dtype=np.uint64)
        seeds = whole_numbers("seed", seed, 0, MAX_SEED, np.uint64)
        if seeds.shape != (self.num_envs,):
            raise ValueError(f"seeds have the shape {seeds.shape}: allowed is ({self.num_envs},)")
        return seeds
