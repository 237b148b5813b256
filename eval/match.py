"""Batched rounds between agents, the same deals from every seat.

    python -m eval.match greedy keen --players 4

Each deal is played once per rotation of the seats ("duplicate"), so every place of the line-up
meets the same cards from every seat. The result depends on the line-up, the rules, the seed and the
number of deals alone. It is worked out in *pieces*, fixed ranges of deals within which agents draw
their chance from streams of their own; how many processes play them, and in which order, does not
matter.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from agents import Agent, make_agent
from uno_env.game.actions import ACTIONS, NUM_ACTIONS
from uno_env.game.engine import GameBatch
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, Rules

BLOCKED = -1
"""Instead of a winner: nobody could do anything any more."""
TRUNCATED = -2
"""Instead of a winner: the round was cut off at the cap on decisions."""
DEALS = 10_000
"""The default number of deals."""
MAX_DECISIONS = 2000
"""The default cap on the decisions of a round."""

_PIECE_ROUNDS = 2048
"""Rounds of a piece, about. Results depend on it, so it never changes with the machine."""
_CAPACITY = 8192
"""Rounds in play at once. Results do not depend on it; speed does, and memory."""
_Z = 1.96

RulesLike = Rules | str | Mapping[str, Any]
Progress = Callable[[int, int], None]
"""Is told how many rounds are over, of how many."""


class AgentError(RuntimeError):
    """An agent raised or answered with something else than legal actions; says where."""


@dataclass(frozen=True)
class Estimate:
    """A share with its 95% interval, all between 0 and 1. As text in percent."""

    value: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """The distance to the farther end of the interval."""
        return max(self.high - self.value, self.value - self.low)

    def __str__(self) -> str:
        """Such as ``65.9 ± 0.3``."""
        return f"{100 * self.value:.1f} ± {100 * self.margin:.1f}"


def estimate(per_deal: NDArray[np.float64]) -> Estimate:
    """The mean of shares that were measured deal by deal, each deal an observation of its own.

    The interval is Wilson's for as many independent trials as have the spread that was found. One
    deal more, spread like a single trial, is counted in, so that a handful of deals that happen to
    agree does not look certain.

    Args:
        per_deal: (D,) float64, values from 0 to 1.

    Raises:
        ValueError: no deals.
    """
    deals = len(per_deal)
    if not deals:
        raise ValueError("an estimate needs at least one deal")
    mean = float(per_deal.mean())
    single = mean * (1 - mean)
    squares = float(np.square(per_deal - mean).sum()) + single
    trials = single * deals**2 / squares if 0 < mean < 1 else deals
    centre = (mean + _Z**2 / (2 * trials)) / (1 + _Z**2 / trials)
    half = math.sqrt(single / trials + (_Z / (2 * trials)) ** 2) * _Z / (1 + _Z**2 / trials)
    return Estimate(mean, max(0.0, min(centre - half, mean)), min(1.0, max(centre + half, mean)))


@dataclass(frozen=True)
class MatchResult:
    """What came out of a match: D deals, each played in P rotations by P agents.

    In rotation r the agent of place i of the line-up sits in seat ``(i + r) % P``.
    """

    names: tuple[str, ...]
    """The line-up."""
    rules: Rules
    seed: int
    max_decisions: int
    winner: NDArray[np.int8]
    """(D, P) place of the winner by deal and rotation, or `BLOCKED`, or `TRUNCATED`."""
    points: NDArray[np.int32]
    """(D, P, P) points by deal, rotation and place; zeros unless somebody won."""
    decisions: NDArray[np.int32]
    """(D, P) decisions made."""
    first: NDArray[np.int8]
    """(D, P) place of the agent that had the first decision."""

    @property
    def deals(self) -> int:
        """D."""
        return len(self.winner)

    @property
    def rounds(self) -> int:
        """D x P."""
        return self.winner.size

    @property
    def wins(self) -> NDArray[np.intp]:
        """Rounds won by each place: (P,)."""
        places = np.arange(len(self.names))
        return np.count_nonzero(self.winner[..., None] == places, axis=(0, 1))

    @property
    def blocked(self) -> int:
        """Rounds that were blocked."""
        return int(np.count_nonzero(self.winner == BLOCKED))

    @property
    def truncated(self) -> int:
        """Rounds that were cut off; nobody won them."""
        return int(np.count_nonzero(self.winner == TRUNCATED))

    def shares(self, place: int = 0) -> NDArray[np.float64]:
        """The share of each deal's rounds that a place won: (D,) float64."""
        return (self.winner == place).mean(axis=1)

    def win_rate(self, place: int = 0) -> Estimate:
        """The share of all rounds that a place won, paired over the rotations of a deal."""
        return estimate(self.shares(place))

    @property
    def mean_points(self) -> NDArray[np.float64]:
        """Points per round of each place: (P,) float64."""
        return self.points.mean(axis=(0, 1))

    @property
    def first_seat(self) -> Estimate:
        """The share of rounds won by whoever had the first decision."""
        return estimate((self.winner == self.first).mean(axis=1))

    @property
    def mean_decisions(self) -> float:
        """Decisions per round."""
        return float(self.decisions.mean())

    def __str__(self) -> str:
        """Some lines for people, about the first agent and the table it sat at."""
        table = ", ".join(dict.fromkeys(self.names[1:]))
        own, *others = self.mean_points
        lines = [
            f"{self.names[0]} won {self.win_rate()} % of rounds against a table of {table} "
            f"(even: {100 / len(self.names):.1f})",
            f"{describe(self.rules, self.deals, self.seed)}; 95% interval",
            f"points per round: {own:.1f}, each of the others {np.mean(others):.1f}",
            f"the first to decide won {self.first_seat} %; "
            f"{self.mean_decisions:.1f} decisions per round",
        ]
        if self.blocked:
            lines.append(f"{self.blocked:,} rounds were blocked: nobody won them")
        if self.truncated:
            lines.append(
                f"{self.truncated:,} rounds were cut off after {self.max_decisions:,} decisions: "
                "nobody won them"
            )
        return "\n".join(lines)


