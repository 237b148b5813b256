"""The Gymnasium environment: one seat learns, opponents hold the others.

::

    env = gymnasium.make("uno_env:UnoAngryBirds-v0", opponents="random")
    observation, info = env.reset(seed=1)
    action = env.action_space.sample(info["action_mask"])
    observation, reward, terminated, truncated, info = env.step(action)
"""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from uno_env.envs.aec import ILLEGAL_REWARD
from uno_env.envs.tables import RulesLike, Tables, observation_space, rules_of
from uno_env.game.actions import NUM_ACTIONS
from uno_env.game.checks import MAX_SEED, one_of, whole_number
from uno_env.game.rules import MAX_CYCLES
from uno_env.render.modes import FPS, RENDER_MODES, Frame, Renderer

Info = dict[str, Any]


class UnoEnv(gymnasium.Env[NDArray[np.uint8], int]):
    """UNO for one learner; an episode is a round.

    Registered as ``UnoAngryBirds-v0``, ``UnoClassic-v0`` and ``UnoOfficial-v0``.

    Observation: what the learner's seat may know, (F,) uint8, laid out in
    `uno_env.game.observation`. Action: an id of `uno_env.ACTIONS`. ``info["action_mask"]`` (84,)
    int8 says which are legal; after the end of an episode none are.

    A step plays the action and everything up to the learner's next decision. No decision of its own
    is skipped, also not those where only one action is legal. The episode ends with the round,
    whoever ends it. A round that ends before the learner's first decision is no episode: `reset`
    deals on until there is a decision.

    Rewards come at the end, as in `uno_env.env`; zero in rounds that are blocked or truncated.

    An illegal action ends the episode as it does in `uno_env.env`: the reward is -1 and
    ``info["why_illegal"]`` says why, so that learners without masks, and Gymnasium's own
    ``check_env``, can try any action. With ``illegal_action="raise"`` it is a `ValueError` with the
    reason. Where a call raises, be it for an opponent's sake, the game stays as it was.

    Args:
        rules: a `Rules`, the name of a preset, or whatever `Rules.make` takes. With a registered
            name: a mapping of switches that differ from its preset.
        preset: that of the registered name.
        num_players: 2 to 10, in place of the number in `rules`.
        opponents: ``"random"``; ``"trained"``, the policies of the package; the path of a policy
            file; a callable, or an object with ``act(observation, mask, rng)``, that is given
            (B, F) uint8, (B, 84) bool and a `numpy.random.Generator`, and answers with B legal
            actions; or a list of these, one for each other seat, in the order of seats after the
            learner's.
        seat: the learner's, from 0; ``"rotate"`` moves on by one each episode, from
            ``seed % num_players`` after a reset with a seed.
        reward: ``"win"`` or ``"points"``.
        max_cycles: decisions of all seats in a round after which it is truncated; None for no cap.
        illegal_action: ``"end"`` or ``"raise"``.
        render_mode: what `render` gives: ``"ansi"`` text, ``"svg"`` the text of a picture,
            ``"rgb_array"`` its pixels, (640, 960, 3) uint8; ``"human"`` shows each of the learner's
            decisions in a window; None.

    Raises:
        ValueError: an argument with a value that is not allowed, a policy file that does not fit.
        TypeError: an argument of the wrong type.
        FileNotFoundError: a policy file that is not there.
        gymnasium.error.DependencyNotInstalled: a render mode that needs pygame-ce, missing.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # an instance's in Gymnasium
        "render_modes": list(RENDER_MODES),
        "render_fps": FPS,
    }

    def __init__(
        self,
        rules: RulesLike | None = None,
        *,
        preset: str | None = None,
        num_players: int | None = None,
        opponents: Any = "random",
        seat: int | str = 0,
        reward: str = "win",
        max_cycles: int | None = MAX_CYCLES,
        illegal_action: str = "end",
        render_mode: str | None = None,
    ) -> None:
        self.rules = rules_of(rules, preset, num_players)
        self.render_mode = one_of("render_mode", render_mode, None, *RENDER_MODES)
        self._renderer = Renderer(self.render_mode)
        self._raises = one_of("illegal_action", illegal_action, "end", "raise") == "raise"
        self.observation_space = observation_space()
        self.action_space = spaces.Discrete(NUM_ACTIONS)  # type: ignore[assignment]
        self._tables = Tables(
            self.rules,
            1,
            secrets.randbits(64),
            opponents=opponents,
            seat=seat,
            reward=reward,
            max_cycles=max_cycles,
        )
        self._playing = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], Info]:
        """Deal a new round and play up to the learner's first decision.

        Args:
            seed: 0 to 2^64 - 1, where all chance starts; the same seed, opponents and actions give
                the same game. Without, it runs on; the first is random.
            options: none are known.

        Returns:
            The observation (F,) uint8 and the info.

        Raises:
            ValueError: a seed out of range, or an opponent's answer that is not legal.
            TypeError: a seed that is no whole number, or an opponent's answer of another kind.
            RuntimeError: an opponent raised.
        """
        if seed is not None:
            seed = whole_number("seed", seed, 0, MAX_SEED, note=", or None")
        before = self._np_random, self._np_random_seed
        super().reset(seed=seed, options=options)
        seeds = None if seed is None else np.array([seed], np.uint64)
        try:
            with self._tables.or_as_before(self.np_random):
                self._tables.deal(self.np_random, seeds=seeds)
        except BaseException:
            self._np_random, self._np_random_seed = before
            raise
        self._playing = True
        self._show()
        return self._tables.observe()[0], self._info()

    def step(self, action: int) -> tuple[NDArray[np.uint8], float, bool, bool, Info]:
        """Play an action and on to the learner's next decision, or the end.

        Returns:
            The observation (F,) uint8, the reward, whether the round is over, whether it was
            truncated, and the info.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset or after the end.
            ValueError: an action out of range; an illegal one with ``illegal_action="raise"``; an
                opponent's answer that is not legal.
            TypeError: an action that is no whole number, an opponent's answer of another kind.
            RuntimeError: an opponent raised.
        """
        if not self._playing:
            raise ResetNeeded("the episode is over or has not begun: call reset() before step()")
        chosen = whole_number("action", action, 0, NUM_ACTIONS - 1)
        tables = self._tables
        if not self._raises and not self.action_masks()[chosen]:
            self._playing = False
            why = tables.batch.why_illegal(0, chosen)
            info = {**self._info(), "why_illegal": why}
            return tables.observe()[0], ILLEGAL_REWARD, True, False, info
        actions = tables.check(np.array([chosen]))
        with tables.or_as_before(self.np_random):
            outcome = tables.step(actions, self.np_random)
        terminated, truncated = bool(outcome.terminated[0]), bool(outcome.truncated[0])
        self._playing = not (terminated or truncated)
        reward = float(outcome.rewards[0])
        self._show()
        return tables.observe()[0], reward, terminated, truncated, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """The learner's legal actions, for sb3-contrib: (84,) bool; none after the end."""
        return self._tables.masks()[0] & self._playing

    def _info(self) -> Info:
        return {"action_mask": self.action_masks().view(np.int8)}

    def render(self) -> Frame:
        """The table as the render mode has it; None in mode ``"human"``, which has a window.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        if not self._tables.ready:
            raise ResetNeeded("call reset() before render()")
        return self._tables.render(0, self._renderer)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()
