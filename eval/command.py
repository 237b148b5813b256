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
from eval.cluster import Cluster
from eval.floor import DEALS, MAX_DEALS, MAX_DECISIONS
from eval.folder import FolderError
from eval.workers import Jobs, WorkerError
from uno_env.game.rules import Rules

BOT_HELP = (
    "a bot's name, with settings as in search:rollouts=512, a policy file ending in .safetensors, "
    "or module:object"
)
ENGINES = ("processes", "ray")
"""What plays the pieces of matches."""
_BAR, _WIDTH = 20, 99
"""Characters of the bar, and of all of the line."""


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


def whole_number_of(low: int, high: int = sys.maxsize) -> Callable[[str], int]:
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
    """The options that say what is played, which matches, tournaments and replays share."""
    parser.add_argument(
        "--rules",
        default="angry_birds",
        help="a preset, or one with switches such as 'classic uno_penalty=2' (%(default)s)",
    )
    parser.add_argument(
        "--players", type=whole_number_of(2), help="seats, if the rules do not say (2)"
    )
    number = parser.add_mutually_exclusive_group()
    number.add_argument(
        "--rounds",
        type=whole_number_of(1, MAX_DEALS),
        default=2 * DEALS,
        help="rounds of each line-up; up to a whole number of deals, each played from every seat "
        "(%(default)s)",
    )
    number.add_argument(
        "--games",
        type=whole_number_of(1, MAX_DEALS),
        help="whole games instead, rounds to the target",
    )
    parser.add_argument(
        "--seed",
        type=whole_number_of(0),
        default=0,
        help="of the deals and of chance (%(default)s)",
    )
    parser.add_argument(
        "--max-decisions",
        type=whole_number_of(1),
        default=MAX_DECISIONS,
        help="a longer round is cut off and nobody wins it (%(default)s)",
    )


def add_engine_options(parser: argparse.ArgumentParser, jobs: int | None = None) -> None:
    """The options that say where it is played; no result depends on them.

    Args:
        parser: to which they are added.
        jobs: the default number of processes; by default all cores.
    """
    jobs = jobs or _cores()
    parser.add_argument(
        "--jobs",
        type=whole_number_of(1),
        help=f"pieces that are played at a time ({jobs}; with ray, as many as it has cores)",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default=ENGINES[0],
        help="what plays: processes of this machine, or Ray (%(default)s)",
    )
    parser.add_argument(
        "--address",
        help="of a running Ray cluster, such as auto or HOST:6379; without it, --engine ray starts "
        "one on this machine",
    )
    parser.set_defaults(processes=jobs)


def play_options(options: argparse.Namespace, rules: Rules) -> dict[str, Any]:
    """The arguments of `eval.match.play_all` that say what is played, rules apart."""
    return {
        "deals": -(-(options.games or options.rounds) // rules.num_players),
        "games": options.games is not None,
        "seed": options.seed,
        "max_decisions": options.max_decisions,
    }


def jobs_of(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Jobs:
    """Where the command line asks to play; ends the program if that makes no sense."""
    if options.engine == "ray":
        return Cluster(options.address, options.jobs)
    if options.address:
        parser.error("--address is for --engine ray")
    jobs: int = options.jobs or options.processes
    return jobs


def agents_and_rules(
    parser: argparse.ArgumentParser, names: Sequence[str], options: argparse.Namespace
) -> tuple[list[Agent], Rules]:
    """What a command line asks for; what cannot be had ends the program with one line."""
    try:
        return make_agents(names), rules_for(options.rules, options.players)
    except (TypeError, ValueError, OSError, ImportError) as error:
        parser.error(" ".join(str(error).split()))


class ProgressLine:
    """A bar on standard error, if that is a terminal, that says how far play has come.

    Leave it with ``with``: whatever ends play, the line is cleared.

    Args:
        unit: what is counted.
    """

    def __init__(self, unit: str = "rounds") -> None:
        self._unit = unit
        self._shown = sys.stderr.isatty()
        self._start = self._last = time.monotonic()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write(f"\r{'':<{_WIDTH}}\r")
            sys.stderr.flush()

    def __call__(self, over: int, total: int) -> None:
        """Show how many rounds are over."""
        now = time.monotonic()
        if not self._shown or (now - self._last < 0.1 and over < total):
            return
        self._last = now
        speed = over / max(now - self._start, 1e-9)
        left = (total - over) / speed if speed else 0
        done = _BAR * over // max(total, 1)
        bar = "#" * done + "." * (_BAR - done)
        line = f"[{bar}] {over:,} of {total:,} {self._unit}, {speed:,.0f} per second, "
        line += f"{_duration(left)} left"
        sys.stderr.write(f"\r{line:<{_WIDTH}}" if over < total else f"\r{'':<{_WIDTH}}\r")
        sys.stderr.flush()


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"


def run_command(prog: str, output: Callable[[], str]) -> int:
    """Print what a command works out, or one line that says why it cannot. Returns the status."""
    try:
        text = output()
    except (AgentError, WorkerError, FolderError) as error:
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
