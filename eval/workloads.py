"""What `eval.benchmark` measures of this project: the core, the environments, tournaments.

Choosing actions is the benchmark's business and is not timed, but in PettingZoo's loop, which is
timed as it stands there, and where agents are part of what is measured: opponents and tournaments.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import uno_env
from agents import make_agent
from eval.timing import Play, Workload
from eval.tournament import round_robin
from uno_env.game.engine import GameBatch
from uno_env.game.observation import OBSERVATION_SIZE
from uno_env.game.rules import Rules

CORE = "core, decisions per second"
AEC = "AEC, steps per second"
GYMNASIUM = "Gymnasium, learner's steps per second"
TOURNAMENT = "tournament, rounds per second"

PLAY = {"uniform": "random", "keen": "keen"}
"""How games are played on, and the agent that does so. Uniform play draws so often that it almost
never ends a round: keen is what to quote."""
WARM_UP = 150
"""Steps before a core is measured: past the openings, rounds ended and dealt anew at all times."""
DEAL_AT = 16
"""One game in so many waits for a deal, at most."""
DEALS = 8_192
"""Deals of a tournament, each played from both seats: a piece of the usual size."""


def choose(play: str, mask: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.intp]:
    """An action for each row of a mask.

    Args:
        play: a key of `PLAY`.
        mask: (N, A) bool, at least one in each row.
        rng: where chance comes from.

    Returns:
        (N,) intp. With ``"keen"`` a card is played wherever one can be, UNO is always said and a
        player who did not is always caught.
    """
    # Both agents look at the mask alone, so observations need take neither time nor memory.
    unseen = np.broadcast_to(np.uint8(0), (len(mask), OBSERVATION_SIZE))
    return make_agent(PLAY[play]).act(unseen, mask, rng)


# --- The core ------------------------------------------------------------------------------------


class CorePlay:
    """Games of a core that go on for ever: steps, masks, and new deals.

    Rounds that are over wait until one game in `DEAL_AT` does, and are then dealt together, as one
    does who wants throughput: a deal of a hundred games takes little longer than one of ten. A game
    that waits is not counted.

    Args:
        batch: the games, none of them over.
        play: a key of `PLAY`.
        observe: whether what the seat to act may know is made, too.
    """

    def __init__(self, batch: GameBatch, play: str, observe: bool) -> None:
        self.batch, self.play, self.observe = batch, play, observe
        self.rng = np.random.default_rng(0)
        self.mask = batch.legal
        self.live = ~batch.done

    def choose(self) -> NDArray[np.intp]:
        """Actions for all games, zero where a game waits: (N,) intp."""
        actions = np.zeros(len(self.mask), np.intp)
        actions[self.live] = choose(self.play, self.mask[self.live], self.rng)
        return actions

    def advance(self, actions: NDArray[np.intp]) -> int:
        """Play them. Returns the decisions, one for each game that did not wait."""
        batch, decisions = self.batch, int(np.count_nonzero(self.live))
        _, done = batch.step(actions)
        if np.count_nonzero(done) * DEAL_AT >= len(done):
            batch.reset(done)
            done = np.zeros_like(done)
        self.live = ~done
        self.mask = batch.legal
        if self.observe:
            batch.observe()
        return decisions


def warm_batch(play: str, players: int, games: int) -> GameBatch:
    """Games in the midst of their rounds, each somewhere else: `WARM_UP` steps old."""
    batch = GameBatch(Rules.preset("angry_birds", num_players=players), games, seed=0)
    warm = CorePlay(batch, play, observe=False)
    for _ in range(WARM_UP):
        warm.advance(warm.choose())
    batch.reset(batch.done)
    return batch


def bytes_per_game(players: int) -> float:
    """Memory of the core's state: bytes for each game."""
    games = 64
    batch = GameBatch(Rules.preset("angry_birds", num_players=players), games)
    return sum(array.nbytes for array in batch.state.arrays().values()) / games


def core_row(play: str, players: int, observe: bool) -> str:
    """The row of a core's workload in the table."""
    seen = "mask and observation" if observe else "mask"
    return f"{play}, {players} players, {seen}"


def core_name(play: str, players: int, observe: bool, games: int) -> str:
    """The name of a core's workload."""
    return f"{core_row(play, players, observe)}, {_number_of_games(games)}"


def _number_of_games(games: int) -> str:
    return f"{games:,} game" if games == 1 else f"{games:,} games"


