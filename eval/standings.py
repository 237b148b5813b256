"""The results of a tournament, and what follows from them: tables, ratings, JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval import ratings
from eval.estimates import Estimate, Mean, estimate, mean_per_round
from eval.floor import Failure, Rounds
from eval.folder import FORMAT, ROUNDS, FolderError
from eval.ratings import Ratings
from eval.results import MatchResult, cut_short, describe, first_seat, round_length
from uno_env.game.rules import Rules

_LOOKS = 12
"""How often it is shown how the ratings tightened."""


@dataclass(frozen=True)
class Tournament:
    """One agent of each row against a table of each column, all on the same deals.

    With two players a match is read both ways. `agents` are rows and columns alike, or with
    `one_row` the first is the only row and the others are the columns.
    """

    agents: tuple[str, ...]
    played: Mapping[int, tuple[tuple[int, ...], MatchResult]]
    """Of each match that counts: its line-up as indices of `agents`, and its result."""
    failures: tuple[Failure, ...]
    """Of each agent that is out: why."""
    rules: Rules
    one_row: bool = False

    @property
    def rows(self) -> tuple[str, ...]:
        """Names."""
        return self.agents[:1] if self.one_row else self.agents

    @property
    def columns(self) -> tuple[str, ...]:
        """Names."""
        return self.agents[1:] if self.one_row else self.agents

    @cached_property
    def cells(self) -> dict[tuple[int, int], tuple[MatchResult, int]]:
        """By row and column: the match, and the place of the row's agent in its line-up."""
        cells = {}
        shift = int(self.one_row)
        for lineup, match in self.played.values():
            cells[lineup[0], lineup[1] - shift] = match, 0
            if len(lineup) == 2 and not self.one_row:
                cells[lineup[1], lineup[0]] = match, 1
        return cells

    @property
    def matches(self) -> list[MatchResult]:
        """The matches that count."""
        return [match for _, match in self.played.values()]

    @property
    def rounds(self) -> int:
        """Rounds of all matches."""
        return sum(match.rounds for match in self.matches)

    def of_row(self, row: int) -> list[tuple[MatchResult, int]]:
        """The cells of a row, in the order of columns."""
        return [self.cells[key] for key in sorted(self.cells) if key[0] == row]

    def win_rate(self, row: int, column: int) -> Estimate:
        """The share of rounds, or games, that an agent of the row won against the column's table.

        Raises:
            KeyError: this was not played, or does not count.
        """
        match, place = self.cells[row, column]
        return match.win_rate(place)

    def overall(self, row: int) -> Estimate:
        """The mean over the columns, each alike. The interval comes from the same deals' sums."""
        shares = [match.shares(place) for match, place in self.of_row(row)]
        return estimate(np.mean(shares, axis=0))

    def points(self, row: int) -> Mean:
        """Points per round over all columns."""
        own = self.of_row(row)
        sums = [match.per_deal(match.rows.points[:, place]) for match, place in own]
        rounds = [match.rounds_per_deal for match, _ in own]
        return mean_per_round(np.sum(sums, axis=0), np.sum(rounds, axis=0))

    def shares(self) -> NDArray[np.float64]:
        """What part of each deal's rounds, or games, was won, by match and place: (D, M, P)."""
        won = [match.won.mean(axis=1) for match in self.matches]
        return np.stack(won, axis=1)

    @cached_property
    def ratings(self) -> Ratings:
        """Ratings fitted to all matches.

        Raises:
            ValueError: no match counts.
        """
        return self._rated(None)

    def _rated(self, deals: int | None) -> Ratings:
        lineups = [lineup for lineup, _ in self.played.values()]
        if not lineups:
            raise ValueError("no match counts, so nobody can be rated")
        return ratings.fit(self.agents, lineups, self.shares()[:deals])

    def tightening(self) -> list[tuple[int, Ratings]]:
        """Ratings as they stood after fewer deals: from few to all."""
        deals = self.matches[0].deals
        numbers = np.geomspace(min(20, deals), deals, _LOOKS).round().astype(int)
        return [(int(number), self._rated(int(number))) for number in np.unique(numbers)]

    def ranking(self) -> list[int]:
        """Agents from the best to the worst by rating, those without one last."""
        if not self.played:
            return list(range(len(self.agents)))
        strength = self.ratings.strength
        return sorted(range(len(self.agents)), key=lambda i: (np.isnan(strength[i]), -strength[i]))

    def is_out(self, agent: int) -> bool:
        """Whether an agent failed."""
        return any(failure.agent == self.agents[agent] for failure in self.failures)


# ---------------------------------------------------------------------- as text


