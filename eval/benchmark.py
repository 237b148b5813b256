"""How fast everything is: the one place where speed is measured.

    python -m eval.benchmark
    python -m eval.benchmark --peers --json speed.json
    python -m eval.benchmark --only core --players 2 --games 4096 --repeats 9

On one core: decisions per second of the core, steps of the environments, frames of training and its
share of what the same learner makes of an environment that costs nothing, rounds of a tournament,
and the memory of a game. With `--peers` RLCard, OpenSpiel and PettingZoo's card games, where they
are installed, in the same rounds, and the ratios to them. `eval.timing` says how, and why ratios
are to be believed sooner than rates: a rate is that of this machine as busy as it is now.

The core's time is that of a step, of new deals for the rounds that ended, and of the masks, with or
without the observations. Choosing actions is not timed, here or with peers; where it has to be, the
report says so.

Training is measured by `train.speed`. Imports run one way and `eval` may not import `train`, which
also needs libraries that the rest of this command can do without; so that module is looked up by
its name when it is asked for, and nothing in `eval` depends on it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from eval import peers, workloads
from eval.arguments import finite_number
from eval.command import CommandParser, run_command, whole_number_of
from eval.timing import (
    Block,
    Comparison,
    Spread,
    Workload,
    cpu_name,
    in_pairs,
    measure,
    one_core,
    prepare,
    ratios,
)
from uno_env import __version__
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS

GAMES = (1, 64, 1_024, 4_096, 16_384)
PLAYERS = (2, 4, 10)
_MAX_GAMES = 2**20
_MEMORY_PLAYERS = 4
_MEMORY_TARGET = 400
"""Bytes that a game of `_MEMORY_PLAYERS` has to stay below."""
TRAIN_EXTRA = '.venv/bin/pip install -e ".[train]"'

_NOTES = (
    "± is half the distance of the quartiles. Core: a step, new deals and masks, and observations "
    "where it says so; choosing actions is not timed. Rounds that ended wait until a sixteenth of "
    "the games do and are dealt together; those that wait are not counted. Uniform play almost "
    "never ends a round: quote keen.",
    "AEC: the loop of PettingZoo's performance_benchmark, which chooses uniformly and is timed "
    "whole. Gymnasium: steps and resets; opponents are keen and are timed, the learner is not.",
)
_PEER_NOTE = (
    "Peers: RLCard's env.step and env.reset; OpenSpiel's apply_action and legal_actions, chance "
    "included. C++ rollouts choose their own actions, which is timed, and are counted by the mean "
    "length of games from the same kind of state; their deals are not timed."
)


@dataclass
class Suite:
    """What a run measures."""

    workloads: list[Workload] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    """Numbers of players of whose games the memory is told."""
    missing: list[str] = field(default_factory=list)
    """What cannot be measured, and why."""


def _add_core(suite: Suite, options: argparse.Namespace) -> None:
    suite.workloads += workloads.core(options.players, options.games)
    suite.memory += options.players
    if options.peers:
        suite.workloads += peers.core_peers(options.players)
        suite.comparisons += peers.core_comparisons()


def _add_aec(suite: Suite, options: argparse.Namespace) -> None:
    suite.workloads += workloads.aec(options.players)
    if options.peers:
        suite.workloads += peers.aec_peers()
        suite.comparisons += peers.aec_comparisons()


def _add_gymnasium(suite: Suite, options: argparse.Namespace) -> None:
    suite.workloads += workloads.gymnasium_envs(options.players)


def _add_training(suite: Suite, options: argparse.Namespace) -> None:  # noqa: ARG001
    try:
        speed: Any = import_module("train.speed")
    except ModuleNotFoundError as error:
        suite.missing.append(f"training: not measured: {error}; install: {TRAIN_EXTRA}")
        return
    suite.workloads += speed.workloads()
    suite.comparisons += speed.comparisons()


def _add_tournament(suite: Suite, options: argparse.Namespace) -> None:
    suite.workloads += workloads.tournament()
    if options.peers:
        suite.workloads += peers.tournament_peers()
        suite.comparisons += peers.tournament_comparisons()


PARTS: dict[str, Callable[[Suite, argparse.Namespace], None]] = {
    "core": _add_core,
    "aec": _add_aec,
    "gymnasium": _add_gymnasium,
    "training": _add_training,
    "tournament": _add_tournament,
}
"""What adds each part to a run."""


# --- What comes out ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    """What was measured."""

    suite: Suite
    blocks: dict[str, list[Block]]
    machine: dict[str, Any]
    """Where: the processor, the core, versions."""
    settings: dict[str, Any]
    """The options of the run."""

    def compared(self) -> list[tuple[Comparison, list[float]]]:
        """The comparisons both sides of which were measured, with the ratio of each round."""
        pairs = [(each, ratios(self.blocks, each)) for each in self.suite.comparisons]
        return [(each, values) for each, values in pairs if values is not None]

    def __str__(self) -> str:
        """Tables for people."""
        measured = [each for each in self.suite.workloads if each.name in self.blocks]
        parts = [_machine_line(self.machine, self.settings)]
        for title in dict.fromkeys(each.table for each in measured):
            some = [each for each in measured if each.table == title]
            parts.append("\n".join([title, *_table(some, self.blocks)]))
        if compared := self.compared():
            title = "ratios, the median over rounds of the ratios within a round"
            parts.append("\n".join([title, *_ratio_lines(compared)]))
        if self.suite.memory:
            title = "memory of the core, bytes per game"
            parts.append("\n".join([title, *map(_memory_line, self.suite.memory)]))
        if self.suite.missing:
            parts.append("\n".join(self.suite.missing))
        notes = [*_NOTES, *([_PEER_NOTE] if self.settings["peers"] else [])]
        parts.append("\n".join(textwrap.fill(note, width=100) for note in notes))
        return "\n\n".join(parts)

    def as_json(self) -> dict[str, Any]:
        """All of it, block by block, for programs."""
        return {
            "machine": self.machine,
            "settings": self.settings,
            "workloads": [
                {
                    "table": each.table,
                    "row": each.row,
                    "column": each.column,
                    "rate": _spread_as_json([block.rate for block in self.blocks[each.name]]),
                    "blocks": [
                        {"count": block.count, "seconds": block.seconds}
                        for block in self.blocks[each.name]
                    ],
                }
                for each in self.suite.workloads
                if each.name in self.blocks
            ],
            "ratios": [
                {
                    "of": each.of,
                    "to": each.to,
                    "ratio": _spread_as_json(values),
                    "rounds": values,
                    "target": each.target,
                    "met": _met(each, values),
                }
                for each, values in self.compared()
            ],
            "bytes_per_game": {
                str(players): workloads.bytes_per_game(players) for players in self.suite.memory
            },
            "missing": self.suite.missing,
        }


def _met(comparison: Comparison, values: Sequence[float]) -> bool | None:
    """Whether the median reaches the target; None without one."""
    if comparison.target is None:
        return None
    return Spread.of(values).median >= comparison.target


def _spread_as_json(values: Sequence[float]) -> dict[str, float]:
    spread = Spread.of(values)
    return {"median": spread.median, "first_quartile": spread.low, "third_quartile": spread.high}


def _rate(blocks: Sequence[Block]) -> str:
    spread = Spread.of([block.rate for block in blocks])
    return f"{spread.median:,.0f} ±{spread.share:.0%}"


def _table(some: Sequence[Workload], blocks: dict[str, list[Block]]) -> list[str]:
    """Lines of one table: a row for each row of the workloads, a column for each column."""
    rows = list(dict.fromkeys(each.row for each in some))
    columns = list(dict.fromkeys(each.column for each in some))
    cells = {(each.row, each.column): _rate(blocks[each.name]) for each in some}
    lines = [[row, *(cells.get((row, column), "-") for column in columns)] for row in rows]
    return _aligned([["", *columns], *lines] if any(columns) else lines)


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """The first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  " + "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in lines
    ]


