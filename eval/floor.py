"""How the rounds of matches are cut into pieces, and how a piece is played.

A *piece* is a fixed range of deals of one match, within which agents draw their chance from streams
of their own. It is played by itself, and is what a results folder keeps: which process plays which
piece, and when, does not matter.

With whole games a deal is a game: a game's rounds are dealt from seeds that follow from the deal's
seed and the number of the round, so that all who play the deal meet the same cards in each round.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from agents import Agent, make_agents
from eval.answers import AgentError, ask
from eval.arguments import RulesLike, rules_for, whole_number
from uno_env.game.dealing import seed_streams
from uno_env.game.engine import GameBatch
from uno_env.game.observation import OBSERVATION_SIZE
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, Rules

BLOCKED = -1
"""Instead of a winner: nobody could do anything any more."""
TRUNCATED = -2
"""Instead of a winner: the round was cut off at the cap on decisions."""
DEALS = 10_000
"""The default number of deals."""
MAX_DEALS = 10_000_000
"""More than anybody needs, and as many as fit in memory."""
MAX_DECISIONS = 2000
"""The default cap on the decisions of a round."""
MAX_ROUNDS = 10_000
"""The cap on the rounds of a game."""
PIECE = 16_384
"""The default size of a piece, in rounds or games, about. Results depend on it, so it never changes
with the machine. Large ones are fast, since at the end of a piece the few games that last long
share what a step costs. But when a process ends early, what it was playing is lost."""
MAX_POINTS = 2**17
"""More than the whole deck counts under any rules."""
WINDOW = 4_096
"""Games of a piece that are played at a time, at most: where one is over the next begins. More take
more memory than processors have at hand, fewer share what a step costs. Results depend on it."""

_ROUND_STEP = np.uint64(0xD1342543DE82EF95)
"""From the seed of a game's round to that of the next."""

Progress = Callable[[int, int], None]
"""Is told how many rounds, or games, are over, of how many."""
Wanted = Callable[["Piece"], bool]
"""Whether a piece is to be played; asked just before it is begun."""


class WorkerError(RuntimeError):
    """A piece cannot be played: its process was lost each time, or failed in our own code."""


def say_nothing(_over: int, _total: int) -> None:
    """Progress that nobody asked for."""


# ---------------------------------------------------------------------- how the work is cut


@dataclass(frozen=True, order=True)
class Piece:
    """A range of deals of one match."""

    lineup: int
    number: int
    start: int
    stop: int
    players: int

    @property
    def rounds(self) -> int:
        """Its deals times the rotations of each: rounds, or games."""
        return (self.stop - self.start) * self.players


