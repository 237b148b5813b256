"""Evaluation while training runs: the policy against fixed agents, on the same deals each time.

Each deal is played from every seat, and neither deals nor the agents' chance depend on the run's
seed, so that policies of one run, and of several, are compared on the same cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents import Agent, make_agents
from agents.policy import PolicyAgent
from eval.match import play_all
from eval.results import MatchResult
from train.objective import Objective
from uno_env.game.rules import Rules
from uno_env.policy import Policy

SEED = 20_260_000
"""Of all evaluations."""
MODES = {"greedy": 0.0, "sampled": 1.0}
"""How the policy chooses, by name: the temperature."""


@dataclass(frozen=True)
class Score:
    """How a policy did at what it was trained for, with the likeliest actions: 1 is even.

    A share of rounds s at tables of P counts as ``P s``, where winning rounds is all that counts;
    see `Evaluation`. The score is the mean over agents and kinds of tables.
    """

    parts: tuple[NDArray[np.float64], ...]
    """For each kind of table the score of each deal, over all agents: (D,) float64."""

    @property
    def value(self) -> float:
        """The mean."""
        return float(np.mean([part.mean() for part in self.parts]))

    def gain_on(self, other: Score) -> tuple[float, float]:
        """How much more it is than another on the same deals, and the standard error of that."""
        gains = [own - its for own, its in zip(self.parts, other.parts, strict=True)]
        variance = sum(gain.var(ddof=1) / len(gain) for gain in gains) / len(gains) ** 2
        return float(np.mean([gain.mean() for gain in gains])), float(np.sqrt(variance))


class Best:
    """Which evaluated policy is the best.

    Scores are noisy, and with the highest of many one would keep the luckiest. So the best is the
    latest policy that is not below the highest score by more than a standard error of the
    difference on the same deals; among equals, the one that was trained longer.
    """

    def __init__(self) -> None:
        self.highest: Score | None = None
        self.timesteps = 0
        """Of the best."""
        self.without_gain = 0
        """Evaluations since one was above the highest before it by more than a standard error."""

    def offer(self, score: Score, timesteps: int) -> bool:
        """Take note of a policy's score; whether it is the best now."""
        if self.highest is None:
            self.highest, self.timesteps = score, timesteps
            return True
        gain, error = score.gain_on(self.highest)
        self.without_gain = 0 if gain > error else self.without_gain + 1
        if gain > 0:
            self.highest = score
        is_best = gain >= -error
        if is_best:
            self.timesteps = timesteps
        return is_best


class Evaluation:
    """Plays a policy against agents.

    Args:
        kinds: the kinds of tables, by name.
        opponents: agents of different names, or what `make_agent` takes.
        deals: of each kind against each of them, at least 2.
        objective: what the policy is for. A deal is scored 1 + (P - 1) x the mean of what it pays,
            which is ``P s`` for shares of rounds.

    Raises:
        ValueError: an unknown agent, or two of the same name.
        FileNotFoundError: a policy file that is not there.
    """

    def __init__(
        self,
        kinds: dict[str, Rules],
        opponents: Sequence[Agent | str],
        deals: int,
        objective: Objective,
    ) -> None:
        self.kinds, self.deals, self.objective = kinds, deals, objective
        self.opponents = make_agents(opponents)
        names = [agent.name for agent in self.opponents]
        if len(set(names)) < len(names):
            raise ValueError(f"agents are called {', '.join(names)}: names must differ")

    def play(self, policy: Policy) -> tuple[Score, dict[str, float]]:
        """The score, and shares of rounds won as ``kind/mode/opponent``."""
        parts, shares = [], {}
        agents = {mode: PolicyAgent(policy, mode, temperature=t) for mode, t in MODES.items()}
        for kind, rules in self.kinds.items():
            pairs = [(mode, other) for mode in agents for other in self.opponents]
            lineups = [[agents[mode], *[other] * (rules.num_players - 1)] for mode, other in pairs]
            results = play_all(lineups, rules, self.deals, SEED)
            by_deal = []
            for (mode, other), result in zip(pairs, results, strict=True):
                shares[f"{kind}/{mode}/{other.name}"] = float(result.shares().mean())
                if mode == "greedy":
                    by_deal.append(self._scores(result))
            parts.append(np.mean(by_deal, axis=0))
        return Score(tuple(parts)), shares

    def _scores(self, result: MatchResult) -> NDArray[np.float64]:
        """Of each deal of a match: (D,)."""
        rows, players = result.rows, result.players
        winners = rows.winner[:, None] == np.arange(players)
        worth = self.objective.worth(result.rules, winners, rows.points)[:, 0]
        return 1 + (players - 1) * result.per_deal(worth) / result.rounds_per_deal
