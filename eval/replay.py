"""One round again, decision by decision: whatever a tournament names can be looked at.

    python -m eval.replay keen greedy --seed 3 --deal 17 --rotation 1

Agents draw their chance from one stream for all games of a piece, so the whole piece is played
again; the number of rounds, or games, must be that of the match.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents import Agent, make_agent
from eval.answers import AgentError
from eval.arguments import rules_for
from eval.command import CommandParser, add_play_options, play_options, run_command, whole_number_of
from eval.floor import PIECE, PiecePlay, Table, say_nothing
from uno_env.game.actions import ACTIONS


def replay(table: Table, deal: int, rotation: int) -> str:
    """Every decision of a round, or of all rounds of a game, of the first match of a table.

    Returns:
        A line for each decision, and how it ended; or the failure of an agent, if there is one in
        the piece.

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

    def watch(play: PiecePlay, games: NDArray[np.intp], actions: NDArray[np.intp]) -> None:
        if (at := np.flatnonzero(games == game)).size:
            seat = int(play.batch.player[game])
            name = play.lineup[play.places[game, seat]].name
            number, decision = int(play.number[game]), int(play.decisions[game]) + 1
            if decision == 1:
                lines.append(f"round {number}\n{play.batch.position(game)}")
            lines.append(f"{decision}: seat {seat} ({name}) {ACTIONS[actions[at[0]]]}")

    play = PiecePlay(table, piece, watch)
    try:
        rows = play.play(say_nothing)
    except AgentError as error:
        failure = play.failure(error)
        seen = lines if (failure.deal, failure.rotation) == (deal, rotation) else []
        return "\n".join([*seen, str(failure)])
    own = np.flatnonzero((rows.deal == deal) & (rows.rotation == rotation))
    for row in own:
        points = ", ".join(map(str, rows.points[row]))
        winner = int(rows.winner[row])
        who = f"place {winner} ({play.lineup[winner].name})" if winner >= 0 else "nobody"
        lines.append(
            f"round {rows.number[row]} was won by {who} after {rows.decisions[row]} decisions; "
            f"points by place: {points}"
        )
    return "\n".join(lines)


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
    add_play_options(parser, jobs=1)
    parser.add_argument("--deal", type=whole_number_of(0), required=True, help="which deal, from 0")
    parser.add_argument("--rotation", type=whole_number_of(0), default=0, help="which rotation (0)")
    parser.add_argument(
        "--piece", type=whole_number_of(1), default=PIECE, help="of the match (%(default)s)"
    )
    options = parser.parse_args(argv)
    try:
        rules = rules_for(options.rules, len(options.agents))
        chosen = play_options(options, rules)
        chosen.pop("jobs")
        table = Table.of([seated(options.agents)], rules, **chosen, piece=options.piece)
        text = replay(table, options.deal, options.rotation)
    except (TypeError, ValueError, OSError) as error:
        parser.error(" ".join(str(error).split()))
    return run_command(parser.prog, lambda: text)


if __name__ == "__main__":
    sys.exit(main())
