"""What `eval.benchmark --peers` measures of other projects, where they are installed.

Peers do the like of what they are compared with: random legal play, new deals where a game ends,
legal actions at each decision. As with this project's core, choosing an action is not timed; two
exceptions are named where they are made. The libraries are imported by name where they are used,
none of them is needed for anything else.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from eval.timing import Comparison, Play, Workload
from eval.workloads import AEC, TOURNAMENT, TOURNAMENT_ROW, aec_name, aec_play, core_name

GAMES = "peers, decisions per second"

RLCARD = "pip install rlcard==1.2.0"
OPEN_SPIEL = "pip install open_spiel==2.0.2"
PETTINGZOO = 'pip install "pettingzoo[classic]==1.27.0"'
OLD_PETTINGZOO = 'pip install "pettingzoo[classic]==1.25.0" in an environment of its own'

PACKAGES = ("rlcard", "open_spiel", "pettingzoo", "shimmy")
"""Whose versions are reported."""

CRAZY_EIGHTS = "crazy_eights(players=2)"
GAMES_COUNTED = 500
"""Games of OpenSpiel that are played to learn how many decisions a rollout has: the lengths are
spread by some 15%, so their mean is good to 1%."""
ROLLOUTS = 20
"""Rollouts of OpenSpiel from each state."""

ROUNDS = 20
"""Rounds of RLCard's in a measurement."""
TOURNAMENT_TARGET = 100
"""How many times RLCard's rounds per second are aimed at."""

CLASSIC = {
    "leduc_holdem_v4": PETTINGZOO,
    "hanabi_v5": PETTINGZOO,
    "texas_holdem_v4": PETTINGZOO,
    "texas_holdem_no_limit_v6": PETTINGZOO,
    "gin_rummy_v4": OLD_PETTINGZOO,
}
"""PettingZoo's card games, and how each is installed."""


def versions() -> dict[str, str | None]:
    """Versions of the peers' packages; None for those that are not installed."""
    found: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found


# --- RLCard --------------------------------------------------------------------------------------


def _rlcard_play(players: int) -> Play:
    """RLCard's `uno`: ``env.step``, which encodes the next observation, and ``env.reset``."""
    env: Any = import_module("rlcard").make("uno", config={"game_num_players": players, "seed": 0})
    chance = random.Random(0)
    state, _ = env.reset()

    def choose() -> int:
        return chance.choice(list(state["legal_actions"]))

    def advance(action: int) -> int:
        nonlocal state
        state, _ = env.step(action)
        if env.is_over():
            state, _ = env.reset()
        return 1

    return Play(advance, choose)


def rlcard_name(players: int) -> str:
    """The name of RLCard's workload."""
    return f"RLCard uno, {players} players, env.step"


def _rlcard_rounds() -> Play:
    """Rounds of RLCard's `uno` between two of its rule agents, by its own ``env.run``."""
    rlcard: Any = import_module("rlcard")
    models: Any = import_module("rlcard.models")
    env = rlcard.make("uno", config={"game_num_players": 2, "seed": 0})
    env.set_agents(models.load("uno-rule-v1").agents[:2])

    def advance(_: None) -> int:
        for _round in range(ROUNDS):
            env.run(is_training=False)
        return ROUNDS

    return Play(advance)


RLCARD_ROUNDS = "RLCard uno, rule agents, env.run"

# --- OpenSpiel -----------------------------------------------------------------------------------


class EightsTable:
    """OpenSpiel's `crazy_eights` from Python, dealt anew whenever a game ends.

    The cards that are dealt and drawn are chance there, a call each; that is part of the game.
    """

    def __init__(self, pyspiel: Any) -> None:
        self.game = pyspiel.load_game(CRAZY_EIGHTS)
        self.chance = random.Random(0)
        self.state = self.game.new_initial_state()
        self.games = 0
        self.legal: list[int] = []
        self._settle()

    def _settle(self) -> None:
        """Draw what is to be drawn, deal if the game is over, and list the legal actions."""
        while True:
            if self.state.is_terminal():
                self.state = self.game.new_initial_state()
                self.games += 1
            elif self.state.is_chance_node():
                outcomes = self.state.chance_outcomes()  # all alike: the deck has each card once
                self.state.apply_action(outcomes[int(self.chance.random() * len(outcomes))][0])
            else:
                break
        self.legal = self.state.legal_actions()

    def choose(self) -> int:
        """One of the legal actions, all alike."""
        return self.chance.choice(self.legal)

    def advance(self, action: int) -> int:
        """Play it and go on to the next decision."""
        self.state.apply_action(action)
        self._settle()
        return 1

    def play_out(self) -> int:
        """Finish the game and deal the next. Returns the decisions that this took."""
        game, decisions = self.games, 0
        while self.games == game:
            decisions += self.advance(self.choose())
        return decisions


