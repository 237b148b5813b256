"""One table of people and bots, played decision by decision, with a record of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.base import Agent
from uno_env.game.actions import ACTIONS
from uno_env.game.checks import MAX_SEED, whole_number
from uno_env.game.engine import GameBatch
from uno_env.game.position import Position
from uno_env.game.rules import Rules
from uno_env.records import Record, Recorder


class Table:
    """A game as people play it: somebody decides, then the next, and round follows round.

    Args:
        rules: of the game.
        seats: who has each seat, an `Agent` or None for a person.
        person: what a person is called; bots have their names, with numbers where they are alike.
        seed: of deals and of the bots' chance.

    Raises:
        ValueError: not a seat for each player, a bot that asks a person itself, a seed out of
            range.
        TypeError: a seed that is no whole number.
    """

    def __init__(
        self,
        rules: Rules,
        seats: Sequence[Agent | None],
        *,
        person: str = "you",
        seed: int,
    ) -> None:
        players = rules.num_players
        if len(seats) != players:
            raise ValueError(f"{len(seats)} seats: allowed is one for each of {players} players")
        for agent in seats:
            if agent is not None and agent.interactive:
                raise ValueError(f"{agent.name!r} asks a person: give the seat to one instead")
        self.seats = tuple(seats)
        self.names = _names(seats, person)
        self.last: tuple[int, int] | None = None
        """The seat that decided last and the id of its action."""
        self.decisions = 0
        """In all rounds."""
        seed = whole_number("seed", seed, 0, MAX_SEED)
        self.batch = GameBatch(rules, 1, seed)
        self._recorder = Recorder(self.batch, seed, self.names)
        self._rng = np.random.default_rng(seed)

    @property
    def rules(self) -> Rules:
        """Of the game."""
        return self.batch.rules

    @property
    def position(self) -> Position:
        """What lies on the table, all hands included."""
        return self.batch.position(0)

    @property
    def over(self) -> bool:
        """Whether the round is."""
        return bool(self.batch.done[0])

    @property
    def game_over(self) -> bool:
        """Whether the round is and a total has reached the target."""
        return self.over and bool(self.batch.game_over[0])

    @property
    def turn(self) -> int | None:
        """The seat that is to decide; None after the round."""
        return None if self.over else int(self.batch.player[0])

    @property
    def bot(self) -> Agent | None:
        """The bot that is to decide; None where a person is, and after the round."""
        return None if self.turn is None else self.seats[self.turn]

    @property
    def legal(self) -> list[int]:
        """The ids of what the seat to decide may do; nothing after the round."""
        return [] if self.over else np.flatnonzero(self.batch.legal[0]).tolist()

    @property
    def record(self) -> Record:
        """What was played so far. It tells the seed, and so all that is hidden."""
        return self._recorder.record

    def why_illegal(self, action: int) -> str | None:
        """Why an action cannot be taken now; None if it can."""
        return "the round is over" if self.over else self.batch.why_illegal(0, action)

    def play(self, action: int) -> None:
        """The seat to decide takes an action.

        Raises:
            ValueError: it is not legal.
        """
        action = whole_number("action", action, 0, len(ACTIONS) - 1)
        if why := self.why_illegal(action):
            raise ValueError(f"{ACTIONS[action]}: {why}")
        seat = int(self.batch.player[0])
        self.batch.step(np.array([action]))
        self.last = seat, action
        self.decisions += 1
        self._recorder.decide(seat, action)
        if self.over:
            self._recorder.end_round(self.batch)

    def ask_bot(self) -> None:
        """The bot whose turn it is decides.

        Raises:
            ValueError: no bot is to decide, or it does what is not legal.
        """
        bot = self.bot
        if bot is None:
            raise ValueError("no bot is to decide")
        observation = self.batch.observe_all() if bot.cheats else self.batch.observe()
        [action] = bot.act(observation, self.batch.legal, self._rng)
        self.play(int(action))

    def next_round(self) -> None:
        """Deal the next round of the game.

        Raises:
            ValueError: the round is not over, or the game is.
        """
        if not self.over or self.game_over:
            what = "the game is over" if self.over else "the round is not over"
            raise ValueError(f"no further round: {what}")
        self.batch.next_round()
        self.last = None


def _names(seats: Sequence[Agent | None], person: str) -> tuple[str, ...]:
    called = [person if agent is None else agent.name for agent in seats]
    return tuple(
        f"{name} {called[: seat + 1].count(name)}" if called.count(name) > 1 else name
        for seat, name in enumerate(called)
    )