def describe(rules: Rules, deals: int, seed: int) -> str:
    """What was played, for the foot of a table."""
    switches = [word for word in str(rules).split() if not word.startswith("num_players=")]
    return (
        f"{' '.join(switches)}, {rules.num_players} players: {deals:,} deals from every seat = "
        f"{deals * rules.num_players:,} rounds, seed {seed}"
    )


def play(
    lineup: Sequence[Agent],
    rules: RulesLike = "angry_birds",
    deals: int = DEALS,
    seed: int = 0,
    **options: Any,
) -> MatchResult:
    """Play a match.

    Args:
        lineup: P agents. The same object may have several places; then it decides for them in one
            call.
        rules: as for `Rules.make`; the number of players is P.
        deals: D, at least 1; D x P rounds are played.
        seed: a whole number from 0.
        **options: as for `play_all`.

    Raises:
        ValueError: an argument that is not allowed.
        AgentError: an agent raised, or answered with something else than legal actions.
    """
    return play_all([lineup], rules, deals, seed, **options)[0]


def play_all(
    lineups: Sequence[Sequence[Agent]],
    rules: RulesLike = "angry_birds",
    deals: int = DEALS,
    seed: int = 0,
    *,
    max_decisions: int = MAX_DECISIONS,
    jobs: int = 1,
    capacity: int = _CAPACITY,
    progress: Progress | None = None,
) -> list[MatchResult]:
    """Play several matches on the same deals; see `play`.

    Args:
        lineups: the matches, all of P agents.
        rules: as for `play`.
        deals: as for `play`.
        seed: as for `play`.
        max_decisions: a round that lasts longer is cut off and nobody wins it.
        jobs: processes. With more than one, agents are sent to new processes: they must be
            picklable, and a script must guard its entry with ``if __name__ == "__main__"``.
        capacity: rounds in play at once in a process, about.
        progress: is called now and then, from this process.

    Returns:
        A result for each line-up, which depends on neither `jobs`, `capacity` nor the others.

    Raises:
        ValueError: an argument that is not allowed.
        AgentError: an agent raised, or answered with something else than legal actions.
    """
    table = _Table.of(lineups, rules, deals, seed, max_decisions, capacity)
    for name, number in (("jobs", jobs), ("capacity", capacity)):
        if number < 1:
            raise ValueError(f"{name}={number}: allowed is a whole number from 1")
    pieces = table.pieces()
    report = progress or _say_nothing
    if jobs == 1 or len(pieces) == 1:
        played = [(pieces, _play_pieces(table, pieces, report))]
    else:
        played = _play_in_processes(table, pieces, jobs, report)
    rounds = {
        piece: part
        for some, together in played
        for piece, part in zip(some, together.split([piece.rounds for piece in some]), strict=True)
    }
    return [
        table.result(number, _Rounds.join([rounds[p] for p in pieces if p.lineup == number]))
        for number in range(len(lineups))
    ]


