"""How the rounds of matches are cut into pieces, each played the same whatever is beside it.

A *piece* is a fixed range of deals within which agents draw their chance from streams of their own.
How many processes play the pieces, and in which order, does not matter.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from agents import Agent, make_agents
from eval.answers import ask
from eval.arguments import RulesLike, rules_for, whole_number
from uno_env.game.engine import GameBatch
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
CAPACITY = 8192
"""Rounds in play at once. Results do not depend on it; speed does, and memory."""

_PIECE_ROUNDS = 2048
"""Rounds of a piece, about. Results depend on it, so it never changes with the machine."""
_PARTS_OF_A_JOB = 4
"""Each process is given its share of the pieces in so many parts, to even out the load."""
_MOST_PIECES = 8
"""Pieces of a part, at most, so that progress is seen and Ctrl-C need not wait long."""

Progress = Callable[[int, int], None]
"""Is told how many rounds are over, of how many."""


# ---------------------------------------------------------------------- how the work is cut


@dataclass(frozen=True)
class Piece:
    """A range of deals of one match."""

    lineup: int
    number: int
    start: int
    stop: int
    players: int

    @property
    def rounds(self) -> int:
        """Its deals times the rotations of each."""
        return (self.stop - self.start) * self.players


@dataclass(frozen=True)
class Table:
    """Everything that several matches share, checked."""

    lineups: tuple[tuple[Agent, ...], ...]
    rules: Rules
    deals: int
    seed: int
    max_decisions: int
    capacity: int

    @classmethod
    def of(
        cls,
        lineups: Sequence[Sequence[Agent | str]],
        rules: RulesLike,
        deals: int,
        seed: int,
        max_decisions: int,
        capacity: int,
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
            capacity=whole_number("capacity", capacity, 1),
        )

    def pieces(self) -> list[Piece]:
        """All there is to play, match by match."""
        players = self.rules.num_players
        size = max(1, _PIECE_ROUNDS // players)
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


@dataclass(frozen=True)
class Rounds:
    """Results of rounds in the order of pieces, deals and rotations.

    See `eval.match.MatchResult`.
    """

    winner: NDArray[np.int8]
    points: NDArray[np.int32]
    decisions: NDArray[np.int32]
    first: NDArray[np.int8]

    @classmethod
    def empty(cls, number: int, players: int) -> Rounds:
        """Rounds that nobody has won, to be filled in."""
        return cls(
            np.full(number, TRUNCATED, np.int8),
            np.zeros((number, players), np.int32),
            np.zeros(number, np.int32),
            np.zeros(number, np.int8),
        )

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.winner, self.points, self.decisions, self.first

    def split(self, sizes: Sequence[int]) -> list[Rounds]:
        """Parts of so many rounds each, in order."""
        edges = np.cumsum(sizes)[:-1]
        return [
            Rounds(*part)
            for part in zip(*(np.split(array, edges) for array in self._arrays()), strict=True)
        ]

    @staticmethod
    def join(parts: Sequence[Rounds]) -> Rounds:
        """The parts, one after the other."""
        return Rounds(*map(np.concatenate, zip(*(part._arrays() for part in parts), strict=True)))


# ---------------------------------------------------------------------- how a piece is played


@dataclass(frozen=True)
class _Group:
    """An agent in a piece: what it has to decide at one time is asked in one call."""

    agent: Agent
    chance: np.random.Generator
    piece: Piece
    first_round: int


class _Floor:
    """Pieces played side by side in one batch; the next begins as soon as there is room for it.

    Whatever an agent is asked in one call belongs to one piece, in the order of its deals and
    rotations. So the course of a piece does not depend on what is played beside it.
    """

    def __init__(self, table: Table, pieces: Sequence[Piece]) -> None:
        players = table.rules.num_players
        self.table = table
        self.waiting = deque(pieces)
        self.total = sum(piece.rounds for piece in pieces)
        size = max(min(table.capacity, self.total), max(piece.rounds for piece in pieces))
        self.batch = GameBatch(table.rules, size)
        self.results = Rounds.empty(self.total, players)
        self.deal_seeds = table.deal_seeds()
        self.places = (np.arange(players) - np.arange(players)[:, None]) % players
        """(P, P) the place of the line-up that sits in each seat, by rotation."""
        self.groups: list[_Group] = []
        self.begun = 0
        """Rounds begun so far."""
        self.free = np.arange(size)
        """Games of the batch that wait for a round."""
        self.live = self.free[:0]
        """Games being played, in the order of their rounds."""
        # Of each game of the batch: its round, which group acts for each seat, decisions so far.
        self.round = np.zeros(size, np.intp)
        self.group = np.zeros((size, players), np.intp)
        self.decisions = np.zeros(size, np.int32)

    def play(self, progress: Progress) -> Rounds:
        """Play all rounds to their end."""
        over = 0
        while self.waiting or self.live.size:
            while self.waiting and self.waiting[0].rounds <= self.free.size:
                self._begin(self.waiting.popleft())
            if finished := self._step():
                over += finished
                progress(over, self.total)
        return self.results

    def _begin(self, piece: Piece) -> None:
        """Deal the rounds of a piece."""
        games, self.free = np.split(self.free, [piece.rounds])
        players = self.table.rules.num_players
        self.batch.reset(games, np.repeat(self.deal_seeds[piece.start : piece.stop], players))

        groups: dict[int, int] = {}
        for place, agent in enumerate(lineup := self.table.lineups[piece.lineup]):
            if id(agent) not in groups:
                groups[id(agent)] = len(self.groups)
                chance = self.table.chance(piece, place)
                self.groups.append(_Group(agent, chance, piece, self.begun))
        group_of_place = np.array([groups[id(agent)] for agent in lineup])

        rounds = self.begun + np.arange(piece.rounds)
        places = self.places[rounds % players]
        self.round[games] = rounds
        self.group[games] = group_of_place[places]
        self.decisions[games] = 0
        deciding = self.batch.player[games].astype(np.intp)
        self.results.first[rounds] = places[np.arange(piece.rounds), deciding]
        self.live = np.concatenate([self.live, games])
        self.begun += piece.rounds

    def _step(self) -> int:
        """One decision in each game; returns how many rounds it ended."""
        group = self.group[self.live, self.batch.player[self.live]]
        order = np.argsort(group, kind="stable")
        games, group = self.live[order], group[order]
        observation = self.batch.observe(where=games)
        mask = self.batch.legal_of(games)
        actions = np.empty(len(games), np.intp)
        for start, stop in pairwise([0, *np.flatnonzero(np.diff(group)) + 1, len(games)]):
            asked = slice(start, stop)
            actions[asked] = self._ask(
                self.groups[group[start]], games[asked], observation[asked], mask[asked]
            )

        _, done = self.batch.step(actions, where=games)
        self.decisions[games] += 1
        over = done | (self.decisions[games] >= self.table.max_decisions)
        finished = int(np.count_nonzero(over))
        if finished:
            self._note(games[over], done[over])
            self.live = np.delete(self.live, order[over])
            self.free = np.concatenate([self.free, games[over]])
        return finished

    def _note(self, games: NDArray[np.intp], done: NDArray[np.bool_]) -> None:
        """Write down how rounds ended; those not `done` were cut off."""
        rounds = self.round[games]
        self.results.decisions[rounds] = self.decisions[games]
        games, rounds = games[done], rounds[done]
        players = self.table.rules.num_players
        rotation = rounds % players
        winner = self.batch.winner[games]
        self.results.winner[rounds] = np.where(winner < 0, BLOCKED, (winner - rotation) % players)
        seats = (np.arange(players) + rotation[:, None]) % players
        self.results.points[rounds] = np.take_along_axis(self.batch.points[games], seats, axis=1)

    def _ask(
        self,
        group: _Group,
        games: NDArray[np.intp],
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
    ) -> NDArray[np.integer]:
        """What the agent of a group does in some games."""

        def where(game: int) -> str:
            place, rotation = divmod(int(self.round[game]) - group.first_round, len(self.places))
            deal = group.piece.start + place
            return (
                f"seed {self.table.seed}, deal {deal} (the game with the seed "
                f"{self.deal_seeds[deal]}), rotation {rotation}, "
                f"decision {self.decisions[game] + 1}"
            )

        return ask(group.agent, self.batch, games, observation, mask, group.chance, where)


def play_pieces(table: Table, pieces: Sequence[Piece], progress: Progress) -> Rounds:
    """Play pieces in this process; their rounds come back in the order of the pieces."""
    # A policy's products are small: more threads cost far more than they bring, above all when
    # there are processes beside this one.
    with threadpool_limits(limits=1, user_api="blas"):
        return _Floor(table, pieces).play(progress)


def say_nothing(_over: int, _total: int) -> None:
    """Progress that nobody asked for."""


# ---------------------------------------------------------------------- processes


def play_in_processes(
    table: Table, pieces: list[Piece], jobs: int, progress: Progress
) -> list[tuple[list[Piece], Rounds]]:
    """Play pieces in new processes: parts of them with their rounds, in any order."""
    size = min(max(1, len(pieces) // (jobs * _PARTS_OF_A_JOB)), _MOST_PIECES)
    parts = [pieces[i : i + size] for i in range(0, len(pieces), size)]
    total, over = sum(piece.rounds for piece in pieces), 0
    played = []
    # Forking a process that runs threads, as training does, may hang; so new ones are started.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(jobs, len(parts)),
        mp_context=context,
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),  # Ctrl-C is this process's to answer
    ) as pool:
        futures = {pool.submit(play_pieces, table, part, say_nothing): part for part in parts}
        try:
            for future in as_completed(futures):
                played.append((futures[future], future.result()))
                over += sum(piece.rounds for piece in futures[future])
                progress(over, total)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return played
