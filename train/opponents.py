"""The pool of opponents that a learner meets in training.

Whom it meets is drawn by how hard they are: prioritised fictitious self-play (Vinyals et al.,
"Grandmaster level in StarCraft II using multi-agent reinforcement learning", Nature 575, 2019).
An opponent against which the learner's strength is x has the weight ``(1 - x) ** power``, so that
the hardest come most often, or ``x * (1 - x)``, so that its equals do. A part of the rounds is
shared evenly, so that nobody is forgotten.

x is made from the share s of rounds that the learner wins at tables of P as if the others were all
alike (Plackett and Luce): ``x = s (P - 1) / (s (P - 1) + 1 - s)``, a half where s is even, 1 / P.
It is kept apart for each number of players. Counts decay, since the learner changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from agents import Agent, make_agents
from uno_env.game.rules import MAX_PLAYERS

PRESENT_PAST = 2
"""Past selves that play at a time, by default."""
Weighting = Literal["hard", "equals", "even"]
"""How opponents are weighted: ``(1 - x) ** power``, ``x (1 - x)``, or all alike."""
_PRIOR = 20.0
"""Even rounds that are thought to have been played before the first."""


class OpponentPool:
    """Fixed agents and past selves of the learner.

    Args:
        agents: those present from the start and to stay, or what `make_agent` takes.
        past_share: the share of rounds played against past selves, once there are any.
        max_past: how many past selves are kept; then a random one of them makes room.
        present_past: how many of them play at a time; they are drawn by the same weights whenever
            one is taken in. A policy is asked for all its tables at once, so few are asked faster
            than many.
        weighting: how fixed agents are weighted among themselves, and past selves too.
        power: of the weighting "hard", from 0.
        floor: the share of rounds, of those of fixed agents and of past selves each, that goes
            evenly to all; from 0 to 1.
        half_life: updates after which a round counts half in what is known of strengths, above 0.

    Raises:
        ValueError: no agents, an unknown one, a number that is not allowed.
        TypeError: `agents` is no sequence of agents.
        FileNotFoundError: a policy file that is not there.
    """

    def __init__(
        self,
        agents: Sequence[Agent | str],
        *,
        past_share: float,
        max_past: int,
        present_past: int = PRESENT_PAST,
        weighting: Weighting = "hard",
        power: float = 1.0,
        floor: float = 0.2,
        half_life: float = 10.0,
    ) -> None:
        self.agents = make_agents(agents)
        if not self.agents:
            raise ValueError("agents is empty: a pool needs at least one")
        if weighting not in get_args(Weighting):
            allowed = ", ".join(get_args(Weighting))
            raise ValueError(f"weighting={weighting!r}: allowed is one of {allowed}")
        for name, value, fits, allowed in (
            ("power", power, power >= 0, "a number from 0"),
            ("floor", floor, 0 <= floor <= 1, "a number from 0 to 1"),
            ("half_life", half_life, half_life > 0, "a number above 0"),
        ):
            if not fits:
                raise ValueError(f"{name}={value!r}: allowed is {allowed}")
        self.num_fixed = len(self.agents)
        self.past_share = past_share
        self.max_past = max_past
        self.present_past = present_past
        self.weighting, self.power, self.floor = weighting, power, floor
        self._kept_by_update = 0.5 ** (1 / half_life)
        self.present: NDArray[np.intp] = np.empty(0, np.intp)
        """The past selves who play now, as indices into `agents`."""
        places = self.num_fixed + max_past
        self.rounds = np.zeros(places, np.int64)
        """Rounds of the learner against each, all told."""
        self.wins = np.zeros(places, np.int64)
        self._recent_rounds = np.zeros((places, MAX_PLAYERS + 1))
        """The same by number of players, the longer ago the less."""
        self._recent_wins = np.zeros((places, MAX_PLAYERS + 1))
        self._shares: dict[int, NDArray[np.float64]] = {}
        """Shares of rounds that were worked out since the last update, by number of players."""

    def strength(self, num_players: int) -> NDArray[np.float64]:
        """The learner's strength against each agent, 1/2 where it is even: (A,) float64."""
        here = np.s_[: len(self.agents), num_players]
        share = (self._recent_wins[here] + _PRIOR / num_players) / (
            self._recent_rounds[here] + _PRIOR
        )
        odds = share * (num_players - 1)
        return odds / (odds + 1 - share)

    def shares(self, num_players: int) -> NDArray[np.float64]:
        """The share of rounds at such tables that goes to each agent now: (A,) float64."""
        if num_players not in self._shares:
            weights = self._weights(self.strength(num_players))
            shares = np.zeros(len(self.agents))
            fixed: NDArray[np.intp] = np.arange(self.num_fixed)
            for group, part in ((fixed, 1 - self.past_share), (self.present, self.past_share)):
                if not self.present.size:
                    part = 1.0
                if group.size:
                    shares[group] = part * self._with_floor(weights[group])
            self._shares[num_players] = shares
        return self._shares[num_players]

    def _weights(self, strength: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.weighting == "hard":
            return (1 - strength) ** self.power
        return strength * (1 - strength) if self.weighting == "equals" else np.ones_like(strength)

    def _with_floor(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights that sum to one, with what is shared evenly."""
        return (1 - self.floor) * weights / weights.sum() + self.floor / len(weights)

    def choose(
        self, number: int, rng: np.random.Generator, num_players: int = 2
    ) -> NDArray[np.intp]:
        """Opponents for `number` rounds at tables of `num_players`, as indices into `agents`."""
        bounds = np.cumsum(self.shares(num_players))
        return np.searchsorted(bounds, rng.random(number) * bounds[-1], side="right")

    def add_past(self, agent: Agent, rng: np.random.Generator) -> None:
        """Take in a past self, and draw anew who of them plays."""
        num_past = len(self.agents) - self.num_fixed
        if num_past < self.max_past:
            self.agents.append(agent)
            num_past += 1
        else:
            place = self.num_fixed + int(rng.integers(num_past))
            self.agents[place] = agent
            for array in self.counts():
                array[place] = 0
        weights = self._with_floor(self._weights(self._overall())[self.num_fixed :])
        number = min(self.present_past, num_past)
        drawn = rng.choice(num_past, number, replace=False, p=weights / weights.sum())
        self.present = self.num_fixed + np.sort(drawn)
        self._shares.clear()

    def _overall(self) -> NDArray[np.float64]:
        """The learner's strength against each, over all numbers of players that are played."""
        played = np.flatnonzero(self._recent_rounds.sum(axis=0))
        if not played.size:
            return self.strength(2)
        return np.mean([self.strength(int(number)) for number in played], axis=0)

    def record(
        self, opponents: NDArray[np.intp], won: NDArray[np.bool_], num_players: int = 2
    ) -> None:
        """Count rounds and the learner's wins by opponent."""
        rounds = np.bincount(opponents, minlength=len(self.rounds))
        wins = np.bincount(opponents[won], minlength=len(self.rounds))
        self.rounds += rounds
        self.wins += wins
        self._recent_rounds[:, num_players] += rounds
        self._recent_wins[:, num_players] += wins

    def update(self) -> None:
        """Called after each update of the learner: older rounds count less, shares are made anew.

        Until then shares stay, whatever is recorded.
        """
        self._recent_rounds *= self._kept_by_update
        self._recent_wins *= self._kept_by_update
        self.refresh()

    def refresh(self) -> None:
        """Have shares made anew, where counts were changed from outside."""
        self._shares.clear()

    def counts(self) -> list[NDArray[Any]]:
        """The arrays that `record` writes on, themselves."""
        return [self.rounds, self.wins, self._recent_rounds, self._recent_wins]
