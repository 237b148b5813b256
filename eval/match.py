"""Batched rounds between agents, the same deals from every seat.

    python -m eval.match greedy keen --players 4

Each deal is played once per rotation of the seats ("duplicate"), so every place of the line-up
meets the same cards from every seat. The result depends on the line-up, the rules, the seed and the
number of deals alone; `eval.floor` says how.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import Agent
from eval.arguments import RulesLike, whole_number
from eval.command import (
    CommandParser,
    add_play_options,
    agents_and_rules,
    play_options,
    run_command,
)
from eval.estimates import Estimate, estimate
from eval.floor import (
    BLOCKED,
    CAPACITY,
    DEALS,
    MAX_DECISIONS,
    TRUNCATED,
    Progress,
    Rounds,
    Table,
    play_in_processes,
    play_pieces,
    say_nothing,
)
from uno_env.game.rules import Rules


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
        """The share of each deal's rounds that a place won: (D,) float64.

        Raises:
            ValueError: the line-up has no such place.
        """
        place = whole_number("place", place, 0, len(self.names) - 1)
        return (self.winner == place).mean(axis=1)

    def win_rate(self, place: int = 0) -> Estimate:
        """The share of all rounds that a place won, paired over the rotations of a deal.

        Raises:
            ValueError: the line-up has no such place.
        """
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
    lineup: Sequence[Agent | str],
    rules: RulesLike = "angry_birds",
    deals: int = DEALS,
    seed: int = 0,
    **options: Any,
) -> MatchResult:
    """Play a match.

    Args:
        lineup: P agents, or what `make_agent` takes. The same object may have several places; then
            it decides for them in one call.
        rules: as for `Rules.make`; the number of players is P, and they may not say another.
        deals: D, at least 1; D x P rounds are played.
        seed: a whole number from 0.
        **options: as for `play_all`.

    Raises:
        ValueError: an argument that is not allowed.
        TypeError: the same.
        FileNotFoundError: a policy file that is not there.
        AgentError: an agent raised, or answered with something else than legal actions.
    """
    return play_all([lineup], rules, deals, seed, **options)[0]


def play_all(
    lineups: Sequence[Sequence[Agent | str]],
    rules: RulesLike = "angry_birds",
    deals: int = DEALS,
    seed: int = 0,
    *,
    max_decisions: int = MAX_DECISIONS,
    jobs: int = 1,
    capacity: int = CAPACITY,
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
        TypeError: the same.
        FileNotFoundError: a policy file that is not there.
        AgentError: an agent raised, or answered with something else than legal actions.
    """
    jobs = whole_number("jobs", jobs, 1)
    table = Table.of(lineups, rules, deals, seed, max_decisions, capacity)
    pieces = table.pieces()
    report = progress or say_nothing
    if jobs == 1 or len(pieces) == 1:
        played = [(pieces, play_pieces(table, pieces, report))]
    else:
        played = play_in_processes(table, pieces, jobs, report)
    rounds = {
        piece: part
        for some, together in played
        for piece, part in zip(some, together.split([piece.rounds for piece in some]), strict=True)
    }
    return [
        _result(table, number, Rounds.join([rounds[p] for p in pieces if p.lineup == number]))
        for number in range(len(lineups))
    ]


def _result(table: Table, lineup: int, rounds: Rounds) -> MatchResult:
    players = table.rules.num_players
    return MatchResult(
        names=tuple(agent.name for agent in table.lineups[lineup]),
        rules=table.rules,
        seed=table.seed,
        max_decisions=table.max_decisions,
        winner=rounds.winner.reshape(-1, players),
        points=rounds.points.reshape(-1, players, players),
        decisions=rounds.decisions.reshape(-1, players),
        first=rounds.first.reshape(-1, players),
    )


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

    return run_command(parser.prog, output)


if __name__ == "__main__":
    sys.exit(main())