def _ratio_lines(compared: Sequence[tuple[Comparison, list[float]]]) -> list[str]:
    lines = []
    for comparison, values in compared:
        spread = Spread.of(values)
        target = "" if comparison.target is None else f"target {comparison.target:g}x:"
        verdict = {None: "", True: "met", False: "not met"}[_met(comparison, values)]
        ratio = f"{spread.median:.2f}x ±{spread.share:.0%}"
        lines.append([f"{comparison.of} / {comparison.to}", ratio, target, verdict])
    return [line.rstrip() for line in _aligned(lines)]


def _memory_line(players: int) -> str:
    size = workloads.bytes_per_game(players)
    line = f"  {players} players: {size:,.0f}"
    if players != _MEMORY_PLAYERS:
        return line
    met = "met" if size < _MEMORY_TARGET else "not met"
    return f"{line}, target below {_MEMORY_TARGET}: {met}"


def _machine(core: str) -> dict[str, Any]:
    packages: dict[str, str | None] = {"uno-env": __version__}
    for package in ("numpy", "gymnasium", "torch", "stable-baselines3", "sb3-contrib"):
        try:
            packages[package] = version(package)
        except PackageNotFoundError:
            packages[package] = None
    return {
        "cpu": cpu_name(),
        "core": core,
        "python": platform.python_version(),
        "packages": {**packages, **peers.versions()},
    }


