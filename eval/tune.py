"""Tunes the weights of a bot that adds up features, by duplicate rounds.

    python -m eval.tune expert --players 2 --out runs/expert-2.npz

Each step plays rounds of the bot against tables of itself and of `greedy`, and stops now and then
where it has a choice. From there each of its choices is played out with the same hands and the same
draw pile: duplicate rounds that differ in one decision. Which of them it wins is fitted by the
features, choice against choice of the same decision, over all steps so far, those long past
counting less. Old and new weights then play the same deals against tables of `greedy`, and stay or
go by what they win.

So a weight is about the share of rounds that a feature of size 1 is worth. The state is written
whole after each step, and the same command goes on from it; at the end the weights are printed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from agents import Agent, known_agents, make_agent
from agents.scoring import ScoringAgent
from eval.arrays import read_arrays
from eval.command import CommandParser, whole_number_of
from eval.estimates import estimate
from eval.match import play_all
from uno_env.features import NAMES, features, features_of_keeping
from uno_env.game.actions import Action
from uno_env.game.cards import NUM_FACES
from uno_env.game.engine import GameBatch
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from uno_env.legal_actions import LegalActions
from uno_env.policy import MAX_WEIGHT
from uno_env.sight import Sight

BY_HAND = frozenset({"bluff", "points_lowest_one"})
"""Features whose weights stay: they are about other rules than those tuned under, or about points
rather than rounds."""

_EVERY = 5
"""Decisions between those at which rounds are stopped."""
_KEPT = 0.85
"""How much of what was found counts at the next step."""
_RIDGE = 30.0
"""Holds weights of which little is known near zero; as many choices that found nothing."""
_LIMIT = 400
"""Decisions after which a round is given up as not won."""
_GONE = 0.2
"""Of rounds played out, the share that is over before the others are moved together."""


@dataclass(frozen=True)
class Tables:
    """Games in which one seat holds the bot that is tuned and the others one of its opponents."""

    batch: GameBatch
    seats: NDArray[np.intp]
    """(N,) where the bot sits."""
    kinds: NDArray[np.intp]
    """(N,) which opponent it meets, as an index."""
    bot: Agent
    opponents: Sequence[Agent]

    @classmethod
    def deal(cls, rules: Rules, number: int, bot: Agent, rng: np.random.Generator) -> Tables:
        """New rounds against `greedy` and the bot itself."""
        opponents = [make_agent("greedy"), bot]
        return cls(
            GameBatch(rules, number, seed=int(rng.integers(2**32))),
            rng.integers(rules.num_players, size=number),
            rng.integers(len(opponents), size=number),
            bot,
            opponents,
        )

    def take(self, games: NDArray[np.intp]) -> Tables:
        """Copies of some of them; one may come twice."""
        taken = self.batch.take(games)
        return Tables(taken, self.seats[games], self.kinds[games], self.bot, self.opponents)

    def advance(self, decisions: int, rng: np.random.Generator) -> None:
        """Some decisions in each game that is not over."""
        for _ in range(decisions):
            live = np.flatnonzero(~self.batch.done)
            if not live.size:
                return
            observation, mask = self.batch.observe(where=live), self.batch.legal_of(live)
            own = self.batch.player[live] == self.seats[live]
            actions = np.empty(len(live), np.intp)
            for kind, agent in enumerate([self.bot, *self.opponents]):
                asked = np.flatnonzero(own if kind == 0 else ~own & (self.kinds[live] == kind - 1))
                if asked.size:
                    actions[asked] = agent.act(observation[asked], mask[asked], rng)
            self.batch.step(actions, where=live)

    def won(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Play all to the end: which the bot wins, (N,)."""
        won = np.zeros(len(self.seats), bool)
        tables, games = self, np.arange(len(self.seats))
        for _ in range(_LIMIT):
            done = tables.batch.done
            if done.mean() > _GONE or done.all():
                won[games[done]] = tables.batch.winner[done] == tables.seats[done]
                if done.all():
                    break
                games, tables = games[~done], tables.take(np.flatnonzero(~done))
            tables.advance(1, rng)
        return won

    def choices(self) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The games in which the bot chooses between plays, and which it has: (n,), (n, A)."""
        games = np.flatnonzero(~self.batch.done & (self.batch.player == self.seats))
        mask = self.batch.legal_of(games)
        says = mask[:, Action.UNO].copy()
        mask[:, NUM_FACES:] &= np.arange(NUM_FACES, mask.shape[1]) == Action.KEEP
        some = ~says & (np.count_nonzero(mask, axis=1) > 1)
        return games[some], mask[some]


@dataclass
class Found:
    """Sums over decisions, from which weights are fitted."""

    squares: NDArray[np.float64] = field(default_factory=lambda: np.zeros((len(NAMES),) * 2))
    products: NDArray[np.float64] = field(default_factory=lambda: np.zeros(len(NAMES)))

    def add(self, x: NDArray[np.float32], won: NDArray[np.bool_], legal: LegalActions) -> None:
        """Choices with their features (K, L), and which of them won (L,)."""
        means = np.add.reduceat(x, legal.starts, axis=1) / legal.counts
        shares = np.add.reduceat(won, legal.starts, dtype=float) / legal.counts
        apart = x - means[:, legal.rows]
        self.squares += apart @ apart.T
        self.products += apart @ (won - shares[legal.rows])

    def fade(self) -> None:
        """Let what was found so far count less."""
        self.squares *= _KEPT
        self.products *= _KEPT

    def fitted(self, weights: NDArray[np.float32], tuned: Sequence[int]) -> NDArray[np.float32]:
        """The weights (K,) with those at some places fitted."""
        squares = self.squares[np.ix_(tuned, tuned)] + _RIDGE * np.eye(len(tuned))
        fitted = weights.copy()
        fitted[list(tuned)] = np.linalg.solve(squares, self.products[list(tuned)])
        return fitted


def collect(tables: Tables, found: Found, rng: np.random.Generator) -> int:
    """Play out the choices that come up at some tables; returns how many."""
    players, total = tables.batch.rules.num_players, 0
    tables.advance(int(rng.integers(_EVERY)), rng)
    for _ in range(0, _LIMIT, _EVERY):
        if tables.batch.done.all():
            break
        games, mask = tables.choices()
        if games.size:
            legal = LegalActions.of(mask)
            sight = Sight(tables.batch.observe(where=games), players)
            plays = legal.actions < NUM_FACES
            x = np.empty((len(NAMES), len(legal.rows)), np.float32)
            x[:, plays] = features(sight, legal.rows[plays], legal.actions[plays])
            x[:, ~plays] = features_of_keeping(sight, legal.rows[~plays])
            tried = tables.take(games[legal.rows])
            tried.batch.step(legal.actions)
            found.add(x, tried.won(rng), legal)
            total += len(legal.rows)
        tables.advance(_EVERY, rng)
    return total


class Tuning:
    """The weights of a bot for a number of players, and how they were found.

    Args:
        name: the bot.
        players: how many sit at a table.
        path: where the state is, or will be.

    Raises:
        ValueError: no bot of this name has weights, or the state there is of something else.
    """

    def __init__(self, name: str, players: int, path: Path) -> None:
        kind = known_agents().get(name)
        if kind is None or not issubclass(kind, ScoringAgent):
            raise ValueError(f"{name!r} is no bot with weights")
        self.kind, self.path = kind, path
        self.rules = Rules.preset("angry_birds", num_players=players)
        self.tuned = [i for i, n in enumerate(NAMES) if n in kind.WEIGHTS and n not in BY_HAND]
        self.weights = kind().weights[0 if players == 2 else 1]
        self.found, self.step = Found(), 0
        self.what = np.array([name, str(players), *NAMES])
        if path.exists():
            self._go_on_from(read_arrays(path))

    def _go_on_from(self, state: dict[str, NDArray[Any]]) -> None:
        """Take the state that `save` wrote; raises a ValueError if it is none of this bot."""
        if not np.array_equal(state.pop("what", np.empty(0)), self.what):
            raise ValueError(f"{self.path} is about another bot, table or set of features")
        number = len(NAMES)
        kinds = {
            "squares": ((number, number), np.dtype(np.float64)),
            "products": ((number,), np.dtype(np.float64)),
            "weights": ((number,), np.dtype(np.float32)),
            "step": ((), np.dtype(np.int64)),
        }
        found = {name: (array.shape, array.dtype) for name, array in state.items()}
        if found != kinds or not all(np.isfinite(array).all() for array in state.values()):
            raise ValueError(f"{self.path} is damaged: it does not hold the state of a tuning")
        if (np.abs(state["weights"]) > MAX_WEIGHT).any() or state["step"] < 0:
            raise ValueError(f"{self.path}: allowed are weights up to {MAX_WEIGHT:g}, steps from 0")
        self.found = Found(state["squares"], state["products"])
        self.weights, self.step = state["weights"], int(state["step"])

    def agent(self, weights: NDArray[np.float32]) -> ScoringAgent:
        """The bot with other weights (K,)."""
        return self.kind(np.stack([weights, weights]))

    def advance(self, rounds: int, deals: int, seed: int) -> str:
        """One step; returns a line about it."""
        rng = np.random.default_rng([seed, self.step])
        self.found.fade()
        tables = Tables.deal(self.rules, rounds, self.agent(self.weights), rng)
        number = collect(tables, self.found, rng)
        fitted = self.found.fitted(self.weights, self.tuned)
        others = [make_agent("greedy")] * (self.rules.num_players - 1)
        lineups = [[self.agent(weights), *others] for weights in (self.weights, fitted)]
        matches = play_all(lineups, self.rules, deals, seed + self.step, max_decisions=_LIMIT)
        old, new = (match.shares() for match in matches)
        if new.mean() > old.mean():
            self.weights = fitted
        self.step += 1
        return (
            f"step {self.step}: {number:,} choices; against greedy {estimate(old)} % before, "
            f"{estimate(new)} % after"
        )

    def save(self) -> None:
        """Write the state whole, or leave what was there."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_name(self.path.name + ".part.npz")
        np.savez(
            part,
            what=self.what,
            squares=self.found.squares,
            products=self.found.products,
            weights=self.weights,
            step=self.step,
        )
        part.replace(self.path)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = CommandParser(
        prog="python -m eval.tune",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bot", help="a bot that adds up features")
    parser.add_argument(
        "--players", type=whole_number_of(MIN_PLAYERS, MAX_PLAYERS), default=2, help="(%(default)s)"
    )
    parser.add_argument("--out", type=Path, required=True, help="the state, an .npz file")
    count = whole_number_of(1)
    parser.add_argument("--steps", type=count, default=8, help="in all (%(default)s)")
    parser.add_argument("--rounds", type=count, default=8000, help="of a step (%(default)s)")
    parser.add_argument("--deals", type=count, default=4000, help="to compare (%(default)s)")
    parser.add_argument("--seed", type=whole_number_of(0), default=1_000_000, help="(%(default)s)")
    options = parser.parse_args(argv)
    try:
        tuning = Tuning(options.bot, options.players, options.out)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    # The products are small: more threads cost more than they bring.
    with threadpool_limits(limits=1, user_api="blas"):
        while tuning.step < options.steps:
            print(tuning.advance(options.rounds, options.deals, options.seed), flush=True)
            tuning.save()
    for place in tuning.tuned:
        print(f"{NAMES[place]:22}{tuning.weights[place]:7.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
