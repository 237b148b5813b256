"""The PettingZoo environment: seats act one after the other (AEC, "agent environment cycle").

::

    env = uno_env.env("classic", num_players=4)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        done = terminated or truncated
        env.step(None if done else env.action_space(agent).sample(info["action_mask"]))

`env` and `raw_env` are the same. PettingZoo's usual wrappers (order enforced, actions in bounds, an
illegal action ends the game) take two thirds of a step of its own `leduc_holdem_v4`: every
attribute that is read goes through each of them, and each observation is made a second time for its
mask. What they promise is kept here instead, where the state is known and a check costs next to
nothing; what is raised, warned and rewarded is what they raise, warn and reward. Only an action out
of range is a `ValueError` or `TypeError` that names it, where theirs is a bare `AssertionError`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from typing import Any, Never, TypeAlias

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv  # type: ignore[import-untyped]
from pettingzoo.utils.env_logger import EnvLogger  # type: ignore[import-untyped]

from uno_env.game import dealing, scoring
from uno_env.game.actions import NUM_ACTIONS
from uno_env.game.cards import NUM_KINDS
from uno_env.game.checks import MAX_SEED, one_of, whole_number
from uno_env.game.engine import GameBatch
from uno_env.game.observation import FULL_SIZE, HIGH, OBSERVATION_SIZE
from uno_env.game.position import Position
from uno_env.game.rules import MAX_CYCLES, Rules
from uno_env.records import Record, Recorder
from uno_env.render.modes import FPS, RENDER_MODES, Frame, Renderer

Observation: TypeAlias = dict[str, NDArray[Any]]
"""`observation` (F,) uint8 and `action_mask` (84,) int8."""

ILLEGAL_REWARD = -1.0
"""The reward of an illegal action, as in PettingZoo's own games; the other seats get zero."""

_AFTER_RESET = frozenset(
    (
        *("agents", "num_agents", "agent_selection", "position", "record"),
        *("rewards", "terminations", "truncations", "infos"),
    )
)