def _eights_play() -> Play:
    table = EightsTable(import_module("pyspiel"))
    return Play(table.advance, table.choose)


def _rollouts_play() -> Play:
    """Rollouts in C++: the evaluator of a tree search that stops at its root.

    They choose their actions themselves, which therefore is timed, and start after the deal, which
    therefore is not. They do not tell how many decisions they make; that is taken from games which
    are played from such states in Python.
    """
    pyspiel = import_module("pyspiel")
    table = EightsTable(pyspiel)
    mean = sum(table.play_out() for _ in range(GAMES_COUNTED)) / GAMES_COUNTED
    evaluator = pyspiel.RandomRolloutEvaluator(ROLLOUTS, 0)
    exploration, simulations, megabytes, solve, seed, verbose = 1.0, 1, 10, False, 0, False
    bot = pyspiel.MCTSBot(
        table.game, evaluator, exploration, simulations, megabytes, solve, seed, verbose
    )
    starts = []
    for _ in range(100):
        starts.append(table.state.clone())
        table.play_out()

    def advance(start: Any) -> int:
        bot.mcts_search(start)
        return round(ROLLOUTS * mean)

    return Play(advance, partial(table.chance.choice, starts))


EIGHTS = "OpenSpiel crazy_eights, Python"
EIGHTS_ROLLOUTS = "OpenSpiel crazy_eights, C++ rollouts"


# --- PettingZoo ----------------------------------------------------------------------------------


def _classic_play(name: str) -> Play:
    """One of PettingZoo's games with its usual wrappers. The loop chooses, and is timed whole."""
    return aec_play(import_module(f"pettingzoo.classic.{name}").env)


def _classic_name(name: str) -> str:
    return f"PettingZoo {name}"


# --- All together --------------------------------------------------------------------------------


def core_peers(players: Sequence[int]) -> list[Workload]:
    """What the core is compared with. RLCard is measured with each of `players`."""
    return [
        *(
            Workload(GAMES, rlcard_name(seats), partial(_rlcard_play, seats), install=RLCARD)
            for seats in players
        ),
        Workload(GAMES, EIGHTS, _eights_play, install=OPEN_SPIEL),
        Workload(GAMES, EIGHTS_ROLLOUTS, _rollouts_play, install=OPEN_SPIEL),
    ]


def core_comparisons() -> list[Comparison]:
    """The core's ratios to its peers, with the targets where there are some."""
    return [
        *(
            Comparison(core_name("keen", seats, observe, 4_096), rlcard_name(seats), target)
            for seats in (2, 4)
            for observe, target in ((False, 120.0), (True, 85.0))
        ),
        Comparison(core_name("keen", 2, False, 4_096), EIGHTS_ROLLOUTS, 1.5),
        Comparison(core_name("keen", 2, False, 16_384), EIGHTS_ROLLOUTS, 2.0),
        Comparison(core_name("keen", 2, False, 4_096), EIGHTS),
    ]


def aec_peers() -> list[Workload]:
    """What the AEC environment is compared with."""
    return [
        Workload(AEC, _classic_name(name), partial(_classic_play, name), install=install)
        for name, install in CLASSIC.items()
    ]


def aec_comparisons() -> list[Comparison]:
    """The AEC environment's ratios to PettingZoo's games."""
    targets = {"leduc_holdem_v4": 1.3, "hanabi_v5": 3.5}
    return [Comparison(aec_name(2), _classic_name(name), targets.get(name)) for name in CLASSIC]


def tournament_peers() -> list[Workload]:
    """Rounds of RLCard's between its rule agents."""
    return [Workload(TOURNAMENT, RLCARD_ROUNDS, _rlcard_rounds, install=RLCARD)]


def tournament_comparisons() -> list[Comparison]:
    """A tournament's rounds to RLCard's."""
    return [Comparison(TOURNAMENT_ROW, RLCARD_ROUNDS, TOURNAMENT_TARGET)]
