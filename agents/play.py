"""Play at the terminal: ``python -m agents.play --against trained greedy``."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agents import make_agents
from agents.advice import advise
from agents.base import Agent
from agents.prompt import Read, Write, ask_action
from agents.table import Table
from uno_env.game.actions import ACTIONS
from uno_env.game.rules import MAX_PLAYERS, Rules
from uno_env.records import SUFFIX
from uno_env.render import ansi
from uno_env.render.words import what_happened, what_is_next

_PROG = "python -m agents.play"
_HINTS = 5
"""Actions that a hint tells of, at most."""
_HELP = "Answer with a number or an action; hint: what `trained` would do; quit: end the game."


class Session:
    """A person's game against bots at the terminal.

    Args:
        table: with one seat for a person.
        record: where to write what is played, or None.
        read: asks for a line.
        write: shows text.
        colour: with ANSI colour codes.
    """

    def __init__(
        self,
        table: Table,
        record: Path | None,
        *,
        read: Read = input,
        write: Write = print,
        colour: bool = True,
    ) -> None:
        self.table = table
        self._record = record
        self._read, self._write, self._colour = read, write, colour
        self._rng = np.random.default_rng()

    def play(self, rounds: int | None) -> None:
        """Play, and write the record, however it ends.

        Args:
            rounds: how many at most; None until a total reaches the target.

        Raises:
            KeyboardInterrupt: the person quits.
            ValueError: a bot does what is not legal.
            OSError: the record cannot be written.
        """
        self._write(_HELP)
        try:
            while True:
                self._play_round()
                rounds = None if rounds is None else rounds - 1
                if rounds == 0 or self.table.game_over:
                    return
                self.table.next_round()
        finally:
            if self._record is not None:
                self.table.record.write(self._record)
                self._write(f"the record is in {self._record}")

    def _play_round(self) -> None:
        table = self.table
        while not table.over:
            if table.bot is not None:
                table.ask_bot()
            elif len(table.legal) == 1:
                table.play(table.legal[0])  # nothing to ask
            else:
                table.play(self._ask())
                continue
            self._write(what_happened(table.last, table.names))
        self._write(f"{what_is_next(table.position, table.names)}\n")

    def _ask(self) -> int:
        table = self.table
        self._write(f"\n{ansi.render(table.position, names=table.names, colour=self._colour)}")
        commands = {"hint": self._hint, "help": lambda: self._write(_HELP), "quit": _quit}
        return ask_action(self._read, self._write, table.legal, table.why_illegal, commands)

    def _hint(self) -> None:
        batch = self.table.batch
        for advice in advise(batch.observe()[0], batch.legal[0], self._rng)[:_HINTS]:
            self._write(
                f"{ACTIONS[advice.action]:>7}  {advice.probability:6.1%}   wins "
                f"{advice.value:.0%} ± {1.96 * advice.error:.0%} of rounds played out"
            )


def _quit() -> None:
    raise KeyboardInterrupt("you quit")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_PROG, description="Play UNO against bots, at the terminal."
    )
    add = parser.add_argument
    add(
        "--against",
        nargs="+",
        default=["trained"],
        metavar="BOT",
        help="names, policy files or module:object, in the order of seats after yours (trained)",
    )
    add("--rules", default="angry_birds", help="a preset, with switches if you like (%(default)s)")
    add("--seat", type=int, default=0, help="yours, from 0 (%(default)s)")
    add("--seed", type=int, help="of deals and of the bots' chance; by default another each time")
    number = parser.add_mutually_exclusive_group()
    number.add_argument("--rounds", type=int, default=1, help="how many (%(default)s)")
    number.add_argument("--game", action="store_true", help="a whole game, rounds to the target")
    add("--name", default="you", help="what you are called (%(default)s)")
    keep = parser.add_mutually_exclusive_group()
    keep.add_argument(
        "--record", type=Path, help="a new file for the record; by default one is named"
    )
    keep.add_argument("--no-record", action="store_true", help="keep none")
    return parser


def session_of(options: argparse.Namespace) -> Session:
    """The game that a command line asks for.

    Raises:
        ValueError: an argument that is not allowed.
        TypeError: the same.
        OSError: a policy file cannot be read, or the record's file is there already.
    """
    bots: list[Agent | None] = list(make_agents(options.against))
    players = len(bots) + 1
    if players > MAX_PLAYERS:
        raise ValueError(f"--against: {len(bots)} bots: allowed are 1 to {MAX_PLAYERS - 1}")
    if not 0 <= options.seat < players:
        raise ValueError(f"--seat {options.seat}: allowed is 0 to {players - 1}")
    if options.rounds < 1:
        raise ValueError(f"--rounds {options.rounds}: allowed is a whole number from 1")
    rules = Rules.make(options.rules, num_players=players)
    seats = [None, *bots]
    turned = [seats[(seat - options.seat) % players] for seat in range(players)]
    seed = secrets.randbits(32) if options.seed is None else options.seed
    table = Table(rules, turned, person=options.name, seed=seed)
    record = None if options.no_record else options.record
    if record is None and not options.no_record:
        record = Path(time.strftime(f"uno-%Y-%m-%d-%H%M%S{SUFFIX}"))
    if record is not None and record.exists():
        raise FileExistsError(f"{record} is there already: name a new file")
    return Session(table, record, colour=sys.stdout.isatty())


def main(argv: Sequence[str] | None = None) -> int:
    """Play as the command line says. Returns the exit status."""
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        session = session_of(options)
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"{_PROG}: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    try:
        session.play(None if options.game else options.rounds)
    except KeyboardInterrupt as error:
        print(": ".join([_PROG, "ended", *map(str, error.args)]), file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"{_PROG}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