def _machine_line(machine: dict[str, Any], settings: dict[str, Any]) -> str:
    packages = [f"{name} {number}" for name, number in machine["packages"].items() if number]
    return "\n".join(
        [
            f"{machine['core']} of {machine['cpu']}; {settings['repeats']} interleaved blocks of "
            f"{settings['seconds']:g} s or more each: the median",
            ", ".join([f"Python {machine['python']}", *packages]),
        ]
    )


# --- The command ---------------------------------------------------------------------------------


def _seconds(text: str) -> float:
    allowed = "a finite number above 0"
    try:
        return finite_number("seconds", float(text), allowed, lambda x: x > 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: allowed is {allowed}") from None


def _json_path(text: str) -> Path:
    """A path that a file can be written to, which is tried out before anything is measured."""
    path = Path(text)
    try:
        if path.is_dir() or text.endswith(("/", os.sep)):
            raise argparse.ArgumentTypeError(f"{text!r} is a folder: allowed is the path of a file")
        partial = _partial(path)
        partial.touch()
        partial.unlink()
    except OSError as error:
        why = error.strerror or error
        raise argparse.ArgumentTypeError(
            f"{text!r} cannot be written ({why}): allowed is a file in a folder that can be"
        ) from None
    return path


def _partial(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.partial")


def write_json(path: Path, value: object) -> None:
    """Write a file whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    partial = _partial(path)
    try:
        partial.write_text(json.dumps(value, indent=1) + "\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _progress(over: int, total: int) -> None:
    """A line on standard error, if that is a terminal."""
    if sys.stderr.isatty():
        line = f"{over:,} of {total:,} blocks"
        sys.stderr.write(f"\r{line}" if over < total else f"\r{'':<{len(line)}}\r")
        sys.stderr.flush()


def run(suite: Suite, options: argparse.Namespace) -> Report:
    """Measure it all."""
    with one_core() as core:
        plays, missing = prepare(suite.workloads)
        suite.missing += missing
        order = in_pairs(list(plays), suite.comparisons)
        blocks = measure(plays, order, options.repeats, options.seconds, _progress)
    settings = {key: value for key, value in vars(options).items() if key != "json"}
    return Report(suite, blocks, _machine(core), settings)


def _parser() -> CommandParser:
    parser = CommandParser(
        prog="python -m eval.benchmark",
        description="How fast everything is, on one core.",
    )
    number_of_players = whole_number_of(MIN_PLAYERS, MAX_PLAYERS)
    parser.add_argument(
        "--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="parts (all)"
    )
    parser.add_argument(
        "--peers", action="store_true", help="RLCard, OpenSpiel and PettingZoo's games, too"
    )
    parser.add_argument(
        "--repeats", type=whole_number_of(1), default=5, help="blocks of each (%(default)s)"
    )
    parser.add_argument(
        "--seconds", type=_seconds, default=0.1, help="of a block, at least (%(default)s)"
    )
    parser.add_argument(
        "--players",
        nargs="+",
        type=number_of_players,
        default=list(PLAYERS),
        help="numbers of players, apart from training and tournaments (2 4 10)",
    )
    parser.add_argument(
        "--games",
        nargs="+",
        type=whole_number_of(1, _MAX_GAMES),
        default=list(GAMES),
        help="numbers of games of the core (1 64 1024 4096 16384)",
    )
    parser.add_argument("--json", type=_json_path, metavar="PATH", help="write all numbers there")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(argv)
    for name in ("only", "players", "games"):
        setattr(options, name, list(dict.fromkeys(getattr(options, name))))
    suite = Suite()
    for part in options.only:
        PARTS[part](suite, options)
    if not suite.workloads:
        parser.error("; ".join(suite.missing))

    def output() -> str:
        report = run(suite, options)
        if options.json is not None:
            write_json(options.json, report.as_json())
        return str(report)

    try:
        return run_command(parser.prog, output)
    except OSError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