class raw_env(AECEnv):  # type: ignore[misc]  # noqa: N801  (PettingZoo's name for it)
    """UNO for 2 to 10 agents, ``player_0`` ... by seat.

    Observation (a dict, for any agent at any time):
        ``observation``: what the seat may know, (F,) uint8, laid out in `uno_env.game.observation`.
        ``action_mask``: its legal actions, (84,) int8; zeros while another seat is to act. It also
        stands in ``infos[agent]["action_mask"]``.

    Action: an id of `uno_env.ACTIONS`.

    Rewards come when a round ends, to all seats, and add up to zero. Blocked rounds give none. With
    ``reward="win"`` the winner gets +1, each loser -1 / (P - 1), equal winners share; with
    ``"points"`` each gets the points it gained on the mean of the others. With ``episode="game"``
    rounds follow each other until a total reaches the target: points come after each round, the
    reward for winning at the end of the game.

    An illegal action ends the episode as PettingZoo's ``TerminateIllegalWrapper`` does: all agents
    are terminated and truncated, the offender gets -1, the others 0, and the agent's info says why
    (``why_illegal``). These are the only rewards that do not add up to zero.

    Args:
        rules: a `Rules`, the name of a preset, or whatever `Rules.make` takes.
        num_players: 2 to 10, in place of the number in `rules`.
        episode: ``"round"`` or ``"game"``.
        reward: ``"win"`` or ``"points"``.
        max_cycles: decisions in a round after which all agents are truncated, without a result;
            None for no cap.
        render_mode: what `render` gives: ``"ansi"`` text, ``"svg"`` the text of a picture,
            ``"rgb_array"`` its pixels, (640, 960, 3) uint8; ``"human"`` shows every step in a
            window; None. The hand of the seat to act is open.

    Raises:
        ValueError: an argument with a value that is not allowed.
        TypeError: an argument of the wrong type, or one that does not exist.
        gymnasium.error.DependencyNotInstalled: a render mode that needs pygame-ce, missing.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  (declared so by AECEnv)
        "name": "uno_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": FPS,
    }

    def __init__(
        self,
        rules: Rules | str | Mapping[str, Any] = "angry_birds",
        *,
        num_players: int | None = None,
        episode: str = "round",
        reward: str = "win",
        max_cycles: int | None = MAX_CYCLES,
        render_mode: str | None = None,
        **unknown: Never,
    ) -> None:
        super().__init__()
        if unknown:
            raise TypeError(
                f"unknown argument {next(iter(unknown))!r}: known are rules, num_players, episode, "
                "reward, max_cycles and render_mode; switches of the rules stand in rules, as in "
                "{'preset': 'classic', 'uno_penalty': 2}"
            )
        players = {} if num_players is None else {"num_players": num_players}
        self.rules = Rules.make(rules, **players)
        self._whole_game = one_of("episode", episode, "round", "game") == "game"
        self._rewards_points = one_of("reward", reward, "win", "points") == "points"
        self._max_cycles = _whole_number_or_none("max_cycles", max_cycles, 1)
        self.render_mode = one_of("render_mode", render_mode, None, *RENDER_MODES)
        self._renderer = Renderer(self.render_mode)

        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        # Made once, since PettingZoo's users seed the very spaces they are given.
        self.action_spaces = {agent: spaces.Discrete(NUM_ACTIONS) for agent in self._seats}
        self.observation_spaces = {agent: _observation_space() for agent in self._seats}
        self.state_space = _state_space()

        # Until a reset is given a seed the games differ from run to run, as in Gymnasium.
        self._batch = GameBatch(self.rules, 1, seed=secrets.randbits(64))
        self._mask = np.zeros(NUM_ACTIONS, np.int8)
        self._acting: int | None = None
        self._last_action: tuple[int, int] | None = None
        self._decisions = 0
        self._moves = 0
        self._has_reset = False

    def __getattr__(self, name: str) -> Any:
        """What PettingZoo declares but a reset makes is missing before the first."""
        if name in _AFTER_RESET:
            raise AttributeError(f"{name} cannot be accessed before reset")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # ------------------------------------------------------------------ what is to be seen

    def observation_space(self, agent: str) -> spaces.Dict:
        """The space of what `observe` gives, the same object at each call."""
        return self.observation_spaces[self._known(agent)]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The 84 actions, the same object at each call."""
        return self.action_spaces[self._known(agent)]

    def observe(self, agent: str) -> Observation:
        """What an agent may know now, on its turn or off it.

        Raises:
            AssertionError: before the first reset.
            ValueError: no such agent.
        """
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        seat = self._seats[self._known(agent)]
        mask = self._mask.copy() if seat == self._acting else _no_actions()
        return {"observation": self._batch.observe_one(0, seat), "action_mask": mask}

    def state(self) -> NDArray[np.uint8]:
        """All there is, seen from the seat to act: (FULL_SIZE,) uint8 (`GameBatch.observe_all`).

        Raises:
            AssertionError: before the first reset.
        """
        if not self._has_reset:
            EnvLogger.error_state_before_reset()
        return self._batch.observe_all()[0]

    @property
    def position(self) -> Position:
        """The game as a readable value; like the attributes it is missing before a reset."""
        if not self._has_reset:
            raise AttributeError("position cannot be accessed before reset")
        return self._batch.position(0)

    @property
    def record(self) -> Record:
        """What was played since the reset, to write to a file and to play again.

        Like the attributes it is missing before a reset.
        """
        if not self._has_reset:
            raise AttributeError("record cannot be accessed before reset")
        return self._recorder.record

    def render(self) -> Frame:
        """The table as the render mode has it; None in mode ``"human"``, which has a window.

        Raises:
            AssertionError: before the first reset.
        """
        if not self._has_reset:
            EnvLogger.error_render_before_reset()
        return self._renderer.render(self.position, last=self._last_action)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """The agent to step, again and again until all are done.

        Args:
            max_iter: the number of agents after which to stop.

        Raises:
            AssertionError: before the first reset, or two agents were asked for without a step.
        """
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return self._iterate(max_iter)

    def _iterate(self, max_iter: int) -> Iterator[str]:
        seen = -1
        while self.agents and max_iter > 0:
            if self._moves == seen:
                raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
            seen = self._moves
            max_iter -= 1
            yield self.agent_selection

    # ------------------------------------------------------------------ play

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game, whatever state the last one is in.

        Args:
            seed: 0 to 2^64 - 1, where the random stream starts; the same seed and actions give the
                same game, that of ``GameBatch(rules, 1, seed)``. Without, the stream runs on; the
                first is random.
            options: ``{"position": Position(...)}`` begins there instead; other keys are ignored,
                as is the custom.

        Raises:
            ValueError: a seed out of range, or a position that cannot be played on.
            TypeError: a seed that is no whole number, options that are no mapping, no `Position`.
        """
        seed = _whole_number_or_none("seed", seed, 0, MAX_SEED)
        position = _position_of(options)
        batch = self._batch
        if position is not None:
            _load(batch.copy(), position)  # where it fails, the game goes on as it was
        began = dealing.seed_of_stream(int(batch.state.stream[0])) if seed is None else seed
        batch.reset(seeds=None if seed is None else [seed])
        if position is not None:
            _load(batch, position)
        self._recorder = Recorder(batch, began, self.possible_agents, position)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {
            agent: {"action_mask": _no_actions()} for agent in self.agents
        }
        self._skip_agent_selection = None
        self._last_action = None
        self._decisions = 0
        self._moves += 1
        self._has_reset = True
        self._await_next()
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """The agent to act takes an action; an agent that is done takes None.

        An action that is illegal ends the episode for the offender, see the class.

        Raises:
            AssertionError: before the first reset.
            ValueError: an action out of range, or an action for an agent that is done.
            TypeError: an action that is no whole number.
        """
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        if not self.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            self._moves += 1
            return
        chosen = whole_number("action", action, 0, NUM_ACTIONS - 1, of=agent)
        self._moves += 1
        if any(self.rewards.values()):
            self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = {"action_mask": _no_actions()}
        if self._mask[chosen]:
            self._play(chosen)
        else:
            self._end_for_offender(agent, chosen)
        if self.render_mode == "human":
            self.render()

    def _play(self, action: int) -> None:
        """A legal action, and what it brings to an end."""
        batch = self._batch
        self._last_action = (batch.player_one(0), action)
        self._recorder.decide(*self._last_action)
        self._decisions += 1
        # Most steps are quick, and win no round.
        win_rewards = None
        if not batch.step_one(0, action):
            win_rewards, _ = batch.step(np.array([action]))
        if batch.done_one(0):
            nothing = np.zeros((1, batch.rules.num_players), np.float32)
            self._end_round(nothing if win_rewards is None else win_rewards)
            return
        if self._decisions == self._max_cycles:
            self._end(truncated=True)
            return
        self._await_next()

    def _end_round(self, win_rewards: NDArray[np.float32]) -> None:
        """A round is over; a game may go on with the next one."""
        self._recorder.end_round(self._batch)
        self._reward_round(win_rewards)
        if not self._whole_game or self._batch.game_over[0]:
            self._end(terminated=True)
            return
        self._batch.next_round()
        self._last_action = None
        self._decisions = 0
        self._await_next()

    def _await_next(self) -> None:
        """Select the agent to act and make its mask."""
        batch = self._batch
        self._acting = batch.player_one(0)
        self.agent_selection = agent = self.agents[self._acting]
        self._mask = batch.legal_one(0).view(np.int8)
        # Its own copy: what a user does to a mask must not decide what is legal.
        self.infos[agent] = {"action_mask": self._mask.copy()}

    def _reward_round(self, win_rewards: NDArray[np.float32]) -> None:
        """Reward all seats for a round that is over.

        Args:
            win_rewards: those for winning the round, (1, P).
        """
        batch = self._batch
        rewards = win_rewards
        if self._rewards_points:
            rewards = scoring.point_rewards(batch.rules, batch.points)
        elif self._whole_game:
            rewards = scoring.win_rewards(batch.game_winners)
        self._give(rewards[0].tolist())

    def _give(self, rewards: list[float]) -> None:
        self.rewards = dict(zip(self.agents, rewards, strict=True))
        self._accumulate_rewards()

    def _end(self, *, terminated: bool = False, truncated: bool = False) -> None:
        """The episode is over for all agents; each is still to be stepped with None."""
        self._acting = None
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._deads_step_first()

    def _end_for_offender(self, agent: str, action: int) -> None:
        """What PettingZoo's TerminateIllegalWrapper does, flags and warning included."""
        EnvLogger.warn_on_illegal_move()
        self.infos[agent]["why_illegal"] = self._batch.why_illegal(0, action)
        self._give([ILLEGAL_REWARD if other == agent else 0.0 for other in self.agents])
        self._end(terminated=True, truncated=True)

    def _known(self, agent: str) -> str:
        if not isinstance(agent, str) or agent not in self._seats:
            raise ValueError(
                f"unknown agent {agent!r}: known are player_0 to {self.possible_agents[-1]}"
            )
        return agent