def core(players: Sequence[int], games: Sequence[int]) -> list[Workload]:
    """Each way of play, with each number of players and of games, without and with observation."""

    # The largest batch is warmed up once; smaller ones are part of it.
    @cache
    def warm(play: str, seats: int) -> GameBatch:
        return warm_batch(play, seats, max(games))

    def make(play: str, seats: int, observe: bool, number: int) -> Play:
        batch = warm(play, seats).take(np.arange(number))
        core = CorePlay(batch, play, observe)
        return Play(core.advance, core.choose)

    return [
        Workload(
            CORE,
            core_row(play, seats, observe),
            partial(make, play, seats, observe, number),
            _number_of_games(number),
        )
        for play in PLAY
        for seats in players
        for observe in (False, True)
        for number in games
    ]


# --- Environments --------------------------------------------------------------------------------


def aec_play(make_env: Callable[[], Any]) -> Play:
    """The loop of PettingZoo's ``performance_benchmark`` over an AEC environment, choices and all.

    A step of it is one pass over as many turns as there are agents. Actions are uniform over the
    legal ones.
    """
    env = make_env()
    env.reset()
    chance = random.Random(0)

    def advance(_: None) -> int:
        steps = 0
        for agent in env.agent_iter(env.num_agents):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                action = None
            elif isinstance(observation, dict) and "action_mask" in observation:
                action = chance.choice(np.flatnonzero(observation["action_mask"]).tolist())
            else:
                action = env.action_space(agent).sample()
            env.step(action)
            steps += 1
            if all(env.terminations.values()) or all(env.truncations.values()):
                env.reset()
        return steps

    return Play(advance)


def aec_name(players: int) -> str:
    """The name of the AEC environment's workload."""
    return f"uno_env.env(), {players} players"


def aec(players: Sequence[int]) -> list[Workload]:
    """`uno_env.env` with each number of players."""
    return [
        Workload(
            AEC,
            aec_name(seats),
            partial(aec_play, partial(uno_env.env, num_players=seats)),
        )
        for seats in players
    ]


def _single_play(players: int) -> Play:
    env = gymnasium.make(
        "UnoAngryBirds-v0", num_players=players, opponents=make_agent("keen"), seat="rotate"
    )
    _, info = env.reset(seed=0)
    rng = np.random.default_rng(0)

    def choose_one() -> Any:
        return choose("keen", info["action_mask"][None] == 1, rng)[0]

    def advance(action: Any) -> int:
        nonlocal info
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            _, info = env.reset()
        return 1

    return Play(advance, choose_one)


def _vector_play(players: int, num_envs: int) -> Play:
    envs = gymnasium.make_vec(
        "UnoAngryBirds-v0",
        num_envs=num_envs,
        num_players=players,
        opponents=make_agent("keen"),
        seat="rotate",
    )
    _, infos = envs.reset(seed=0)
    rng = np.random.default_rng(0)

    def choose_all() -> Any:
        return choose("keen", infos["action_mask"] == 1, rng)

    def advance(actions: Any) -> int:
        nonlocal infos
        *_, infos = envs.step(actions)
        return num_envs

    play = Play(advance, choose_all)
    for _ in range(WARM_UP // 2):  # the opponents play, too
        play.advance(play.choose())
    return play


def gymnasium_envs(players: Sequence[int]) -> list[Workload]:
    """Single and vector environments; opponents are `keen`, so that rounds end, and are timed."""
    return [
        workload
        for seats in players
        for workload in (
            Workload(GYMNASIUM, f"single, {seats} players", partial(_single_play, seats)),
            *(
                Workload(
                    GYMNASIUM,
                    f"vector of {number:,}, {seats} players",
                    partial(_vector_play, seats, number),
                )
                for number in (64, 1_024)
            ),
        )
    ]


# --- Tournaments ---------------------------------------------------------------------------------


TOURNAMENT_ROW = "keen, greedy"


def _tournament_play() -> Play:
    seeds = itertools.count()

    def advance(_: None) -> int:
        results = round_robin(["keen", "greedy"], deals=DEALS, seed=next(seeds))
        return sum(match.rounds for match in results.matches)

    return Play(advance)


def tournament() -> list[Workload]:
    """`keen` against `greedy` in one process, whole tournaments, agents and all."""
    return [Workload(TOURNAMENT, TOURNAMENT_ROW, _tournament_play)]
