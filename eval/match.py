"""Batched rounds between agents, the same deals from every seat.

    python -m eval.match greedy keen --players 4

says how much better the first is, and how sure that is: it stops as soon as a sequential test has
settled who is better (`eval.sequential`), or at the number of rounds that was asked for.

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
from eval.answers import AgentError
from eval.arguments import RulesLike
from eval.command import (
    BOT_HELP,
    CommandParser,
    ProgressLine,
    add_engine_options,
    add_play_options,
    agents_and_rules,
    jobs_of,
    play_options,
    run_command,
)
from eval.floor import (
    DEALS,
    MAX_DECISIONS,
    PIECE,
    Failure,
    Outcome,
    Piece,
    Progress,
    Rounds,
    Table,
    say_nothing,
)
from eval.results import MatchResult, describe
from eval.sequential import SequentialTest
from eval.workers import Jobs, checked_jobs, play_pieces

__all__ = ["Answer", "MatchResult", "play", "play_all", "quick_match"]

LOOK = 512
"""Rounds, or games, between two looks of a match that stops early, about."""


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
    games: bool = False,
    piece: int = PIECE,
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> list[MatchResult]:
    """Play several matches on the same deals; see `play`.

    Args:
        lineups: the matches, all of P agents.
        rules: as for `play`.
        deals: as for `play`.
        seed: as for `play`.
        max_decisions: a round that lasts longer is cut off and nobody wins it, or its game.
        games: play each deal as a whole game, rounds until a total reaches the rules' target.
        piece: rounds, or games, that are played together, about; results depend on it.
        jobs: processes. With more than one, agents are sent to new processes: they must be
            picklable, and a script must guard its entry with ``if __name__ == "__main__"``. Or a
            `eval.cluster.Cluster`, on which Ray plays.
        progress: is called now and then, from this process.

    Returns:
        A result for each line-up, which depends on neither `jobs` nor the others.

    Raises:
        ValueError: an argument that is not allowed.
        TypeError: the same.
        FileNotFoundError: a policy file that is not there.
        AgentError: an agent raised, or answered with something else than legal actions.
        WorkerError: a process died again and again.
    """
    jobs = checked_jobs(jobs)
    table = Table.of(
        lineups, rules, deals, seed, max_decisions=max_decisions, games=games, piece=piece
    )
    played: dict[Piece, Rounds] = {}
    for each, outcome in play_pieces(table, table.pieces(), jobs, progress or say_nothing):
        played[each] = rounds_or_raise(outcome)
    return [result_of(table, number, played) for number in range(len(lineups))]


def rounds_or_raise(outcome: Outcome) -> Rounds:
    """The rounds of a piece.

    Raises:
        AgentError: an agent failed in it.
    """
    if isinstance(outcome, Failure):
        raise AgentError(str(outcome), outcome.agent, outcome.what, outcome.position)
    return outcome


def result_of(table: Table, lineup: int, played: dict[Piece, Rounds]) -> MatchResult:
    """The result of a match, from the pieces of it that were played."""
    return MatchResult(
        names=tuple(agent.name for agent in table.lineups[lineup]),
        rules=table.rules,
        seed=table.seed,
        max_decisions=table.max_decisions,
        rows=Rounds.join([played[piece] for piece in sorted(played) if piece.lineup == lineup]),
        games=table.games,
    )


# ---------------------------------------------------------------------- a quick answer


@dataclass(frozen=True)
class Answer:
    """Whether the first agent of a match is better than its table, and how sure that is."""

    result: MatchResult
    test: SequentialTest
    asked: int
    """Deals that would have been played, had nothing been settled."""

    def __str__(self) -> str:
        """Some lines for people."""
        result, test = self.result, self.test
        own, table = result.names[0], result.opponents
        even = 1 / result.players
        low, high = (100 * end for end in test.interval())
        if test.settled:
            better = "better" if test.mean > even else "worse"
            verdict = f"{own} is {better} than {table}"
        else:
            verdict = f"not settled whether {own} is better than {table}"
        chance = test.p_value
        sure = f"p = {chance:.2g}" if chance > 1e-9 else "p < 1e-9"
        stopped = f", stopped early: {self.asked * result.players:,} were asked for"
        unit = "games" if result.games else "rounds"
        return "\n".join(
            [
                f"{verdict}: it wins {100 * test.mean:.1f} % of {unit} "
                f"({low:.1f} to {high:.1f}; even: {100 * even:.1f}), {sure}",
                describe(result) + (stopped if result.deals < self.asked else ""),
                "the interval and p hold at whatever moment one stops "
                f"(errors in at most {100 * test.alpha:g}% of matches)",
                *str(result).splitlines()[2:],
            ]
        )


def quick_match(
    lineup: Sequence[Agent | str],
    rules: RulesLike = "angry_birds",
    deals: int = DEALS,
    seed: int = 0,
    *,
    max_decisions: int = MAX_DECISIONS,
    games: bool = False,
    jobs: Jobs = 1,
    early: bool = True,
    progress: Progress | None = None,
) -> Answer:
    """Play until it is settled whether the first agent wins more than its even share.

    Args:
        lineup: as for `play`.
        rules: as for `play`.
        deals: deals at most.
        seed: as for `play`.
        max_decisions: as for `play_all`.
        games: as for `play_all`.
        jobs: as for `play_all`; where play stops does not depend on it.
        early: whether to stop early.
        progress: as for `play_all`.

    Raises:
        ValueError: as for `play_all`, and so are all others.
        TypeError: the same.
        FileNotFoundError: a policy file that is not there.
        AgentError: an agent raised, or answered with something else than legal actions.
        WorkerError: a process died again and again.
    """
    table = Table.of(
        [lineup], rules, deals, seed, max_decisions=max_decisions, games=games, piece=LOOK
    )
    pieces = table.pieces()
    test = SequentialTest(even=1 / table.rules.num_players)
    outcomes: dict[Piece, Outcome] = {}
    looked = 0
    jobs = checked_jobs(jobs)
    playing = play_pieces(table, pieces, jobs, progress or say_nothing)
    for piece, outcome in playing:
        outcomes[piece] = outcome
        # In the order of the deals: what more processes have played beyond the end is dropped.
        while looked < len(pieces) and pieces[looked] in outcomes:
            rounds = rounds_or_raise(outcomes[pieces[looked]])
            looked += 1
            test = test.after(_part_of_even(result_of(table, 0, {pieces[looked - 1]: rounds})))
            if test.settled and early:
                break
        if test.settled and early:
            playing.close()
            break
    played = {piece: rounds_or_raise(outcomes[piece]) for piece in pieces[:looked]}
    return Answer(result_of(table, 0, played), test, table.deals)


def _part_of_even(result: MatchResult) -> NDArray[np.float64]:
    """The first agent's share of each deal, where what nobody won counts as shared by all: (D,)."""
    nobody = 1 - result.won.sum(axis=2).mean(axis=1)
    return result.shares(0) + nobody / result.players


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = CommandParser(
        prog="python -m eval.match",
        description="Whether one agent is better than a table of another, by how much, and how "
        "sure that is; on the same deals from every seat.",
    )
    parser.add_argument("agent", metavar="A", help=BOT_HELP)
    parser.add_argument("table", metavar="B", help="whom it meets, in all other seats")
    add_play_options(parser)
    add_engine_options(parser, jobs=1)
    parser.add_argument(
        "--all", action="store_true", help="play all rounds, also when it is settled before"
    )
    options = parser.parse_args(argv)
    jobs = jobs_of(parser, options)
    (agent, other), rules = agents_and_rules(parser, [options.agent, options.table], options)

    def output() -> str:
        lineup = [agent, *[other] * (rules.num_players - 1)]
        progress = ProgressLine("games" if options.games else "rounds")
        chosen = play_options(options, rules)
        with progress:
            answer = quick_match(
                lineup, rules, **chosen, jobs=jobs, early=not options.all, progress=progress
            )
        return str(answer)

    return run_command(parser.prog, output)


if __name__ == "__main__":
    sys.exit(main())