@dataclass(frozen=True)
class Table:
    """Everything that several matches share, checked."""

    lineups: tuple[tuple[Agent, ...], ...]
    rules: Rules
    deals: int
    seed: int
    max_decisions: int
    games: bool = False
    """Whether a deal is a whole game rather than a round."""
    piece: int = PIECE
    """Rounds or games of a piece, about."""

    @classmethod
    def of(
        cls,
        lineups: Sequence[Sequence[Agent | str]],
        rules: RulesLike,
        deals: int,
        seed: int,
        *,
        max_decisions: int = MAX_DECISIONS,
        games: bool = False,
        piece: int = PIECE,
    ) -> Table:
        """Check the arguments of `eval.match.play_all`.

        Raises:
            ValueError: an argument that is not allowed.
            TypeError: the same.
            FileNotFoundError: a policy file that is not there.
        """
        made = tuple(tuple(make_agents(lineup)) for lineup in lineups)
        players = {len(lineup) for lineup in made}
        if len(players) != 1 or not MIN_PLAYERS <= min(players) <= max(players) <= MAX_PLAYERS:
            raise ValueError(
                f"line-ups of {', '.join(map(str, sorted(players))) or 'no'} agents: allowed are "
                f"{MIN_PLAYERS} to {MAX_PLAYERS}, the same number in each"
            )
        return cls(
            lineups=made,
            rules=rules_for(rules, min(players)),
            deals=whole_number("deals", deals, 1, MAX_DEALS),
            seed=whole_number("seed", seed, 0),
            max_decisions=whole_number("max_decisions", max_decisions, 1, 2**31 - 1),
            games=bool(games),
            piece=whole_number("piece", piece, 1),
        )

    def pieces(self) -> list[Piece]:
        """All there is to play, match by match."""
        players = self.rules.num_players
        size = max(1, self.piece // players)
        return [
            Piece(lineup, number, start, min(start + size, self.deals), players)
            for lineup in range(len(self.lineups))
            for number, start in enumerate(range(0, self.deals, size))
        ]

    def deal_seeds(self) -> NDArray[np.uint64]:
        """The seed of each deal's game, the same in all matches: (D,)."""
        seeds = np.random.SeedSequence(self.seed).generate_state(self.deals, np.uint64)
        return seeds.astype(np.uint64, copy=False)

    def chance(self, piece: Piece, agent: int) -> np.random.Generator:
        """The random stream of an agent of the line-up in a piece."""
        return np.random.default_rng(
            np.random.SeedSequence(self.seed, spawn_key=(piece.number, agent))
        )


# ---------------------------------------------------------------------- what comes out


@dataclass(frozen=True)
class Rounds:
    """R rounds of a match, in the order of deals, rotations and rounds of a game."""

    deal: NDArray[np.int32]
    """(R,) which deal."""
    rotation: NDArray[np.int8]
    """(R,) in rotation r the agent of place i of the line-up sits in seat ``(i + r) % P``."""
    number: NDArray[np.int32]
    """(R,) which round of its game, from 0."""
    winner: NDArray[np.int8]
    """(R,) place of the winner, or `BLOCKED`, or `TRUNCATED`."""
    points: NDArray[np.int32]
    """(R, P) points by place; zeros unless somebody won."""
    decisions: NDArray[np.int32]
    """(R,) decisions made."""
    first: NDArray[np.int8]
    """(R,) place of the agent that had the first decision."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """By name."""
        return {spec.name: getattr(self, spec.name) for spec in fields(self)}

    @classmethod
    def of(
        cls, columns: Mapping[str, NDArray[Any]], players: int, deals: range, *, games: bool
    ) -> Rounds:
        """The rounds that were read from a file, checked.

        Args:
            columns: whole numbers of any type, by name, as `arrays` gives them.
            players: P.
            deals: those that were played.
            games: whether a deal is a whole game, which has several rounds.

        Raises:
            ValueError: these are not the rounds of those deals in every rotation, in order.
        """
        if columns.keys() != _COLUMNS.keys():
            raise ValueError(f"columns {', '.join(columns)}: needed are {', '.join(_COLUMNS)}")
        rows, seat = columns["deal"].size, players - 1
        limits = {
            "deal": (deals.start, deals.stop - 1),
            "rotation": (0, seat),
            "number": (0, MAX_ROUNDS - 1 if games else 0),
            "winner": (TRUNCATED, seat),
            "points": (0, MAX_POINTS),
            "decisions": (1, 2**31 - 1),
            "first": (0, seat),
        }
        for name, (low, high) in limits.items():
            column, shape = columns[name], (rows, players) if name == "points" else (rows,)
            if column.dtype.kind not in "iu" or column.shape != shape or not rows:
                raise ValueError(
                    f"{name}: {column.dtype} of the shape {column.shape}: needed are whole numbers "
                    f"of the shape {shape}, one row or more"
                )
            odd = column[(column < low) | (column > high)]
            if odd.size:
                raise ValueError(f"{name}={odd[0]}: allowed is a whole number from {low} to {high}")
        made = cls(**{name: columns[name].astype(dtype) for name, dtype in _COLUMNS.items()})
        made._check_order(players, deals)
        return made

    def _check_order(self, players: int, deals: range) -> None:
        """Whether there is every game in order, and every round of it; raises a ValueError."""
        starts = np.flatnonzero(self.number == 0)
        game = np.cumsum(self.number == 0) - 1
        of_game = self.deal.astype(np.int64) * players + self.rotation
        whole = len(starts) == len(deals) * players
        if not whole or (of_game != deals.start * players + game).any():
            raise ValueError(
                f"deals {deals.start} to {deals.stop - 1} are needed in order, in {players} "
                "rotations each"
            )
        if (self.number != np.arange(len(game)) - starts[game]).any():
            raise ValueError("the rounds of a game are needed in order, from round 0")
        if self.points[self.winner < 0].any():
            raise ValueError("points where nobody won: needed are zeros")

    @staticmethod
    def join(parts: Sequence[Rounds]) -> Rounds:
        """The parts, one after the other."""
        columns = zip(*(part.arrays().values() for part in parts), strict=True)
        return Rounds(*map(np.concatenate, columns))


_COLUMNS = {
    "deal": np.int32,
    "rotation": np.int8,
    "number": np.int32,
    "winner": np.int8,
    "points": np.int32,
    "decisions": np.int32,
    "first": np.int8,
}
"""The types of `Rounds`."""


@dataclass(frozen=True)
class Failure:
    """An agent raised or answered with something else than a legal action."""

    agent: str
    what: str
    """What it did."""
    lineup: tuple[str, ...]
    rules: str
    seed: int
    deal: int
    deal_seed: int
    """The seed of the deal's game."""
    rotation: int
    round: int
    """Which round of the game, from 0."""
    decision: int
    """Which decision of the round, from 1."""
    position: str
    """The position as `uno_env.Position.parse` reads it."""
    options: str = ""
    """What else the command that plays it again has to be told."""

    @classmethod
    def of(cls, values: object) -> Failure:
        """What `dataclasses.asdict` gave, read from a file.

        Raises:
            ValueError: it is something else.
        """
        known = {spec.name: str(spec.type) for spec in fields(cls)}
        if not isinstance(values, dict) or values.keys() != known.keys():
            raise ValueError(f"a failure is needed with {', '.join(known)}")
        for name, of in known.items():
            value, (kind, allowed) = values[name], _OF_A_FAILURE[of]
            fits = type(value) is kind
            if fits and isinstance(value, list):
                fits = all(isinstance(each, str) for each in value)
            if not fits:
                raise ValueError(f"{name}={value!r}: allowed is {allowed}")
        return cls(**{**values, "lineup": tuple(values["lineup"])})

    @property
    def where(self) -> str:
        """In a line."""
        number = f"round {self.round} of its game, " if "--games" in self.options else ""
        return (
            f"seed {self.seed}, deal {self.deal} (the game with the seed {self.deal_seed}), "
            f"rotation {self.rotation}, {number}decision {self.decision}"
        )

    @property
    def replay(self) -> str:
        """The command that plays this again, if the agents are known by the names they have."""
        rules = [word for word in self.rules.split() if not word.startswith("num_players=")]
        return (
            f"python -m eval.replay {shlex.join(self.lineup)} "
            f"--rules {shlex.quote(' '.join(rules))} --seed {self.seed} "
            f"--deal {self.deal} --rotation {self.rotation}{self.options}"
        )

    def __str__(self) -> str:
        """Who did what, where, how to see it again, and the position."""
        return (
            f"agent {self.agent!r} {self.what}\n{self.where}\nagain: {self.replay}\n{self.position}"
        )


_OF_A_FAILURE: dict[str, tuple[type, str]] = {
    "str": (str, "text"),
    "int": (int, "a whole number"),
    "tuple[str, ...]": (list, "a list of names"),
}
"""What JSON holds the fields of `Failure` as, by their types, and how an error calls it."""

Outcome = Rounds | Failure


# ---------------------------------------------------------------------- how a piece is played


class PiecePlay:
    """The rounds of a piece, `WINDOW` of them at a time side by side in one batch.

    Whatever an agent is asked in one call is in the order of deals and rotations.

    Args:
        table: what is played.
        piece: which part of it.
        watch: is told, before each step, of the games played on and the actions to come.
    """

    def __init__(
        self,
        table: Table,
        piece: Piece,
        watch: Callable[[PiecePlay, NDArray[np.intp], NDArray[np.intp]], None] | None = None,
    ) -> None:
        players, size = table.rules.num_players, piece.rounds
        self.table, self.piece, self.watch = table, piece, watch
        self.lineup = table.lineups[piece.lineup]
        self.deal_seeds = table.deal_seeds()[piece.start : piece.stop]
        self.batch = GameBatch(table.rules, size)
        self.batch.reset(seeds=np.repeat(self.deal_seeds, players))
        self.live = np.arange(min(size, WINDOW))
        """The games that are played now, in order."""
        self.begun = len(self.live)
        self.open = np.ones(size, np.bool_)
        """(n,) games that are not over."""
        self.number = np.zeros(size, np.int32)
        self.decisions = np.zeros(size, np.int32)

        seats = np.arange(players)
        every = np.arange(size)
        self.places = ((seats - seats[:, None]) % players)[every % players]
        """(n, P) the place of the line-up that sits in each seat of each game."""
        # What one agent has to decide at one time is asked in one call, however many its places.
        of_agent = {id(agent): place for place, agent in reversed([*enumerate(self.lineup)])}
        self.group = np.array([of_agent[id(agent)] for agent in self.lineup])[self.places]
        """(n, P) the first place of the agent that acts for each seat of each game."""
        self.all_look = all(agent.observes for agent in self.lineup)
        self.chance = {place: table.chance(piece, place) for place in of_agent.values()}
        self.first = self.places[every, self.batch.player]
        self.over: list[tuple[NDArray[Any], ...]] = []
        """Columns of rounds that are over, in the order in which they ended, games first."""

    def play(self, progress: Progress) -> Rounds:
        """Play to the end.

        Raises:
            AgentError: an agent raised or answered with something else than legal actions.
        """
        over, total = 0, self.piece.rounds
        while over < total:
            if ended := self._step():
                over += ended
                progress(over, total)
        game, number, *rest = map(np.concatenate, zip(*self.over, strict=True))
        order = np.lexsort([number, game])
        deal, rotation = np.divmod(game[order], self.table.rules.num_players)
        columns = (number, *rest)
        return Rounds(
            (deal + self.piece.start).astype(np.int32),
            rotation.astype(np.int8),
            *(column[order] for column in columns),
        )

    def _step(self) -> int:
        """One decision in each game; returns how many games ended with it."""
        group = self.group[self.live, self.batch.player[self.live]]
        order = np.argsort(group, kind="stable")
        games, group = self.live[order], group[order]
        mask = self.batch.legal_of(games)
        # Where all look, one call for all of them is the cheapest.
        told = self.batch.observe(where=games) if self.all_look else None
        actions = np.empty(len(games), np.intp)
        for start, stop in pairwise([0, *np.flatnonzero(np.diff(group)) + 1, len(games)]):
            asked, place = slice(start, stop), int(group[start])
            agent = self.lineup[place]
            actions[asked] = ask(
                agent,
                self.batch,
                games[asked],
                self._observe(agent, games[asked]) if told is None else told[asked],
                mask[asked],
                self.chance[place],
                lambda _: "",
            )
        if self.watch:
            self.watch(self, games, actions)

        _, done = self.batch.step(actions, where=games)
        self.decisions[games] += 1
        over = done | (self.decisions[games] >= self.table.max_decisions)
        if not over.any():
            return 0
        ended = self._note(games[over], done[over])
        following = np.arange(self.begun, min(self.begun + ended.size, self.piece.rounds))
        self.begun += following.size
        self.open[ended] = False
        self.live = np.concatenate([self.live[self.open[self.live]], following])
        return ended.size

    def _observe(self, agent: Agent, games: NDArray[np.intp]) -> NDArray[np.uint8]:
        """What an agent is told of some games: (B, F)."""
        if agent.observes:
            return self.batch.observe(where=games)
        return np.broadcast_to(np.uint8(0), (len(games), OBSERVATION_SIZE))

    def _note(self, games: NDArray[np.intp], done: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Write down rounds that ended, those not `done` cut off; returns the games that did."""
        players = self.table.rules.num_players
        rotation = games % players
        winner = self.batch.winner[games]
        place = np.where(winner < 0, BLOCKED, (winner - rotation) % players)
        seats = (np.arange(players) + rotation[:, None]) % players
        points = np.take_along_axis(self.batch.points[games], seats, axis=1)
        self.over.append(
            (
                games,
                self.number[games],
                np.where(done, place, TRUNCATED).astype(np.int8),
                np.where(done[:, None], points, 0).astype(np.int32),
                self.decisions[games],
                self.first[games].astype(np.int8),
            )
        )
        if not self.table.games:
            return games
        goes_on = done & ~self.batch.game_over[games] & (self.number[games] + 1 < MAX_ROUNDS)
        self._next_round(games[goes_on])
        return games[~goes_on]

    def _next_round(self, games: NDArray[np.intp]) -> None:
        """Deal the next round of games, from its own seed."""
        if not games.size:
            return
        self.number[games] += 1
        seeds = self.deal_seeds[games // self.table.rules.num_players]
        seeds = seeds + _ROUND_STEP * self.number[games].astype(np.uint64)
        seed_streams(self.batch.state, games, seeds)
        self.batch.next_round(games)
        self.decisions[games] = 0
        self.first[games] = self.places[games, self.batch.player[games]]

    def failure(self, error: AgentError) -> Failure:
        """What an error of an agent of this piece is about."""
        place, rotation = divmod(error.game, self.table.rules.num_players)
        table = self.table
        options = "".join(
            f" --{name} {value}"
            for name, value, default in (
                ("max-decisions", table.max_decisions, MAX_DECISIONS),
                ("piece", table.piece, PIECE),
            )
            if value != default
        )
        # Whether the piece is cut short by the number of deals decides which chance is left.
        deals = f" --{'games' if table.games else 'rounds'} {table.deals * len(self.lineup)}"
        return Failure(
            agent=error.agent,
            what=error.what,
            lineup=tuple(agent.name for agent in self.lineup),
            rules=str(table.rules),
            seed=table.seed,
            deal=self.piece.start + place,
            deal_seed=int(self.deal_seeds[place]),
            rotation=rotation,
            round=int(self.number[error.game]),
            decision=int(self.decisions[error.game]) + 1,
            position=error.position,
            options=deals + options,
        )


def play_piece(table: Table, piece: Piece, progress: Progress = say_nothing) -> Outcome:
    """Play a piece in this process: its rounds, or the first failure of an agent in it."""
    # A policy's products are small: more threads cost far more than they bring, above all when
    # there are processes beside this one.
    with threadpool_limits(limits=1, user_api="blas"):
        play = PiecePlay(table, piece)
        try:
            return play.play(progress)
        except AgentError as error:
            return play.failure(error)


def named(failure: Failure, names: dict[str, str]) -> Failure:
    """The failure with agents called as a command line has to call them."""
    return replace(failure, lineup=tuple(names.get(name, name) for name in failure.lineup))
