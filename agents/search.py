"""`search`: plays a few likely actions out on sampled tables before it decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents import make_agent
from agents.base import Agent
from agents.rollouts import ROOM, Part, play_out
from uno_env.determinize import sample_tables
from uno_env.game.actions import Action
from uno_env.game.cards import NUM_FACES
from uno_env.game.checks import one_of, whole_number
from uno_env.game.engine import GameBatch
from uno_env.game.observation import LAYOUT, OBSERVATION_SIZE
from uno_env.game.state import Phase
from uno_env.legal_actions import LegalActions
from uno_env.seen import RULES

_OVER = LAYOUT["phase"].start + Phase.OVER
_OWN_SIZE = LAYOUT["hand_sizes"].start
_MOST_STAGES = 4
_LEAST_TABLES = 16
"""A stage of fewer tells nothing."""
_LEAST_GAMES = 640
"""A stage of fewer games takes as long as one of so many, so what it drops saves no time."""
_VALUES = 2**20
"""Tables of all decisions looked at together, at most: what is noted of them has to fit in
memory."""
_LONGEST = 0.02
"""Of a stage's rollouts so many may be cut off as even, which halves the steps that it takes."""
_CERTAIN = 3.0
"""Standard errors behind the best at which even the policy's own choice is given up."""


