"""Agents against each other, all on the same deals.

    python -m eval.tournament random keen greedy runs/mine/policy.safetensors --players 4
    python -m eval.tournament random keen greedy expert --players 4 --seating mixed
    python -m eval.tournament keen greedy my_bots:Sly --games 1000 --out runs/cup

Every agent meets a table of every other, or different agents sit at one table, or both:
`eval.seating` says who sits where. A cell of the table is the share of rounds, or of whole games,
that one agent of the row wins against a table of the column's; with two players that is a match
between the two. At mixed tables it is the row's share of what the two won. Ratings are fitted to
all results at once (`eval.ratings`). With `--out` everything is kept in a folder (`eval.folder`),
and `--resume` goes on with one that was interrupted.

An agent that raises or answers with something illegal is out: that match and all its later ones are
left out, in the order in which they stand, and all else is kept.

From Python: `round_robin` and `benchmark` play, `format_table` writes the table.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import groupby
from pathlib import Path
from typing import Any

from agents import Agent, make_agent, make_agents
from agents.policy import PolicyAgent
from eval import report, standings
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
    whole_number_of,
)
from eval.floor import (
    DEALS,
    PIECE,
    Failure,
    Outcome,
    Piece,
    Progress,
    Rounds,
    Table,
    named,
    say_nothing,
)
from eval.folder import (
    REPORT,
    RESULTS,
    ROUNDS,
    Folder,
    as_json,
    plan_of,
    read_results,
    rounds_as_csv,
    rounds_from_csv,
)
from eval.match import play_all, result_of
from eval.seating import SEATINGS, lineups_of
from eval.standings import Tournament
from eval.text import format_table
from eval.workers import Jobs, checked_jobs, play_pieces
from uno_env.game.rules import Rules

__all__ = ["BASELINES", "Tournament", "benchmark", "format_table", "load", "round_robin"]

BASELINES = ("random", "keen", "greedy", "expert")
"""Whom `benchmark` plays against by default."""


def round_robin(
    agents: Sequence[Agent | str],
    rules: RulesLike = "angry_birds",
    deals: int = DEALS,
    seed: int = 0,
    *,
    seating: str = "tables",
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    specs: Mapping[str, str] | None = None,
    jobs: Jobs = 1,
    progress: Progress | None = None,
    **options: Any,
) -> Tournament:
    """Every agent against a table of every other, or mixed tables.

    Args:
        agents: two or more of different names, or what `make_agent` takes.
        rules: as for `Rules.make`; they say how many players a table has.
        deals: deals of each line-up, played from every seat.
        seed: a whole number from 0.
        seating: who sits with whom: ``"tables"``, ``"mixed"`` or ``"all"`` (`eval.seating`).
        out: a new folder for the results; each piece is written as soon as it is over.
        resume: go on with the tournament in that folder, which must be this one.
        specs: how a command line names agents, by name, where that differs.
        jobs: as for `eval.match.play_all`.
        progress: the same. Of a tournament that is resumed, it counts what is left.
        **options: `max_decisions`, `games` and `piece`, as for `eval.match.play_all`.

    Returns:
        The results; `Tournament.failures` names the agents that are out, and why.

    Raises:
        ValueError: an argument that is not allowed.
        TypeError: the same.
        FileNotFoundError: a policy file that is not there.
        FolderError: the folder cannot be used; nothing in it was changed.
        WorkerError: a process died again and again.
    """
    made, rules = make_agents(agents), Rules.make(rules)
    if len(made) < 2:
        raise ValueError("a tournament needs at least two agents")
    if resume and out is None:
        raise ValueError("resume=True: there must be a folder `out` to go on with")
    _check_names(made)
    jobs = checked_jobs(jobs)
    lineups = lineups_of(seating, len(made), rules.num_players)
    seated = [[made[i] for i in lineup] for lineup in lineups]
    table = Table.of(seated, rules, deals, seed, **options)
    names = dict(specs or {})
    plan = plan_of(table, made, names, lineups)
    with Folder(out, plan, resume=resume) if out else nullcontext(None) as folder:
        if folder and folder.complete:
            folder.drop_pieces()
            return load(folder.path)
        outcomes = _play_on(table, folder, jobs, progress or say_nothing)
        standing = _standing(table, table.pieces(), outcomes)
        assert standing is not None, "all pieces are over"
        counted, failures = standing
        played = {piece: each for piece, each in outcomes.items() if isinstance(each, Rounds)}
        result = Tournament(
            agents=tuple(agent.name for agent in made),
            played={i: (lineups[i], result_of(table, i, played)) for i in counted},
            failures=tuple(named(failure, names) for failure in failures),
            rules=table.rules,
        )
        if folder:
            _finish(folder, result)
    return result


def _play_on(
    table: Table, folder: Folder | None, jobs: Jobs, progress: Progress
) -> dict[Piece, Outcome]:
    """Play what is not over yet, and keep it."""
    pieces = table.pieces()
    outcomes = folder.kept(pieces) if folder else {}
    left = [piece for piece in pieces if piece not in outcomes]

    def wanted(piece: Piece) -> bool:
        """Whether a piece may still count, as far as is known."""
        failed = [each for each, outcome in outcomes.items() if isinstance(outcome, Failure)]
        if not failed:
            return True
        before = [each for each in pieces if each.lineup < piece.lineup]
        if any(each.lineup == piece.lineup and each < piece for each in failed):
            return False
        standing = _standing(table, before, outcomes)
        if standing is None:
            return True
        out = {failure.agent for failure in standing[1]}
        return not out & {agent.name for agent in table.lineups[piece.lineup]}

    for piece, outcome in play_pieces(table, left, jobs, progress, wanted):
        outcomes[piece] = outcome
        if folder:
            folder.keep(piece, outcome)
    return outcomes


def _standing(
    table: Table, pieces: Sequence[Piece], outcomes: Mapping[Piece, Outcome]
) -> tuple[list[int], list[Failure]] | None:
    """Which matches count, and who is out and why: the same in whatever order they were played.

    A match does not count if somebody in it is out before, or fails in it; then whoever fails first
    is out from there on.

    Args:
        table: what is played.
        pieces: all pieces of the first matches, in order.
        outcomes: what is over.

    Returns:
        None if that is not known yet.
    """
    counted: list[int] = []
    failures: list[Failure] = []
    for lineup, own in groupby(pieces, key=lambda piece: piece.lineup):
        out = {failure.agent for failure in failures}
        if out & {agent.name for agent in table.lineups[lineup]}:
            continue
        for piece in own:
            outcome = outcomes.get(piece)
            if outcome is None:
                return None
            if isinstance(outcome, Failure):
                failures.append(outcome)
                break
        else:
            counted.append(lineup)
    return counted, failures


def _finish(folder: Folder, result: Tournament) -> None:
    """Write all results, `results.json` last, which says that they are complete."""
    rows = {number: match.rows for number, (_, match) in result.played.items()}
    folder.write(ROUNDS, rounds_as_csv(rows, result.rules.num_players))
    results = standings.as_json(result, folder.plan)
    folder.write(REPORT, report.html(result, results).encode())
    folder.write(RESULTS, as_json(results))
    folder.drop_pieces()


def load(path: str | os.PathLike[str]) -> Tournament:
    """A complete tournament from its folder, all figures recomputed from its rounds.

    Raises:
        FolderError: there is none, or it is damaged or not complete.
    """
    path = Path(path)
    results = read_results(path)
    return standings.from_json(results, path, rounds_from_csv)


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
        WorkerError: a process died again and again.
    """
    made, own, rules = make_agents(baselines), make_agent(agent), Rules.make(rules)
    if not made:
        raise ValueError("a benchmark needs at least one baseline")
    _check_names(made)
    others = rules.num_players - 1
    matches = play_all([[own, *[each] * others] for each in made], rules, deals, seed, **options)
    return Tournament(
        agents=(own.name, *(each.name for each in made)),
        played={i: ((0, *[i + 1] * others), match) for i, match in enumerate(matches)},
        failures=(),
        rules=rules,
        one_row=True,
    )


