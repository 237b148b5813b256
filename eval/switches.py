"""What each switch of the rules changes: ``python -m eval.switches [--rules R] [--players N ...]``.

The same deals are played under the rules and under variations of them, one switch at a time, and
compared deal by deal: how often the seat that decides first wins, how many decisions a round has,
and how many points it is worth. At the table sit `BOTS` by turns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import make_agents
from eval.arguments import rules_for
from eval.command import CommandParser, ProgressLine, run_command, whole_number_of
from eval.estimates import Mean
from eval.floor import MAX_DEALS
from eval.match import MatchResult, play
from uno_env.game.rules import HOUSE_RULES, MAX_PLAYERS, NUM_PARTNERS, Rules

BOTS = ("expert", "watcher")
"""Two that know the switches and are about as good."""
FIGURES = ("the first wins, %", "decisions", "points")
"""What is compared, of each round."""
VARIATIONS: tuple[tuple[str, Any], ...] = (
    ("deck", "angry_birds"),
    ("deck", "classic"),
    ("voluntary_draw", "always"),
    ("voluntary_draw", "without_match"),
    ("drawn_card", "optional"),
    ("drawn_card", "forced"),
    ("wild_draw_four", "no_matching_colour"),
    ("wild_draw_four", "no_matching_card"),
    ("wild_draw_four", "bluff"),
    ("uno_call", "automatic"),
    ("uno_enforcement", "automatic"),
    ("uno_penalty", 2),
    ("uno_penalty", 4),
    ("king_pig_recipients", "all"),
    ("king_pig_recipients", "opponents"),
    ("last_card_draws", False),
    ("action_points", 20),
    ("action_points", 50),
    *((name, True) for name in HOUSE_RULES),
)
"""Switches with a value; those that the rules have already are passed over."""
_PROG = "python -m eval.switches"


@dataclass(frozen=True)
class Variation:
    """Rules that differ in one switch, and what they made of the rounds."""

    switch: str
    """Such as ``stacking=True``; empty for the rules themselves."""
    values: tuple[Mean, ...]
    """The `FIGURES`."""
    changes: tuple[Mean, ...]
    """By how much these differ from the figures of the rules themselves."""


def variations_of(rules: Rules) -> list[tuple[str, Rules]]:
    """The rules with one switch set otherwise, for each that can be and that plays a part."""
    varied = []
    for name, value in VARIATIONS:
        pigless = name == "king_pig_recipients" and rules.deck == "classic"
        seats = name == "partners" and rules.num_players != NUM_PARTNERS
        if getattr(rules, name) != value and not pigless and not seats:
            varied.append((f"{name}={value}", Rules.make(rules, **{name: value})))
    return varied


def compare(
    rules: Rules,
    deals: int,
    seed: int = 0,
    *,
    jobs: int = 1,
    bots: Sequence[str] = BOTS,
    max_decisions: int = 10_000,
) -> list[Variation]:
    """Play under rules and their variations.

    Args:
        rules: from which one switch at a time is changed.
        deals: played from every seat under each of them, at least 2.
        seed: a whole number from 0.
        jobs: processes.
        bots: who sit at the table by turns.
        max_decisions: a longer round is cut off.

    Returns:
        The rules themselves, then their variations in the order of `VARIATIONS`.

    Raises:
        ValueError: an argument that is not allowed.
    """
    agents = make_agents(bots)
    lineup = [agents[place % len(agents)] for place in range(rules.num_players)]
    found: list[Variation] = []
    base: NDArray[np.float64] | None = None
    for switch, varied in [("", rules), *variations_of(rules)]:
        with ProgressLine() as progress:
            match = play(
                lineup,
                varied,
                deals=deals,
                seed=seed,
                jobs=jobs,
                max_decisions=max_decisions,
                progress=progress,
            )
        figures = figures_of(match)
        base = figures if base is None else base
        values, changes = (tuple(map(_mean, each.T)) for each in (figures, figures - base))
        found.append(Variation(switch, values, changes))
    return found


def figures_of(match: MatchResult) -> NDArray[np.float64]:
    """The `FIGURES` of each deal, on average over its rounds: (D, 3) float64."""
    rows = match.rows
    first = 100.0 * (rows.winner == rows.first)
    of_rounds = np.stack([first, rows.decisions, rows.points.max(axis=1)], axis=1)
    return match.per_deal(of_rounds) / match.rounds_per_deal[:, None]


def _mean(values: NDArray[np.float64]) -> Mean:
    middle = float(values.mean())
    margin = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5
    return Mean(middle, middle - margin, middle + margin)


def format_table(rules: Rules, found: Sequence[Variation]) -> str:
    """A table in Markdown: the figures of the rules, and for each switch by how much it moves them.

    Changes whose interval does not reach zero are bold; 0 stands where no deal went otherwise.
    """
    head = f"`{rules}` (even: {100 / rules.num_players:.3g})"
    lines = [f"| {head} | " + " | ".join(FIGURES) + " |", "|---" * (len(FIGURES) + 1) + "|"]
    for each in found:
        cells = [_change(change) for change in each.changes] if each.switch else each.values
        lines.append(f"| {each.switch and f'`{each.switch}`'} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _change(change: Mean) -> str:
    if change.low == change.high == 0:
        return "0"
    if abs(change.value) < 0.05:
        return f"0.0 ± {change.margin:.1f}"
    text = f"{change.value:+.1f} ± {change.margin:.1f}"
    return f"**{text}**" if change.low > 0 or change.high < 0 else text


def report(
    rules: str, players: Sequence[int], rounds: int, options: Mapping[str, Any]
) -> list[str]:
    """The table for each number of players."""
    tables = []
    for number in players:
        made = rules_for(rules, number)
        found = compare(made, -(-rounds // number), **options)
        tables.append(format_table(made, found))
    return tables


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = CommandParser(
        prog=_PROG,
        description="Measure what each switch of the rules changes, as tables in Markdown.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--rules", default="angry_birds", help="from which one switch at a time is changed")
    players = whole_number_of(2, MAX_PLAYERS)
    add("--players", type=players, nargs="+", default=[2, 4], help="seats; a table for each")
    add("--rounds", type=whole_number_of(20, MAX_DEALS), default=20_000, help="under each rules")
    add("--seed", type=whole_number_of(0), default=0, help="of the deals and of chance")
    add("--jobs", type=whole_number_of(1), default=1, help="processes")
    options = parser.parse_args(argv)
    try:
        rules_for(options.rules, options.players[0])
    except (ValueError, TypeError) as error:
        parser.error(str(error))
    how = {"seed": options.seed, "jobs": options.jobs}
    return run_command(
        _PROG,
        lambda: "\n\n".join(report(options.rules, options.players, options.rounds, how)),
    )


if __name__ == "__main__":
    sys.exit(main())
