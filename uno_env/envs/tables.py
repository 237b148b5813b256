"""`Tables`: games in which one seat learns and opponents hold the others.

Both Gymnasium environments stand on it: the vector environment on N tables, the single one on one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from uno_env.envs import with_preset
from uno_env.envs.opponents import choose_uniformly, find_opponents, start_chance
from uno_env.game import scoring
from uno_env.game.actions import ACTIONS, NUM_ACTIONS
from uno_env.game.checks import one_of, whole_number
from uno_env.game.engine import GameBatch
from uno_env.game.observation import HIGH
from uno_env.game.rules import Rules
from uno_env.game.state import Rows
from uno_env.render.modes import Frame, Renderer

RulesLike = Rules | str | Mapping[str, Any]
ROTATE = "rotate"


def observation_space() -> spaces.Space[NDArray[np.uint8]]:
    """What one seat may know, a Box: (F,) uint8."""
    box: Any = spaces.Box(np.zeros_like(HIGH), HIGH, dtype=np.uint8)
    return box


def rules_of(rules: RulesLike | None, preset: str | None, num_players: int | None) -> Rules:
    """The rules of an environment.

    Args:
        rules: whatever `Rules.make` takes; with a preset, switches that differ from it.
        preset: that of a registered name; None for an environment made directly.
        num_players: in place of the number in the rules, if given.

    Raises:
        TypeError: rules in another form beside a preset.
        ValueError: rules of another preset, or that are not allowed.
    """
    players = {} if num_players is None else {"num_players": num_players}
    if preset is None:
        return Rules.make("angry_birds" if rules is None else rules, **players)
    return Rules.make(with_preset(preset, rules, name=f"the preset {preset!r}"), **players)


@dataclass(slots=True)
class Outcome:
    """What a step brought the learner at each of N tables."""

    rewards: NDArray[np.float64]
    """(N,) zero but at tables whose round is over."""
    terminated: NDArray[np.bool_]
    """(N,) whether the round is over."""
    truncated: NDArray[np.bool_]
    """(N,) whether it was cut off."""

    @classmethod
    def nothing(cls, number: int) -> Outcome:
        """Before the step."""
        return cls(np.zeros(number), np.zeros(number, np.bool_), np.zeros(number, np.bool_))

    @property
    def ended(self) -> Rows:
        """The tables whose episode has ended."""
        return (self.terminated | self.truncated).nonzero()[0]


class Tables:
    """N tables, each with a learner and its opponents.

    An episode is a round. Between two calls every table waits for its learner, or its episode has
    ended.

    Args:
        rules: of all tables.
        num_tables: N.
        seed: of the first games, as for `GameBatch`; `deal` can give others.
        opponents: see `uno_env.envs.single_agent.UnoEnv`, as for what follows.
        seat: an int or ``"rotate"``.
        reward: ``"win"`` or ``"points"``.
        max_cycles: decisions of all seats, or None.

    Raises:
        ValueError: an argument with a value that is not allowed.
        TypeError: an argument of the wrong type.
        FileNotFoundError: a policy file that is not there.
    """

    def __init__(
        self,
        rules: Rules,
        num_tables: int,
        seed: int,
        *,
        opponents: Any,
        seat: int | str,
        reward: str,
        max_cycles: int | None,
    ) -> None:
        players = rules.num_players
        self.rotates = isinstance(seat, str)
        if isinstance(seat, str):
            one_of("seat", seat, ROTATE, note=f", or a whole number from 0 to {players - 1}")
        else:
            seat = whole_number("seat", seat, 0, players - 1, note=f", or {ROTATE!r}")
        self.rewards_points = one_of("reward", reward, "win", "points") == "points"
        if max_cycles is not None:
            max_cycles = whole_number("max_cycles", max_cycles, 1, note=", or None")
        self.max_cycles = max_cycles
        self.opponents, self._opponent_after = find_opponents(opponents, players - 1)
        self.batch = GameBatch(rules, num_tables, seed)
        self.num_tables = self.batch.num_games
        self.ready = False
        """Whether each table waits for its learner."""
        seeds = np.uint64(seed) + np.arange(num_tables, dtype=np.uint64)
        self.seat = (
            (seeds % np.uint64(players)).astype(np.intp)
            if self.rotates
            else np.full(num_tables, seat, np.intp)
        )
        """(N,) the learner's seat."""
        self._chance = start_chance(seeds)
        self._decisions = np.zeros(num_tables, np.intp)
        self._last = np.full((num_tables, 2), -1, np.intp)

    # ------------------------------------------------------------------ what is to be seen

    def observe(self, rows: Rows | None = None) -> NDArray[np.uint8]:
        """What the learners may know: (N, F) uint8, or of some tables (n, F)."""
        return self.batch.observe(self.seat if rows is None else self.seat[rows], rows)

    def masks(self) -> NDArray[np.bool_]:
        """The legal actions of the learners: (N, 84) bool; none where it is not their turn."""
        mask = self.batch.legal
        mask[self.batch.player != self.seat] = False
        return mask

    def render(self, table: int, renderer: Renderer) -> Frame:
        """One table, seen by the learner."""
        seat, action = self._last[table].tolist()
        return renderer.render(
            self.batch.position(table),
            seat=int(self.seat[table]),
            last=None if seat < 0 else (seat, action),
        )

    # ------------------------------------------------------------------ play

    @contextmanager
    def or_as_before(self, rng: np.random.Generator) -> Iterator[None]:
        """Where what is done raises, the tables are as they were before, and so is `rng`.

        Only opponents that a user brings can raise, so without such nothing is kept.
        """
        if all(opponent is None for opponent in self.opponents):
            yield
            return
        state, chance, ready = self.batch.state.copy(), rng.bit_generator.state, self.ready
        arrays = [self.seat, self._chance, self._decisions, self._last]
        copies = [array.copy() for array in arrays]
        try:
            yield
        except BaseException:
            self.batch.state, rng.bit_generator.state, self.ready = state, chance, ready
            for array, copy in zip(arrays, copies, strict=True):
                array[:] = copy
            raise

    def deal(
        self,
        rng: np.random.Generator,
        rows: Rows | None = None,
        seeds: NDArray[np.uint64] | None = None,
    ) -> None:
        """Begin new episodes, and play up to the learner's first decision.

        A round that ends before it is no episode: another is dealt.

        Args:
            rng: chance for the opponents that want some.
            rows: which tables; all if None.
            seeds: (n,) where their streams start anew; without, they run on.

        Raises:
            ValueError, TypeError: an opponent answered with something else than legal actions.
            RuntimeError: an opponent raised.
        """
        rows = self.batch.state.all_rows if rows is None else rows
        self.ready = False
        if seeds is not None:
            self._chance[rows] = start_chance(seeds)
        if self.rotates:
            players = self.batch.rules.num_players
            if seeds is None:
                self.seat[rows] = (self.seat[rows] + 1) % players
            else:
                self.seat[rows] = (seeds % np.uint64(players)).astype(np.intp)
        while rows.size:
            self.batch.reset(rows, seeds)
            seeds = None
            self._decisions[rows] = 0
            self._last[rows] = -1
            outcome = Outcome.nothing(self.num_tables)
            self._play_on(rows, outcome, rng)
            rows = outcome.ended
        self.ready = True

    def check(self, actions: Any) -> NDArray[np.intp]:
        """The learners' actions as `step` wants them, if all are legal.

        Raises:
            gymnasium.error.ResetNeeded: the tables wait for a deal.
            ValueError: wrong shape, out of range, illegal; names the game and the reason.
            TypeError: not integers.
        """
        if not self.ready:
            raise ResetNeeded("the episode is over or has not begun: call reset() before step()")
        return self.batch.check(actions)

    def step(self, actions: NDArray[np.intp], rng: np.random.Generator) -> Outcome:
        """Play the learners' actions and on to their next decisions.

        Args:
            actions: (N,) as `check` returned them.
            rng: chance for the opponents that want some.

        Raises:
            ValueError, TypeError: an opponent answered with something else than legal actions.
            RuntimeError: an opponent raised.
        """
        outcome = Outcome.nothing(self.num_tables)
        self.ready = False
        self._play_on(self._decide(self.batch.state.all_rows, actions, outcome), outcome, rng)
        self.ready = True
        return outcome

    def _play_on(self, rows: Rows, outcome: Outcome, rng: np.random.Generator) -> None:
        """The opponents play until each of some tables waits for its learner, or is done."""
        while True:
            acting = self.batch.state.acting[rows].astype(np.intp)
            places = (acting - self.seat[rows]) % self.batch.rules.num_players
            theirs = places > 0
            rows, places = rows[theirs], places[theirs]
            if not rows.size:
                return
            rows = self._decide(rows, self._ask(rows, places, rng), outcome)

    def _decide(self, rows: Rows, actions: NDArray[np.intp], outcome: Outcome) -> Rows:
        """One decision at each of some tables; returns those that go on."""
        batch = self.batch
        self._last[rows, 0] = batch.state.acting[rows]
        self._last[rows, 1] = actions
        everywhere = rows.size == self.num_tables
        rewards, over = batch.step(actions, None if everywhere else rows)
        self._decisions[rows] += 1
        cut = np.zeros_like(over)
        if self.max_cycles is not None:
            cut = ~over & (self._decisions[rows] >= self.max_cycles)
        ended = over | cut
        if not ended.any():
            return rows
        where = rows[over]
        if self.rewards_points:
            own = scoring.point_rewards(batch.rules, batch.state.points[where])
        else:
            own = rewards[over]
        outcome.rewards[where] = own[np.arange(where.size), self.seat[where]]
        outcome.terminated[where] = True
        outcome.truncated[rows[cut]] = True
        return rows[~ended]

    def _ask(
        self, rows: Rows, places: NDArray[np.intp], rng: np.random.Generator
    ) -> NDArray[np.intp]:
        """What the opponents at some places after the learner do: (n,) legal actions."""
        mask = self.batch.legal_of(rows)
        holders = self._opponent_after[places - 1]
        actions = np.empty(rows.size, np.intp)
        for holder, opponent in enumerate(self.opponents):
            some = (holders == holder).nonzero()[0]
            if not some.size:
                continue
            games = rows[some]
            if opponent is None:
                actions[some], self._chance[games] = choose_uniformly(
                    mask[some], self._chance[games]
                )
                continue
            # Indexing made copies, so that what an opponent writes on them changes nothing here.
            who = f"opponent {getattr(opponent, '__qualname__', opponent)!s}"
            try:
                answer = opponent(self.batch.observe(where=games), mask[some], rng)
            except Exception as error:
                raise RuntimeError(
                    f"{who} raised {type(error).__name__} in game {games[0]}, the first of "
                    f"{games.size} it was asked for: {error}"
                ) from error
            actions[some] = self._checked_answer(answer, games, mask[some], who)
        return actions

    def _checked_answer(
        self, answer: Any, games: Rows, mask: NDArray[np.bool_], who: str
    ) -> NDArray[np.integer]:
        """An opponent's answer, if it is a legal action in each of the games."""
        array = np.asarray(answer)
        if array.shape != games.shape or array.dtype.kind not in "iu":
            raise TypeError(
                f"{who} answered with {array.dtype} of the shape {array.shape} in game {games[0]}, "
                f"the first of {games.size} it was asked for: needed are integers of the shape "
                f"{games.shape}"
            )
        known = (array >= 0) & (array < NUM_ACTIONS)
        legal = known & mask[np.arange(len(games)), np.where(known, array, 0)]
        if not legal.all():
            at = int(legal.argmin())
            game, action = int(games[at]), int(array[at])
            if not known[at]:
                why = f"allowed is a whole number from 0 to {NUM_ACTIONS - 1}"
                raise ValueError(f"{who} answered {action} in game {game}: {why}")
            why = f"illegal: {self.batch.why_illegal(game, action)}"
            raise ValueError(f"{who} answered {ACTIONS[action]} ({action}) in game {game}: {why}")
        return array
