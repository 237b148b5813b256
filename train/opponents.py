"""The pool of opponents that a learner meets in training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents import Agent, make_agents


class OpponentPool:
    """Fixed agents and past selves of the learner.

    Args:
        agents: those present from the start and to stay, or what `make_agent` takes.
        past_share: the share of rounds played against past selves, once there are any.
        max_past: how many past selves are kept; then a random one of them makes room.
        present_past: how many of them play at a time; others take their turn whenever one is taken
            in. A policy is asked for all its tables at once, so few are asked faster than many.

    Raises:
        ValueError: no agents, or an unknown one.
        TypeError: `agents` is no sequence of agents.
        FileNotFoundError: a policy file that is not there.
    """

    def __init__(
        self,
        agents: Sequence[Agent | str],
        *,
        past_share: float,
        max_past: int,
        present_past: int = 2,
    ) -> None:
        self.agents = make_agents(agents)
        if not self.agents:
            raise ValueError("agents is empty: a pool needs at least one")
        self.num_fixed = len(self.agents)
        self.past_share = past_share
        self.max_past = max_past
        self.present_past = present_past
        self.present: NDArray[np.intp] = np.empty(0, np.intp)
        """The past selves who play now, as indices into `agents`."""
        self.rounds = np.zeros(self.num_fixed + max_past, np.int64)
        self.wins = np.zeros(self.num_fixed + max_past, np.int64)

    def choose(self, number: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Opponents for `number` rounds, as indices into `agents`."""
        chosen = rng.integers(self.num_fixed, size=number)
        if self.present.size:
            past = rng.random(number) < self.past_share
            chosen[past] = self.present[rng.integers(self.present.size, size=int(past.sum()))]
        return chosen

    def add_past(self, agent: Agent, rng: np.random.Generator) -> None:
        """Take in a past self, and draw anew who of them plays."""
        num_past = len(self.agents) - self.num_fixed
        if num_past < self.max_past:
            self.agents.append(agent)
            num_past += 1
        else:
            place = self.num_fixed + int(rng.integers(num_past))
            self.agents[place] = agent
            self.rounds[place] = self.wins[place] = 0
        drawn = rng.permutation(num_past)[: self.present_past]
        self.present = self.num_fixed + np.sort(drawn)

    def record(self, opponents: NDArray[np.intp], won: NDArray[np.bool_]) -> None:
        """Count rounds and the learner's wins by opponent."""
        np.add.at(self.rounds, opponents, 1)
        np.add.at(self.wins, opponents, won)