def env(
    rules: Rules | str | Mapping[str, Any] = "angry_birds",
    *,
    num_players: int | None = None,
    episode: str = "round",
    reward: str = "win",
    max_cycles: int | None = MAX_CYCLES,
    render_mode: str | None = None,
    **unknown: Never,
) -> raw_env:
    """The AEC environment, with all checks; see `raw_env` for arguments, errors and the rest."""
    return raw_env(
        rules,
        num_players=num_players,
        episode=episode,
        reward=reward,
        max_cycles=max_cycles,
        render_mode=render_mode,
        **unknown,
    )


def _no_actions() -> NDArray[np.int8]:
    return np.zeros(NUM_ACTIONS, np.int8)


def _observation_space() -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": spaces.Box(np.zeros_like(HIGH), HIGH, dtype=np.uint8),
            "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
        }
    )


def _state_space() -> spaces.Box:
    """The observation, then counts of cards in hands, then the draw pile as kinds plus one."""
    high = np.full(FULL_SIZE, NUM_KINDS, np.uint8)
    high[:OBSERVATION_SIZE] = HIGH
    return spaces.Box(np.zeros_like(high), high, dtype=np.uint8)


def _position_of(options: Mapping[str, Any] | None) -> Any:
    if options is None:
        return None
    if not isinstance(options, Mapping):
        raise TypeError(
            f"options={options!r}: allowed is a mapping such as {{'position': Position(...)}}, "
            "or None"
        )
    return options.get("position")


def _load(batch: GameBatch, position: Position) -> None:
    batch.load(0, position)
    if batch.done_one(0):
        raise ValueError("the position has no decision left: its round is over or blocked")


def _whole_number_or_none(name: str, value: Any, low: int, high: int | None = None) -> int | None:
    return None if value is None else whole_number(name, value, low, high, note=", or None")
