"""Every agent against a table of every other, on the same deals.

    python -m eval.tournament random keen greedy runs/mine/policy.safetensors --players 4

A cell of the table is the share of rounds that one agent of the row wins against a table of the
column's. From Python: `round_robin` and `benchmark` play, `format_table` writes the table.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from agents import Agent, make_agent, make_agents
from eval.arguments import RulesLike
from eval.command import (
    CommandParser,
    add_play_options,
    agents_and_rules,
    play_options,
    run_command,
)
from eval.estimates import Estimate, estimate
from eval.floor import DEALS
from eval.match import MatchResult, describe, play_all
from uno_env.game.rules import Rules

BASELINES = ("random", "keen", "greedy")
"""Whom `benchmark` plays against by default."""


@dataclass(frozen=True)
class Tournament:
    """Results of one agent of each row against a table of each column, all on the same deals."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[int, int], tuple[MatchResult, int]]
    """By row and column: the match, and the place of the row's agent in its line-up."""

    @property
    def matches(self) -> list[MatchResult]:
        """Each match once."""
        return list({id(match): match for match, _ in self.cells.values()}.values())

    def win_rate(self, row: int, column: int) -> Estimate:
        """The share of rounds that an agent of the row won against a table of the column's.

        Raises:
            KeyError: this was not played.
        """
        match, place = self.cells[row, column]
        return match.win_rate(place)

    def overall(self, row: int) -> Estimate:
        """The mean over the columns, each alike. The interval comes from the same deals' sums."""
        shares = [match.shares(place) for (r, _), (match, place) in self.cells.items() if r == row]
        return estimate(np.mean(shares, axis=0))


def round_robin(
    agents: Sequence[Agent | str],
    rules: RulesLike = "angry_birds",
    deals: int = DEALS,
    seed: int = 0,
    **options: Any,
) -> Tournament:
    """Every agent against a table of every other.

    Args:
        agents: two or more of different names, or what `make_agent` takes.
        rules: as for `Rules.make`; they say how many players a table has.
        deals: deals of each pairing, played from every seat.
        seed: a whole number from 0.
        **options: as for `eval.match.play_all`.

    Raises:
        ValueError: an argument that is not allowed.
        TypeError: the same.
        FileNotFoundError: a policy file that is not there.
        AgentError: an agent raised, or answered with something else than legal actions.
    """
    made = make_agents(agents)
    if len(made) < 2:
        raise ValueError("a tournament needs at least two agents")
    numbers = range(len(made))
    pairings = [(row, column) for row, column in product(numbers, numbers) if row != column]
    return _play(made, made, pairings, Rules.make(rules), deals, seed, options)


def benchmark(
    agent: Agent | str,
    baselines: Sequence[Agent | str] = BASELINES,
    rules: RulesLike = "angry_birds",
    deals: int = DEALS,
    seed: int = 0,
    **options: Any,
) -> Tournament:
    """One agent against a table of each baseline: a table of one row.

    Args:
        agent: an agent, or what `make_agent` takes.
        baselines: the same, one or more of different names.
        rules: as for `round_robin`, and so are all others.
        deals: deals of each pairing, played from every seat.
        seed: a whole number from 0.
        **options: as for `eval.match.play_all`.

    Raises:
        ValueError: an argument that is not allowed.
        TypeError: the same.
        FileNotFoundError: a policy file that is not there.
        AgentError: an agent raised, or answered with something else than legal actions.
    """
    made = make_agents(baselines)
    if not made:
        raise ValueError("a benchmark needs at least one baseline")
    pairings = [(0, column) for column in range(len(made))]
    return _play([make_agent(agent)], made, pairings, Rules.make(rules), deals, seed, options)


def _play(
    rows: Sequence[Agent],
    columns: Sequence[Agent],
    pairings: Sequence[tuple[int, int]],
    rules: Rules,
    deals: int,
    seed: int,
    options: dict[str, Any],
) -> Tournament:
    for agents in (rows, columns):
        name, times = Counter(agent.name for agent in agents).most_common(1)[0]
        if times > 1:
            raise ValueError(f"{times} agents are called {name!r}: names must differ")
    # Two players: the match of a row against a column is that of the column against the row.
    both_ways = rules.num_players == 2 and rows is columns
    needed = [(row, column) for row, column in pairings if not both_ways or row < column]
    lineups = [[rows[row], *[columns[column]] * (rules.num_players - 1)] for row, column in needed]
    played = dict(zip(needed, play_all(lineups, rules, deals, seed, **options), strict=True))
    return Tournament(
        rows=tuple(agent.name for agent in rows),
        columns=tuple(agent.name for agent in columns),
        cells={
            (row, column): (played[row, column], 0)
            if (row, column) in played
            else (played[column, row], 1)
            for row, column in pairings
        },
    )


def format_table(tournament: Tournament) -> str:
    """The results as a table for people, with what was played below."""
    body = [
        [
            name,
            *(
                str(tournament.win_rate(row, column)) if (row, column) in tournament.cells else "-"
                for column in range(len(tournament.columns))
            ),
            str(tournament.overall(row)),
        ]
        for row, name in enumerate(tournament.rows)
    ]
    head = ["", *tournament.columns, "overall"]
    if len(head) == 3:  # one column: overall says the same
        head, body = head[:-1], [line[:-1] for line in body]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    lines = [
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in (head, *body)
    ]
    return "\n".join([*lines, "", *_notes(tournament)])


def _notes(tournament: Tournament) -> list[str]:
    matches = tournament.matches
    first = matches[0]
    notes = [
        "% of rounds won by the agent of the row against a table of the column's "
        f"(even: {100 / first.rules.num_players:.1f}), ± 95%",
        describe(first.rules, first.deals, first.seed),
    ]
    blocked = sum(match.blocked for match in matches)
    truncated = sum(match.truncated for match in matches)
    if blocked:
        notes.append(f"{blocked:,} rounds in all were blocked: nobody won them")
    if truncated:
        notes.append(
            f"{truncated:,} rounds in all were cut off after {first.max_decisions:,} decisions: "
            "nobody won them"
        )
    return notes


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = CommandParser(
        prog="python -m eval.tournament",
        description="Every agent against a table of every other, on the same deals.",
    )
    parser.add_argument(
        "agents",
        nargs="+",
        metavar="AGENT",
        help="a bot's name, or a policy file ending in .safetensors",
    )
    add_play_options(parser)
    options = parser.parse_args(argv)
    if len(options.agents) < 2:
        parser.error("a tournament needs at least two agents")
    for name, times in Counter(options.agents).items():
        if times > 1:
            parser.error(f"agent {name!r} is named {times} times")
    agents, rules = agents_and_rules(parser, options.agents, options)
    names = Counter(agent.name for agent in agents)
    for given, agent in zip(options.agents, agents, strict=True):
        if names[agent.name] > 1:  # policy files of the same name in different folders
            agent.name = given

    def output() -> str:
        return format_table(round_robin(agents, rules, **play_options(options)))

    return run_command(parser.prog, output)


if __name__ == "__main__":
    sys.exit(main())
