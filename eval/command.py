"""What the command lines of matches and tournaments share."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from agents import Agent, make_agents
from eval.answers import AgentError
from eval.arguments import allowed_whole_number, rules_for
from eval.floor import DEALS, MAX_DEALS, MAX_DECISIONS
from uno_env.game.rules import Rules


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


def whole_number(low: int, high: int = sys.maxsize) -> Callable[[str], int]:
    """A type of argument: a whole number from `low` to `high`."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            allowed = allowed_whole_number(low, high)
            raise argparse.ArgumentTypeError(f"{text!r}: allowed is {allowed}")
        return number

    return parse


def add_play_options(parser: argparse.ArgumentParser) -> None:
    """The options that matches and tournaments share."""
    parser.add_argument(
        "--rules",
        default="angry_birds",
        help="a preset, or one with switches such as 'classic uno_penalty=2' (%(default)s)",
    )
    parser.add_argument(
        "--players", type=whole_number(2), help="seats, if the rules do not say (2)"
    )
    parser.add_argument(
        "--deals",
        type=whole_number(1, MAX_DEALS),
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
    """The arguments of `eval.match.play_all` that the command line sets, rules apart."""
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
    try:
        return make_agents(names), rules_for(options.rules, options.players)
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


def run_command(prog: str, output: Callable[[], str]) -> int:
    """Print what a command works out, or one line that says why it cannot. Returns the status."""
    try:
        text = output()
    except AgentError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as error:
        print(": ".join([prog, "interrupted", *map(str, error.args)]), file=sys.stderr)
        return 130
    try:
        print(text, flush=True)
    except OSError as error:
        print(f"{prog}: cannot write the result: {error}", file=sys.stderr)
        _drop_output()
        return 1
    return 0


def _drop_output() -> None:
    """Send what standard output could not take nowhere, or Python tries again when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
