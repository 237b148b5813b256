"""The results of a tournament as tables for people."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eval.estimates import Estimate
from eval.results import cut_short, describe, first_seat, round_length
from eval.standings import Tournament


def format_table(tournament: Tournament) -> str:
    """The results as tables for people, with what was played below."""
    tables = []
    if tournament.cells or not tournament.mixed:
        tables.append(_cross_rows(tournament, tournament.cell))
    if tournament.mixed:
        tables.append(_cross_rows(tournament, tournament.head_to_head))
    _add_overall(tournament, tables[-1])
    if not tournament.one_row and tournament.matches:
        tables.append(_rating_rows(tournament))
    blocks = [*map(_aligned, tables), _notes(tournament)]
    return "\n\n".join("\n".join(block) for block in blocks)


def _cross_rows(
    tournament: Tournament, share: Callable[[int, int], Estimate | None]
) -> list[list[str]]:
    """A line for each row: its share against each column."""

    def text(row: int, column: int) -> str:
        return str(share(row, column) or "-")

    rows = [["", *tournament.columns]]
    for row, name in enumerate(tournament.rows):
        cells = [text(row, column) for column in range(len(tournament.columns))]
        rows.append([name + " (out)" * tournament.is_out(row), *cells])
    return rows


def _add_overall(tournament: Tournament, rows: list[list[str]]) -> None:
    if len(tournament.columns) == 1:  # it says the same
        return
    rows[0].append("overall")
    for row, line in enumerate(rows[1:]):
        line.append(str(tournament.overall(row)) if tournament.own_places(row) else "-")


def _rating_rows(tournament: Tournament) -> list[list[str]]:
    fitted, ranked = tournament.ratings, tournament.ranking()
    rows = [["", "rating", "points per round", "better than the next"]]
    for agent, after in zip(ranked, [*ranked[1:], None], strict=True):
        if np.isnan(fitted.strength[agent]):
            continue
        rated = after is not None and not np.isnan(fitted.strength[after])
        sure = probability(fitted.better(agent, after)) if after is not None and rated else ""
        points = str(tournament.points(agent)) if tournament.own_places(agent) else "-"
        rating = fitted.rating(agent)
        rows.append(
            [tournament.agents[agent], f"{rating.value:+.0f} ± {rating.margin:.0f}", points, sure]
        )
    return rows


def probability(value: float) -> str:
    """In percent, never rounded to certainty."""
    if np.isnan(value):
        return "-"
    if not 0.001 <= value <= 0.999:
        return "> 99.9 %" if value > 0.5 else "< 0.1 %"
    return f"{100 * value:.1f} %"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in rows
    ]


def _notes(tournament: Tournament) -> list[str]:
    matches = tournament.matches
    if not matches:
        return ["no match counts"]
    notes = [*_what_tables_say(tournament), describe(matches[0])]
    if tournament.mixed:
        notes[-1] += f"; so each of {len(matches):,} line-ups, {tournament.rounds:,} rounds in all"
    if not tournament.one_row:
        notes.append(
            f"the first to decide won {first_seat(matches)} % of rounds; "
            f"{round_length(matches)} decisions per round"
        )
    return notes + cut_short(matches)


def _what_tables_say(tournament: Tournament) -> list[str]:
    unit, even = tournament.unit, f"even: {100 / tournament.rules.num_players:.1f}"
    lines = []
    if tournament.cells or not tournament.mixed:
        lines.append(
            f"% of {unit} won by the agent of the row against a table of the column's ({even}), "
            "± 95%"
        )
    if tournament.mixed:
        lines += [
            f"mixed tables: of the {unit} that the agent of the row or that of the column won "
            "where both sat, % of the row's (even: 50.0), ± 95%",
            f"overall: % of {unit} won by a place of the agent, the mean over "
            f"{'cells and ' if tournament.cells else ''}mixed tables ({even})",
        ]
    return lines