class SearchAgent(Agent):
    """Samples tables that fit what its seat has seen and plays the likeliest actions out on them.

    A fast policy is both what it improves on, the *prior*, and who plays all seats in the
    rollouts:

    - It looks at the prior's choice and the few other actions that the prior likes most, or at all
      legal ones if the prior cannot say (`Agent.preferences`).
    - Every action is played out on the same tables: the same hands, the same draw pile, the same
      stream of chance. What differs between two actions is then mostly their own doing. (What the
      policy leaves to chance is drawn anew for each.)
    - Tables come in stages, each as many as all before; where they are few, all at once. After a
      stage those actions are dropped that are worse than the best by more than a standard error of
      the paired difference, and all but the better half; the prior's choice is not, unless it is
      behind without a doubt.
    - It leaves the prior's choice only for a gain of more than `margin` standard errors. Rollouts
      are nearly coin tosses, so taking whatever looks best would mostly take noise.
    - Where nothing is to be decided it plays nothing out: a single legal action, UNO and catching,
      a last card.

    Args:
        rollouts: per action and decision, at most; 1 to 2^20.
        rollout: the policy, a bot's name or a policy file, or an `Agent`; it may neither cheat nor
            ask a person.
        candidates: actions looked at, at most, if the policy says what it likes.
        margin: standard errors of the gain, from 0.
        value: what a rollout counts: `win`, or `points`.
        trust: in what share of the tables those who drew are taken to have had nothing to play
            (`uno_env.determinize.sample_tables`).
        no_wilds: whether that holds for wilds too.
        max_decisions: a rollout that goes on for longer counts as even; so do those that outlast
            98 of 100.

    Raises:
        ValueError: an argument that is not allowed.
        TypeError: the same.
        FileNotFoundError: a policy file that is not there.
    """

    name = "search"

    def __init__(
        self,
        *,
        rollouts: int = 128,
        rollout: Agent | str = "expert",
        candidates: int = 5,
        margin: float = 1.0,
        value: str = "win",
        trust: float = 0.95,
        no_wilds: bool = True,
        max_decisions: int = 100,
    ) -> None:
        self.rollouts = whole_number("rollouts", rollouts, 1, _VALUES)
        self.policy = make_agent(rollout)
        if self.policy.cheats or self.policy.interactive:
            raise ValueError(
                f"rollout={self.policy.name!r}: allowed is an agent that does not cheat and asks "
                "nobody"
            )
        self.candidates = whole_number("candidates", candidates, 1)
        if not margin >= 0:
            raise ValueError(f"margin={margin!r}: allowed is a number from 0")
        self.margin = margin
        self.value = one_of("value", value, "win", "points")
        if not 0 <= trust <= 1:
            raise ValueError(f"trust={trust!r}: allowed is a number from 0 to 1")
        self.trust = trust
        self.no_wilds = one_of("no_wilds", no_wilds, True, False)
        self.max_decisions = whole_number("max_decisions", max_decisions, 1)

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """See `Agent.act`."""
        self.check_input(observation, mask)
        seen = observation[:, :OBSERVATION_SIZE]
        counts = LegalActions.of(mask).counts
        actions: NDArray[np.intp] = np.array(self.policy.act(seen, mask, rng), np.intp)
        actions[mask[:, Action.UNO]] = Action.UNO
        actions[mask[:, Action.CATCH]] = Action.CATCH
        clear = (counts == 1) | mask[:, Action.UNO] | mask[:, Action.CATCH] | (seen[:, _OVER] != 0)
        clear |= (seen[:, _OWN_SIZE] == 1) & (actions < NUM_FACES)
        rows = np.flatnonzero(~clear)
        if not rows.size:
            return actions
        # Tables played side by side are under the same rules.
        _, group = np.unique(seen[rows, RULES], axis=0, return_inverse=True)
        for number in range(int(group.max()) + 1):
            some = rows[group.ravel() == number]
            size = max(1, _VALUES // self.rollouts)
            for start in range(0, len(some), size):
                block = some[start : start + size]
                actions[block] = self._search(observation[block], mask[block], actions[block], rng)
        return actions

    def tables(self, observation: NDArray[np.uint8], k: int, rng: np.random.Generator) -> GameBatch:
        """Tables to play out on: k for each row, the observer in seat 0."""
        return sample_tables(observation, k, rng, trust=self.trust, no_wilds=self.no_wilds)

    def _search(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        prior: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """What to do in some rows under the same rules: (B,) intp."""
        seen = observation[:, :OBSERVATION_SIZE]
        options = self._options(seen, mask, prior)
        # Masks that no rule of the table makes cannot be played out; the prior answers them.
        possible = self.tables(observation, 1, rng).legal
        race = Race(options >= 0, self.rollouts, self.margin)
        race.alive &= np.take_along_axis(possible, np.maximum(options, 0), axis=1)
        race.alive &= race.alive[:, :1]
        for stop in stages(self.rollouts, int(race.alive.sum())):
            rows = race.open_rows()
            if not rows.size:
                break
            self._play_stage(race, rows, stop - race.played, observation, options, rng)
            race.drop(rows, stop)
        return options[np.arange(len(options)), race.choice()]

    def _options(
        self, seen: NDArray[np.uint8], mask: NDArray[np.bool_], prior: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """The actions to look at, the prior's choice first, -1 after their end: (B, C)."""
        liked = self.policy.preferences(seen, mask)
        most = int(mask.sum(axis=1).max())
        if liked is None:
            liked = np.zeros(mask.shape, np.float32)
        else:
            most = min(most, self.candidates)
        liked = np.where(mask, liked, -np.inf)
        liked[np.arange(len(prior)), prior] = np.inf
        order = (-liked).argsort(axis=1, kind="stable")[:, :most]
        return np.where(np.take_along_axis(mask, order, axis=1), order, -1)

    def _play_stage(
        self,
        race: Race,
        rows: NDArray[np.intp],
        k: int,
        observation: NDArray[np.uint8],
        options: NDArray[np.intp],
        rng: np.random.Generator,
    ) -> None:
        """Play the actions that are left in some rows out on k new tables each."""
        of_pair, option = race.alive[rows].nonzero()
        values = np.empty(len(of_pair) * k, np.float32)
        widest = int(race.alive[rows].sum(axis=1).max())
        tables = min(k, max(1, ROOM // (2 * widest)))
        at_once = max(1, ROOM // (2 * widest * tables))

        def parts() -> Iterator[Part]:
            for first in range(0, len(rows), at_once):
                pairs = np.flatnonzero((of_pair >= first) & (of_pair < first + at_once))
                block = rows[first : first + at_once]
                for start in range(0, k, tables):
                    number = min(tables, k - start)
                    batch = self.tables(observation[block], number, rng)
                    each = np.arange(number)
                    source = ((of_pair[pairs] - first)[:, None] * number + each).ravel()
                    actions = options[rows[of_pair[pairs]], option[pairs]].repeat(number)
                    at = (pairs[:, None] * k + start + each).ravel()
                    yield Part(batch.take(source), actions, at)

        play_out(
            parts(),
            values,
            self.policy,
            rng,
            max_decisions=self.max_decisions,
            longest=_LONGEST,
            points=self.value == "points",
        )
        race.note(rows[of_pair], option, values.reshape(-1, k))


def stages(rollouts: int, options: int) -> list[int]:
    """How many tables have been played after each stage: each stage doubles them.

    Args:
        rollouts: for each option at most.
        options: how many there are, of all decisions looked at together.
    """
    least = max(_LEAST_TABLES, -(-_LEAST_GAMES // max(options, 1)))
    stops = [rollouts]
    while len(stops) < _MOST_STAGES and stops[0] >= 2 * least:
        stops.insert(0, stops[0] // 2)
    return stops


@dataclass(slots=True)
class _Lead:
    """How far the options of some rows are behind the best: (n, C) each."""

    best: NDArray[np.intp]
    """(n,)"""
    behind: NDArray[np.float32]
    error: NDArray[np.float32]
    """Standard errors of the paired differences."""


class Race:
    """What is known of C options in each of B rows; the first is the prior's choice.

    Args:
        alive: (B, C) bool, which options there are.
        rollouts: tables for each at most.
        margin: standard errors of the gain for which the prior's choice is left.
    """

    def __init__(self, alive: NDArray[np.bool_], rollouts: int, margin: float) -> None:
        self.margin = margin
        self.alive = alive.copy()
        """(B, C) those that have not been dropped."""
        self.values = np.zeros((*alive.shape, rollouts), np.float32)
        """(B, C, R) by table; all options of a row that are alive have met the same tables."""
        self.played = 0
        self.tables = np.zeros(len(alive), np.intp)
        """(B,) tables met by each row."""

    def open_rows(self) -> NDArray[np.intp]:
        """The rows where more than one option is left."""
        return np.flatnonzero(self.alive.sum(axis=1) > 1)

    def note(
        self, rows: NDArray[np.intp], options: NDArray[np.intp], values: NDArray[np.float32]
    ) -> None:
        """Values (n, k) of options (n,) of rows (n,) on k new tables."""
        self.values[rows, options, self.played : self.played + values.shape[1]] = values

    def _lead(self, rows: NDArray[np.intp], played: int) -> _Lead:
        values = self.values[rows, :, :played]
        mean = np.where(self.alive[rows], values.mean(axis=2), -np.inf)
        best = mean.argmax(axis=1)
        lead = values[np.arange(len(rows)), best][:, None] - values
        error = lead.std(axis=2) / np.sqrt(np.float32(played))
        return _Lead(best, lead.mean(axis=2), error)

    def drop(self, rows: NDArray[np.intp], played: int) -> None:
        """Drop the losers among the options of rows that have met `played` tables in all."""
        self.played = played
        self.tables[rows] = played
        lead = self._lead(rows, played)
        alive = self.alive[rows]
        lost = alive & (lead.behind > lead.error)
        certain = max(_CERTAIN, self.margin)
        lost[:, 0] = alive[:, 0] & (lead.behind[:, 0] > certain * lead.error[:, 0])
        # The better half goes on, ties to what the prior likes more.
        place = np.where(alive, lead.behind, np.inf).argsort(axis=1, kind="stable").argsort(axis=1)
        lost[:, 1:] |= place[:, 1:] > alive.sum(axis=1, keepdims=True) // 2
        lost[np.arange(len(rows)), lead.best] = False
        self.alive[rows] = alive & ~lost

    def choice(self) -> NDArray[np.intp]:
        """The option to take in each row: (B,) intp."""
        chosen = np.zeros(len(self.alive), np.intp)
        for played in np.unique(self.tables[self.tables > 0]).tolist():
            rows = np.flatnonzero(self.tables == played)
            lead = self._lead(rows, played)
            leaves = ~self.alive[rows, 0] | (lead.behind[:, 0] > self.margin * lead.error[:, 0])
            chosen[rows] = np.where(leaves, lead.best, 0)
        return chosen