def format_table(tournament: Tournament) -> str:
    """The results as tables for people, with what was played below."""
    body = [
        [
            name + " (out)" * tournament.is_out(row),
            *(
                str(tournament.win_rate(row, column)) if (row, column) in tournament.cells else "-"
                for column in range(len(tournament.columns))
            ),
            str(tournament.overall(row)) if tournament.of_row(row) else "-",
        ]
        for row, name in enumerate(tournament.rows)
    ]
    head = ["", *tournament.columns, "overall"]
    if len(head) == 3:  # one column: overall says the same
        head, body = head[:-1], [line[:-1] for line in body]
    lines = _aligned([head, *body])
    if not tournament.one_row and tournament.matches:
        lines += ["", *_aligned(_rating_rows(tournament))]
    return "\n".join([*lines, "", *_notes(tournament)])


def _rating_rows(tournament: Tournament) -> list[list[str]]:
    fitted, ranked = tournament.ratings, tournament.ranking()
    rows = [["", "rating", "points per round", "better than the next"]]
    for agent, after in zip(ranked, [*ranked[1:], None], strict=True):
        if np.isnan(fitted.strength[agent]):
            continue
        rated = after is not None and not np.isnan(fitted.strength[after])
        sure = probability(fitted.better(agent, after)) if after is not None and rated else ""
        points = str(tournament.points(agent)) if tournament.of_row(agent) else "-"
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
    unit = "games" if matches[0].games else "rounds"
    notes = [
        f"% of {unit} won by the agent of the row against a table of the column's "
        f"(even: {100 / tournament.rules.num_players:.1f}), ± 95%",
        describe(matches[0]),
    ]
    if not tournament.one_row:
        notes.append(
            f"the first to decide won {first_seat(matches)} % of rounds; "
            f"{round_length(matches)} decisions per round"
        )
    return notes + cut_short(matches)


# ---------------------------------------------------------------------- as JSON


def as_json(tournament: Tournament, plan: Mapping[str, Any]) -> dict[str, Any]:
    """What was played and what came out."""
    summary: dict[str, Any] = {}
    if tournament.matches:
        fitted = tournament.ratings
        number = range(len(tournament.agents))
        rated = [not bool(np.isnan(fitted.strength[i])) for i in number]
        summary = {
            "rounds": tournament.rounds,
            "ratings": [_interval(fitted.rating(i)) if rated[i] else None for i in number],
            "better": [
                [fitted.better(i, j) if rated[i] and rated[j] else None for j in number]
                for i in number
            ],
            "win_rate": [
                _interval(tournament.overall(i)) if tournament.of_row(i) else None for i in number
            ],
            "points_per_round": [
                _interval(tournament.points(i)) if tournament.of_row(i) else None for i in number
            ],
            "first_seat": _interval(first_seat(tournament.matches)),
            "decisions_per_round": _interval(round_length(tournament.matches)),
        }
    return {
        "complete": True,
        "format": FORMAT,
        "plan": dict(plan),
        "failures": [asdict(failure) for failure in tournament.failures],
        "out": [failure.agent for failure in tournament.failures],
        "counted": sorted(tournament.played),
        "summary": summary,
        "cells": [
            {
                "row": row,
                "column": column,
                "won": _interval(match.win_rate(place)),
                "points_per_round": _interval(match.points_per_round(place)),
            }
            for (row, column), (match, place) in sorted(tournament.cells.items())
        ],
        "columns": {
            "first": "place of the line-up that had the first decision",
            "winner": "place of the line-up; -1 blocked, -2 cut off",
            "rotation": "the agent of place i sits in seat (i + rotation) % players",
            "points_i": "points of place i",
        },
    }


def _interval(value: Estimate | Mean) -> list[float | None]:
    ends = (value.value, value.low, value.high)
    return [float(end) if np.isfinite(end) else None for end in ends]


def from_json(
    results: Mapping[str, Any], path: Path, read: Callable[[Path, int], dict[int, Rounds]]
) -> Tournament:
    """A tournament from what `as_json` wrote and its rounds.

    Raises:
        FolderError: it is not complete, or damaged.
    """
    if not results["complete"]:
        raise FolderError(f"the tournament in {path} is not complete: go on with it by --resume")
    plan = results["plan"]
    try:
        names = tuple(agent["name"] for agent in plan["agents"])
        lineups = [tuple(lineup) for lineup in plan["matches"]]
        rules = Rules.make(plan["rules"], num_players=plan["players"])
        rows = read(path / ROUNDS, rules.num_players)
        if sorted(rows) != results["counted"]:
            raise FolderError(f"{path / ROUNDS} does not hold the matches that count")
        return Tournament(
            agents=names,
            played={
                number: (
                    lineups[number],
                    MatchResult(
                        names=tuple(names[i] for i in lineups[number]),
                        rules=rules,
                        seed=plan["seed"],
                        max_decisions=plan["max_decisions"],
                        rows=rows[number],
                        games=plan["games"],
                    ),
                )
                for number in results["counted"]
            },
            failures=tuple(
                Failure(**{**failure, "lineup": tuple(failure["lineup"])})
                for failure in results["failures"]
            ),
            rules=rules,
        )
    except (KeyError, TypeError, IndexError) as error:
        raise FolderError(f"{path} is damaged: {type(error).__name__}: {error}") from error