def _check_names(agents: Sequence[Agent]) -> None:
    name, times = Counter(agent.name for agent in agents).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{times} agents are called {name!r}: names must differ")


# ---------------------------------------------------------------------- the command line


def foreign_rules(agents: Sequence[Agent], rules: Rules) -> list[str]:
    """Lines about policies that were trained under other rules than they play."""
    lines = []
    for agent in agents:
        trained = agent.policy.rules if isinstance(agent, PolicyAgent) else rules
        if trained != rules:
            lines.append(f"{agent.name} was trained under [{trained}] and plays [{rules}]")
    return lines


def _named_apart(agents: Sequence[Agent], given: Sequence[str]) -> None:
    """Policy files of the same name in different folders go by what was given."""
    names = Counter(agent.name for agent in agents)
    for text, agent in zip(given, agents, strict=True):
        if names[agent.name] > 1:
            agent.name = text


def _parser() -> CommandParser:
    parser = CommandParser(
        prog="python -m eval.tournament",
        description="Every agent against a table of every other, or mixed tables, on the same "
        "deals.",
    )
    parser.add_argument(
        "agents",
        nargs="+",
        metavar="BOT",
        help=BOT_HELP,
    )
    add_play_options(parser)
    add_engine_options(parser)
    parser.add_argument(
        "--piece",
        type=whole_number_of(1),
        default=PIECE,
        help="rounds, or games, that are played together and lost together if a process is killed; "
        "less for bots that think long (%(default)s)",
    )
    parser.add_argument(
        "--seating",
        choices=SEATINGS,
        default=SEATINGS[0],
        help="each bot against a table of every other, or different bots at one table in several "
        "orders, or both; each line-up plays --rounds (%(default)s)",
    )
    parser.add_argument("--out", metavar="DIR", help="a new folder for results and report")
    parser.add_argument("--resume", action="store_true", help="go on with the tournament in DIR")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status: 1 if an agent failed, too."""
    parser = _parser()
    options = parser.parse_args(argv)
    if len(options.agents) < 2:
        parser.error("a tournament needs at least two agents")
    if options.resume and not options.out:
        parser.error("--resume: name the folder with --out")
    for name, times in Counter(options.agents).items():
        if times > 1:
            parser.error(f"agent {name!r} is named {times} times")
    jobs = jobs_of(parser, options)
    agents, rules = agents_and_rules(parser, options.agents, options)
    try:
        lineups_of(options.seating, len(agents), rules.num_players)
    except ValueError as error:
        parser.error(str(error))
    _named_apart(agents, options.agents)
    specs = {agent.name: text for agent, text in zip(agents, options.agents, strict=True)}
    failures: list[Failure] = []

    def output() -> str:
        for line in foreign_rules(agents, rules):
            print(f"{parser.prog}: note: {line}", file=sys.stderr)
        chosen = {**play_options(options, rules), "piece": options.piece}
        with ProgressLine("games" if options.games else "rounds") as progress:
            result = _hinting(
                lambda: round_robin(
                    agents,
                    rules,
                    **chosen,
                    jobs=jobs,
                    out=options.out,
                    resume=options.resume,
                    seating=options.seating,
                    specs=specs,
                    progress=progress,
                ),
                options.out,
            )
        failures.extend(result.failures)
        text = format_table(result)
        if options.out:
            text += f"\nreport: {Path(options.out) / REPORT}"
        return text

    status = run_command(parser.prog, output)
    for failure in failures:
        print(f"{parser.prog}: {failure}", file=sys.stderr)
    return status or int(bool(failures))


def _hinting(play: Callable[[], Tournament], out: str | None) -> Tournament:
    """Play; if that is interrupted, say how to go on."""
    try:
        return play()
    except KeyboardInterrupt:
        if out:
            message = f"what is over is kept in {out}: the same command with --resume goes on"
            raise KeyboardInterrupt(message) from None
        raise


if __name__ == "__main__":
    sys.exit(main())