# ---------------------------------------------------------------------- how the work is cut


@dataclass(frozen=True)
class _Piece:
    """A range of deals of one match."""

    lineup: int
    number: int
    start: int
    stop: int
    players: int

    @property
    def rounds(self) -> int:
        return (self.stop - self.start) * self.players


@dataclass(frozen=True)
class _Table:
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
        lineups: Sequence[Sequence[Agent]],
        rules: RulesLike,
        deals: int,
        seed: int,
        max_decisions: int,
        capacity: int,
    ) -> _Table:
        players = {len(lineup) for lineup in lineups}
        if len(players) != 1 or not MIN_PLAYERS <= min(players) <= max(players) <= MAX_PLAYERS:
            raise ValueError(
                f"line-ups of {', '.join(map(str, sorted(players))) or 'no'} agents: allowed are "
                f"{MIN_PLAYERS} to {MAX_PLAYERS}, the same number in each"
            )
        made = rules if isinstance(rules, Rules) else Rules.make(rules, num_players=min(players))
        if made.num_players not in players:
            raise ValueError(
                f"a line-up of {min(players)} agents under rules for {made.num_players} players"
            )
        for name, number, low in (
            ("deals", deals, 1),
            ("seed", seed, 0),
            ("max_decisions", max_decisions, 1),
        ):
            if number < low:
                raise ValueError(f"{name}={number}: allowed is a whole number from {low}")
        return cls(tuple(map(tuple, lineups)), made, deals, seed, max_decisions, capacity)

    def pieces(self) -> list[_Piece]:
        players = self.rules.num_players
        size = max(1, _PIECE_ROUNDS // players)
        return [
            _Piece(lineup, number, start, min(start + size, self.deals), players)
            for lineup in range(len(self.lineups))
            for number, start in enumerate(range(0, self.deals, size))
        ]

    def deal_seeds(self) -> NDArray[np.uint64]:
        """The seed of each deal's game, the same in all matches: (D,)."""
        seeds = np.random.SeedSequence(self.seed).generate_state(self.deals, np.uint64)
        return seeds.astype(np.uint64, copy=False)

    def chance(self, piece: _Piece, agent: int) -> np.random.Generator:
        """The random stream of an agent of the line-up in a piece."""
        return np.random.default_rng(
            np.random.SeedSequence(self.seed, spawn_key=(piece.number, agent))
        )

    def result(self, lineup: int, rounds: _Rounds) -> MatchResult:
        players = self.rules.num_players
        return MatchResult(
            names=tuple(agent.name for agent in self.lineups[lineup]),
            rules=self.rules,
            seed=self.seed,
            max_decisions=self.max_decisions,
            winner=rounds.winner.reshape(-1, players),
            points=rounds.points.reshape(-1, players, players),
            decisions=rounds.decisions.reshape(-1, players),
            first=rounds.first.reshape(-1, players),
        )


@dataclass(frozen=True)
class _Rounds:
    """Results of rounds in the order of pieces, deals and rotations; see `MatchResult`."""

    winner: NDArray[np.int8]
    points: NDArray[np.int32]
    decisions: NDArray[np.int32]
    first: NDArray[np.int8]

    @classmethod
    def empty(cls, number: int, players: int) -> _Rounds:
        return cls(
            np.full(number, TRUNCATED, np.int8),
            np.zeros((number, players), np.int32),
            np.zeros(number, np.int32),
            np.zeros(number, np.int8),
        )

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.winner, self.points, self.decisions, self.first

    def split(self, sizes: Sequence[int]) -> list[_Rounds]:
        edges = np.cumsum(sizes)[:-1]
        return [
            _Rounds(*part)
            for part in zip(*(np.split(array, edges) for array in self._arrays()), strict=True)
        ]

    @staticmethod
    def join(parts: Sequence[_Rounds]) -> _Rounds:
        return _Rounds(*map(np.concatenate, zip(*(part._arrays() for part in parts), strict=True)))


_PARTS_OF_A_JOB = 4
"""Each process is given its share of the pieces in so many parts, to even out the load."""
_MOST_PIECES = 8
"""Pieces of a part, at most, so that progress is seen and Ctrl-C need not wait long."""


def _play_in_processes(
    table: _Table, pieces: list[_Piece], jobs: int, progress: Progress
) -> list[tuple[list[_Piece], _Rounds]]:
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
        futures = {pool.submit(_play_pieces, table, part, _say_nothing): part for part in parts}
        try:
            for future in as_completed(futures):
                played.append((futures[future], future.result()))
                over += sum(piece.rounds for piece in futures[future])
                progress(over, total)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return played


# ---------------------------------------------------------------------- play


@dataclass(frozen=True)
class _Group:
    """An agent in a piece: what it has to decide at one time is asked in one call."""

    agent: Agent
    chance: np.random.Generator
    piece: _Piece
    first_round: int


class _Floor:
    """Pieces played side by side in one batch; the next begins as soon as there is room for it.

    Whatever an agent is asked in one call belongs to one piece, in the order of its deals and
    rotations. So the course of a piece does not depend on what is played beside it.
    """

    def __init__(self, table: _Table, pieces: Sequence[_Piece]) -> None:
        players = table.rules.num_players
        self.table = table
        self.waiting = deque(pieces)
        self.total = sum(piece.rounds for piece in pieces)
        size = max(min(table.capacity, self.total), max(piece.rounds for piece in pieces))
        self.batch = GameBatch(table.rules, size)
        self.results = _Rounds.empty(self.total, players)
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

    def play(self, progress: Progress) -> _Rounds:
        """Play all rounds to their end."""
        over = 0
        while self.waiting or self.live.size:
            while self.waiting and self.waiting[0].rounds <= self.free.size:
                self._begin(self.waiting.popleft())
            if finished := self._step():
                over += finished
                progress(over, self.total)
        return self.results

    def _begin(self, piece: _Piece) -> None:
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

    # ------------------------------------------------------------------ what agents answer

    def _ask(
        self,
        group: _Group,
        games: NDArray[np.intp],
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
    ) -> NDArray[np.integer]:
        """What an agent does in some games, checked against a mask that it cannot write on."""
        try:
            answer = np.asarray(group.agent.act(observation, mask.copy(), group.chance))
        except Exception as error:
            what = f"raised {type(error).__name__}: {error}"
            raise self._error(group, what, int(games[0])) from error
        if answer.shape != games.shape or answer.dtype.kind not in "iu":
            what = (
                f"answered with {answer.dtype} of the shape {answer.shape}: needed are integers "
                f"of the shape {games.shape}"
            )
            raise self._error(group, what, int(games[0]))
        known = (answer >= 0) & (answer < NUM_ACTIONS)
        if not known.all():
            row = int(known.argmin())
            what = f"answered {answer[row]}: allowed is a whole number from 0 to {NUM_ACTIONS - 1}"
            raise self._error(group, what, int(games[row]))
        legal = mask[np.arange(len(games)), answer]
        if not legal.all():
            row = int(legal.argmin())
            game, action = int(games[row]), int(answer[row])
            why = self.batch.why_illegal(game, action)
            what = f"answered {ACTIONS[action]} ({action}), which is illegal: {why}"
            raise self._error(group, what, game)
        return answer

    def _error(self, group: _Group, what: str, game: int) -> AgentError:
        place, rotation = divmod(int(self.round[game]) - group.first_round, len(self.places))
        deal = group.piece.start + place
        return AgentError(
            f"agent {group.agent.name!r} {what}\n"
            f"seed {self.table.seed}, deal {deal} (the game with the seed "
            f"{self.deal_seeds[deal]}), rotation {rotation}, decision {self.decisions[game] + 1}\n"
            f"{self.batch.position(game)}"
        )


def _play_pieces(table: _Table, pieces: Sequence[_Piece], progress: Progress) -> _Rounds:
    # A policy's products are small: more threads cost far more than they bring, above all when
    # there are processes beside this one.
    with threadpool_limits(limits=1, user_api="blas"):
        return _Floor(table, pieces).play(progress)


def _say_nothing(_over: int, _total: int) -> None:
    pass


# ---------------------------------------------------------------------- command line


def _cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class CommandParser(argparse.ArgumentParser):
    """An argument parser that answers bad input with one line and the exit status 2."""

    def error(self, message: str) -> NoReturn:
        """Print the line and exit."""
        self.exit(2, f"{self.prog}: {message}\n")


def whole_number(low: int) -> Callable[[str], int]:
    """A type of argument: a whole number from `low` on."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if number < low:
            raise argparse.ArgumentTypeError(f"{text!r}: allowed is a whole number from {low}")
        return number

    return parse


def add_play_options(parser: argparse.ArgumentParser) -> None:
    """The options that matches and tournaments share."""
    parser.add_argument(
        "--rules",
        default="angry_birds",
        help="a preset, or one with switches such as 'classic uno_penalty=2' (%(default)s)",
    )
    parser.add_argument("--players", type=whole_number(2), help="seats at the table (2)")
    parser.add_argument(
        "--deals",
        type=whole_number(1),
        default=DEALS,
        help="deals, each played from every seat (%(default)s)",
    )
    parser.add_argument(
        "--seed", type=whole_number(0), default=0, help="of the deals and of chance (%(default)s)"
    )
    parser.add_argument(
        "--max-decisions",
        type=whole_number(1),
        default=MAX_DECISIONS,
        help="a longer round is cut off and nobody wins it (%(default)s)",
    )
    parser.add_argument(
        "--jobs",
        type=whole_number(1),
        default=_cores(),
        help="processes; the result does not depend on it (%(default)s)",
    )


def play_options(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `play_all` that the command line sets, rules apart."""
    return {
        "deals": options.deals,
        "seed": options.seed,
        "max_decisions": options.max_decisions,
        "jobs": options.jobs,
        "progress": ProgressLine(),
    }


def agents_and_rules(
    parser: argparse.ArgumentParser, names: Sequence[str], options: argparse.Namespace
) -> tuple[list[Agent], Rules]:
    """What a command line asks for; what cannot be had ends the program with one line."""
    players = {} if options.players is None else {"num_players": options.players}
    try:
        return [make_agent(name) for name in names], Rules.make(options.rules, **players)
    except (ValueError, OSError, ImportError) as error:
        parser.error(" ".join(str(error).split()))


class ProgressLine:
    """A line on standard error, if that is a terminal, that says how far play has come."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._start = self._last = time.monotonic()

    def __call__(self, over: int, total: int) -> None:
        """Show how many rounds are over."""
        now = time.monotonic()
        if not self._shown or (now - self._last < 0.1 and over < total):
            return
        self._last = now
        speed = over / max(now - self._start, 1e-9)
        left = (total - over) / speed
        line = f"{over:,} of {total:,} rounds, {speed:,.0f} per second, {left:.0f} s left"
        sys.stderr.write(f"\r{line:<78}" if over < total else f"\r{'':<78}\r")
        sys.stderr.flush()


def run_command(parser: argparse.ArgumentParser, output: Callable[[], str]) -> int:
    """Print what a command works out; an agent that fails is named. Returns the exit status."""
    try:
        print(output())
    except AgentError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted", file=sys.stderr)
        return 130
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = CommandParser(
        prog="python -m eval.match",
        description="How often one agent wins against a table of another, on the same deals from "
        "every seat.",
    )
    agent_help = "a bot's name, or a policy file ending in .safetensors"
    parser.add_argument("agent", metavar="A", help=agent_help)
    parser.add_argument("table", metavar="B", help="whom it meets, in all other seats")
    add_play_options(parser)
    options = parser.parse_args(argv)
    (agent, other), rules = agents_and_rules(parser, [options.agent, options.table], options)

    def output() -> str:
        lineup = [agent, *[other] * (rules.num_players - 1)]
        return str(play(lineup, rules, **play_options(options)))

    return run_command(parser, output)


if __name__ == "__main__":
    sys.exit(main())
