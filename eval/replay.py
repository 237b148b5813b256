"""One round again, decision by decision: whatever a tournament names can be looked at.

    python -m eval.replay keen greedy --seed 3 --deal 17 --rotation 1 --record round.jsonl

Agents draw their chance from one stream for all games of a piece, so the whole piece is played
again; the number of rounds, or games, must be that of the match.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents import Agent, make_agent
from eval.answers import AgentError
from eval.arguments import rules_for
from eval.command import CommandParser, add_play_options, play_options, run_command, whole_number_of
from eval.floor import PIECE, PiecePlay, Table, say_nothing
from uno_env.game.actions import ACTIONS
from uno_env.records import Decision, Record, RoundEnd


@dataclass(frozen=True)
class Replayed:
    """A round that was played again."""

    text: str
    """A line for each decision, and how it ended; or the failure of an agent, if there is one in
    the piece."""
    record: Record | None
    """The same as a record; None of whole games, whose rounds are dealt from seeds of their own."""


def replay(table: Table, deal: int, rotation: int) -> Replayed:
    """Every decision of a round, or of all rounds of a game, of the first match of a table.

    Raises:
        ValueError: no such deal or rotation.
    """
    players = table.rules.num_players
    for name, value, end in (("deal", deal, table.deals), ("rotation", rotation, players)):
        if not 0 <= value < end:
            raise ValueError(f"{name}={value}: allowed is a whole number from 0 to {end - 1}")
    piece = next(piece for piece in table.pieces() if piece.start <= deal < piece.stop)
    game = (deal - piece.start) * players + rotation
    lines: list[str] = []
    decided: list[Decision] = []

    def watch(play: PiecePlay, games: NDArray[np.intp], actions: NDArray[np.intp]) -> None:
        if (at := np.flatnonzero(games == game)).size:
            seat = int(play.batch.player[game])
            name = play.lineup[play.places[game, seat]].name
            number, decision = int(play.number[game]), int(play.decisions[game]) + 1
            if decision == 1:
                lines.append(f"round {number}\n{play.batch.position(game)}")
            action = int(actions[at[0]])
            lines.append(f"{decision}: seat {seat} ({name}) {ACTIONS[action]}")
            decided.append(Decision(seat, action))

    play = PiecePlay(table, piece, watch)

    def record(*end: RoundEnd) -> Record | None:
        if table.games:
            return None
        seats = tuple(play.lineup[place].name for place in play.places[game])
        seed = int(play.deal_seeds[deal - piece.start])
        return Record(table.rules, seed, seats, (*decided, *end))

    try:
        rows = play.play(say_nothing)
    except AgentError as error:
        failure = play.failure(error)
        here = (failure.deal, failure.rotation) == (deal, rotation)
        text = "\n".join([*lines, str(failure)] if here else [str(failure)])
        return Replayed(text, record() if here else None)
    own = np.flatnonzero((rows.deal == deal) & (rows.rotation == rotation))
    for row in own:
        points = ", ".join(map(str, rows.points[row]))
        winner = int(rows.winner[row])
        who = f"place {winner} ({play.lineup[winner].name})" if winner >= 0 else "nobody"
        lines.append(
            f"round {rows.number[row]} was won by {who} after {rows.decisions[row]} decisions; "
            f"points by place: {points}"
        )
    over = not table.games and bool(play.batch.done[game])
    return Replayed("\n".join(lines), record(*[RoundEnd.of(play.batch, game)] if over else ()))


def seated(names: Sequence[str]) -> list[Agent]:
    """A line-up as matches and tournaments seat it: one agent for all places of the same name.

    Only where that is a single name, as in a match of a bot against its like, the first place has
    an agent of its own.
    """
    made = {name: make_agent(name) for name in dict.fromkeys(names)}
    first = made[names[0]] if len(made) > 1 else make_agent(names[0])
    return [first, *(made[name] for name in names[1:])]


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = CommandParser(
        prog="python -m eval.replay", description="One round again, decision by decision."
    )
    parser.add_argument("agents", nargs="+", metavar="BOT", help="the line-up, place by place")
    add_play_options(parser)
    parser.add_argument("--deal", type=whole_number_of(0), required=True, help="which deal, from 0")
    parser.add_argument("--rotation", type=whole_number_of(0), default=0, help="which rotation (0)")
    parser.add_argument(
        "--piece", type=whole_number_of(1), default=PIECE, help="of the match (%(default)s)"
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="a new file for the record")
    options = parser.parse_args(argv)
    try:
        if options.record and options.games:
            raise ValueError("--record is for rounds: those of a game are dealt from many seeds")
        if options.record and options.record.exists():
            raise FileExistsError(f"--record {options.record} is there already: name a new file")
        rules = rules_for(options.rules, len(options.agents))
        chosen = play_options(options, rules)
        table = Table.of([seated(options.agents)], rules, **chosen, piece=options.piece)
        played = replay(table, options.deal, options.rotation)
        if options.record and played.record:
            played.record.write(options.record)
    except (TypeError, ValueError, OSError) as error:
        parser.error(" ".join(str(error).split()))
    return run_command(parser.prog, lambda: played.text)


if __name__ == "__main__":
    sys.exit(main())
