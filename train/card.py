"""The card of a policy file: ``python -m train.card POLICY [--rounds N] [--games N] [--jobs N]``.

A card, ``POLICY`` with the ending ``.md``, says how a policy was trained and what it was measured
to win: against the bots of `OPPONENTS`, at tables of `PLAYERS`, under the rules it was trained for.
What is measured is kept in ``POLICY`` with the ending ``.json``, result by result, so that a
command that was interrupted goes on where it was; results of other weights are dropped.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import Agent
from agents.policy import PolicyAgent
from eval.arguments import SHARE, finite_number, whole_number
from eval.command import CommandParser, ProgressLine, run_command, whole_number_of
from eval.match import play
from train.arguments import PRESETS, Arguments, preset
from uno_env.game.checks import one_of
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from uno_env.game.rules import PRESETS as RULES
from uno_env.policy import SUFFIX, Policy, PolicyFileError
from uno_env.reading import json_of

OPPONENTS = ("expert", "greedy", "keen")
PLAYERS = (2, 3, 4, 7)
SEED = 1
_PROG = "python -m train.card"


@dataclass(frozen=True)
class Cell:
    """Something to measure: the policy at a table of a bot."""

    rules: str
    """A preset."""
    players: int
    opponent: str
    number: int
    """Rounds, or games."""
    games: bool = False
    """Whether whole games to the target are played."""

    def measure(self, policy: Policy, jobs: int) -> dict[str, Any]:
        """Play, and say what share was won."""
        rules = Rules.preset(self.rules, num_players=self.players)
        others: list[Agent | str] = [self.opponent] * (self.players - 1)
        with ProgressLine("games" if self.games else "rounds") as progress:
            result = play(
                [PolicyAgent(policy), *others],
                rules,
                deals=-(-self.number // self.players),
                seed=SEED,
                games=self.games,
                jobs=jobs,
                progress=progress,
            )
        share = result.win_rate()
        return {
            **dataclasses.asdict(self),
            **{name: round(getattr(share, name), 5) for name in ("value", "low", "high")},
        }


def cells(presets: Sequence[str], rounds: int, games: int) -> list[Cell]:
    """All that a card tells of a policy for some presets, in the order in which it is measured."""
    return [
        Cell(rules, players, opponent, number, whole)
        for rules in presets
        for number, whole, tables in ((rounds, False, PLAYERS), (games, True, PLAYERS[:1]))
        for opponent in OPPONENTS
        for players in tables
    ]


def write_card(path: Path, rounds: int, games: int, jobs: int = 1) -> Path:
    """Measure what is not yet measured, and write the card.

    Args:
        path: the policy file, as `train.export` writes it.
        rounds: of each result; fewer that are there already are played anew.
        games: the same of whole games.
        jobs: processes.

    Returns:
        Where the card is.

    Raises:
        FileNotFoundError: there is no policy file.
        PolicyFileError: it is none, or tells nothing of its training.
        ValueError: the results beside it are none.
        OSError: a file cannot be written.
    """
    policy = Policy.load(path)
    arguments = _arguments_of(policy, path)
    results = _Results(path)
    presets = [text.split()[0] for text in arguments.rules]
    for cell in cells(presets, rounds, games):
        if results.number(cell) < cell.number:
            results.add(cell.measure(policy, jobs))
    card = path.with_suffix(".md")
    _write_whole(card, card_text(path.name, policy, arguments, results.rows))
    return card


def _arguments_of(policy: Policy, path: Path) -> Arguments:
    """Those that a policy was trained with.

    Raises:
        PolicyFileError: its header does not tell.
    """
    training = policy.training
    try:
        arguments = Arguments(**{**training["arguments"], "out": Path("runs/NAME")})
        arguments.kinds_of_tables()
        whole_number("timesteps", training["timesteps"], 0)
        if training.get("seconds") is not None:
            finite_number("seconds", training["seconds"], "a number from 0", lambda x: x >= 0)
            training["machine"]
        return arguments
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyFileError(
            f"{path} does not tell what it was trained with ({error!r}): write it with train.export"
        ) from error


class _Results:
    """What was measured of a policy file, kept beside it."""

    def __init__(self, policy: Path) -> None:
        self.path = policy.with_suffix(".json")
        self.digest = hashlib.sha256(policy.read_bytes()).hexdigest()
        self.rows: list[dict[str, Any]] = []
        if self.path.exists():
            try:
                saved = json_of(self.path.read_text("utf-8"))
                if saved["sha256"] == self.digest:
                    self.rows = [_checked(row) for row in saved["results"]]
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(
                    f"{self.path} holds no results ({type(error).__name__}: {error}): delete it to "
                    "have all measured anew"
                ) from error

    def number(self, cell: Cell) -> int:
        """How many rounds or games were played of it."""
        return max((row["number"] for row in self.rows if self._same(row, cell)), default=0)

    def add(self, result: dict[str, Any]) -> None:
        """Keep a result, in place of one of fewer rounds."""
        self.rows = [row for row in self.rows if not self._same(row, Cell(**_cell(result)))]
        self.rows.append(result)
        saved = {"sha256": self.digest, "seed": SEED, "results": self.rows}
        _write_whole(self.path, json.dumps(saved, indent=1) + "\n")

    @staticmethod
    def _same(row: dict[str, Any], cell: Cell) -> bool:
        names = ("rules", "players", "opponent", "games")
        return all(row[name] == getattr(cell, name) for name in names)


def _cell(result: dict[str, Any]) -> dict[str, Any]:
    return {field.name: result[field.name] for field in dataclasses.fields(Cell)}


def _checked(row: dict[str, Any]) -> dict[str, Any]:
    """A result as it was kept. Raises a ValueError, TypeError or KeyError if it is none."""
    one_of("rules", row["rules"], *RULES)
    one_of("games", row["games"], True, False)
    whole_number("players", row["players"], MIN_PLAYERS, MAX_PLAYERS)
    whole_number("number", row["number"], 1)
    for name in ("value", "low", "high"):
        finite_number(name, row[name], *SHARE)
    if not isinstance(row["opponent"], str):
        raise ValueError(f"opponent={row['opponent']!r}: allowed is a name")
    return row


def _write_whole(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text)
    partial.replace(path)


# ---------------------------------------------------------------------- the text


def table_of(rows: Sequence[dict[str, Any]], rules: str) -> list[str]:
    """The lines of a table of results under some rules: players and unit down, bots across."""
    cells = {(row["games"], row["players"], row["opponent"]): row for row in rows}
    kinds = sorted({(row["games"], row["players"]) for row in rows if row["rules"] == rules})
    lines = [f"| `{rules}` (even) | " + " | ".join(f"`{bot}`" for bot in OPPONENTS) + " |"]
    lines.append("|---" * (len(OPPONENTS) + 1) + "|")
    of_rules = {key: row for key, row in cells.items() if row["rules"] == rules}
    for games, players in kinds:
        what = f"{players} players, {'games' if games else 'rounds'} ({100 / players:.3g})"
        shares = [of_rules.get((games, players, bot)) for bot in OPPONENTS]
        lines.append(f"| {what} | " + " | ".join(map(_share, shares)) + " |")
    return lines


def _share(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    margin = max(row["high"] - row["value"], row["value"] - row["low"])
    return f"{100 * row['value']:.1f} ± {100 * margin:.1f}"


def card_text(
    name: str, policy: Policy, arguments: Arguments, rows: Sequence[dict[str, Any]]
) -> str:
    """The card, in Markdown."""
    training = policy.training
    presets = [text.split()[0] for text in arguments.rules]
    share = arguments.points_share
    goal = {0.0: "the share of rounds won", 1.0: "points on the mean of the others"}.get(
        share, f"rounds won and points, {share:g} of it points"
    )
    hours = training.get("seconds")
    time = f", {hours / 60:.0f} minutes on {training['machine']}" if hours else ""
    counts = sorted({(row["games"], row["number"]) for row in rows})
    numbers = ", ".join(f"{n:,} {'games' if games else 'rounds'}" for games, n in counts)
    parts = [
        f"# `{name}`",
        f"A PPO agent (MaskablePPO) for {' and '.join(f'`{each}`' for each in presets)}. It "
        f"maximises {goal}.",
        "## Training",
        f"```sh\n{command(arguments)}\n```",
        f"{training['timesteps']:,} steps (choices of the learner) with the seed "
        f"{arguments.seed}{time}. The policy kept is the best by evaluation during the run.",
    ]
    if arguments.warm_start:
        parts.append(
            f"It started from `{arguments.warm_start.name}`, a policy of an earlier run of this "
            "package; what that one started from, its own header says."
        )
    parts += [
        "All arguments:",
        "\n".join(["| argument | value |", "|---|---|", *_argument_lines(arguments)]),
        "## Measured",
        "Share won at a table of each bot in per cent, the likeliest action chosen, on duplicate "
        f"deals ({numbers}), ± 95 % (`python -m train.card` on a copy of the policy file; beside "
        "the results, which are kept, nothing is measured again):",
        *("\n".join(table_of(rows, rules)) for rules in presets),
    ]
    return "\n\n".join(parts) + "\n"


def command(arguments: Arguments) -> str:
    """The command that trains with these arguments, from the preset nearest to them."""
    wanted = _given(arguments)

    def differing(name: str) -> dict[str, Any]:
        base = _given(preset(name))
        return {key: value for key, value in wanted.items() if value != base[key]}

    name = min(PRESETS, key=lambda name: len(differing(name)))
    words = ["python -m train.ppo", name]
    for key, value in differing(name).items():
        many = value if isinstance(value, list) else [value]
        option = key.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{option}")
        else:
            words.append(f"--{option} {' '.join(_word(each) for each in many)}")
    return " ".join(words)


def _word(value: Any) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f'"{text}"' if " " in text else text


def _given(arguments: Arguments) -> dict[str, Any]:
    """The arguments that decide what is learned."""
    dropped = ("out", "benchmark_deals", "torch_threads")
    values = {k: v for k, v in arguments.as_json().items() if k not in dropped}
    if arguments.warm_start:
        values["warm_start"] = arguments.warm_start.name
    return values


def _argument_lines(arguments: Arguments) -> list[str]:
    values = _given(arguments).items()
    return [f"| `{name}` | {json.dumps(value)} |" for name, value in values]


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = CommandParser(
        prog=_PROG,
        description="Measure a policy file against the bots, and write its card beside it.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("policy", type=Path, help=f"the policy file, *{SUFFIX}")
    whole = whole_number_of(2)
    parser.add_argument("--rounds", type=whole, default=100_000, help="of each result")
    parser.add_argument("--games", type=whole, default=6_000, help="of each result of whole games")
    parser.add_argument("--jobs", type=whole_number_of(1), default=1, help="processes")
    options = parser.parse_args(argv)
    try:
        return run_command(
            _PROG,
            lambda: str(write_card(options.policy, options.rounds, options.games, options.jobs)),
        )
    except (ValueError, OSError) as error:
        print(f"{_PROG}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
