"""The results of a tournament and what follows from them: shares, points, ratings; as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval import ratings
from eval.arguments import whole_number
from eval.estimates import Estimate, Mean, estimate, estimate_of_parts, mean_per_round
from eval.floor import MAX_DEALS, Failure, Rounds
from eval.folder import FORMAT, ROUNDS, FolderError
from eval.ratings import Ratings
from eval.results import MatchResult, first_seat, round_length
from eval.seating import Lineup, against_a_table
from uno_env.game.checks import one_of
from uno_env.game.rules import Rules

_LOOKS = 12
"""How often it is shown how the ratings tightened."""


@dataclass(frozen=True)
class Tournament:
    """Matches between agents, all on the same deals.

    A match is a *cell* if one agent, that of the row, sits alone against a table of another, that
    of the column; with two players a cell is read both ways. All others are *mixed* tables.
    `agents` are rows and columns alike, or with `one_row` the first is the only row and the others
    are the columns.
    """

    agents: tuple[str, ...]
    played: Mapping[int, tuple[Lineup, MatchResult]]
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
            if not against_a_table(lineup):
                continue
            cells[lineup[0], lineup[1] - shift] = match, 0
            if len(lineup) == 2 and not self.one_row:
                cells[lineup[1], lineup[0]] = match, 1
        return cells

    @cached_property
    def mixed(self) -> list[tuple[Lineup, MatchResult]]:
        """The mixed tables that count."""
        played = self.played.values()
        return [(lineup, match) for lineup, match in played if not against_a_table(lineup)]

    @property
    def matches(self) -> list[MatchResult]:
        """The matches that count."""
        return [match for _, match in self.played.values()]

    @property
    def rounds(self) -> int:
        """Rounds of all matches."""
        return sum(match.rounds for match in self.matches)

    def own_places(self, row: int) -> list[tuple[MatchResult, list[int]]]:
        """The tables that an agent is judged by, and its places there.

        Those are the cells of its row, in the order of columns, and all mixed tables that it sat
        at.
        """
        cells = [self.cells[key] for key in sorted(self.cells) if key[0] == row]
        return [
            *((match, [place]) for match, place in cells),
            *(
                (match, [place for place, agent in enumerate(lineup) if agent == row])
                for lineup, match in self.mixed
                if row in lineup
            ),
        ]

    @property
    def unit(self) -> str:
        """What is won: rounds or games. There must be a match that counts."""
        return "games" if self.matches[0].games else "rounds"

    def cell(self, row: int, column: int) -> Estimate | None:
        """As `win_rate`; None if there is no such cell."""
        return self.win_rate(row, column) if (row, column) in self.cells else None

    def win_rate(self, row: int, column: int) -> Estimate:
        """The share of rounds, or games, that an agent of the row won against the column's table.

        Raises:
            KeyError: this was not played, or does not count.
        """
        match, place = self.cells[row, column]
        return match.win_rate(place)

    def head_to_head(self, row: int, column: int) -> Estimate | None:
        """Of the rounds, or games, that two agents won at mixed tables where both sat: the row's.

        Where they have several places, what each place won on average counts, so that even is one
        half. None if they won none, or are the same.
        """
        if row == column:
            return None
        won = np.zeros((2, self.matches[0].deals))
        for lineup, match in self.mixed:
            if row in lineup and column in lineup:
                by_place = match.won.sum(axis=1)
                for own, agent in zip(won, (row, column), strict=True):
                    own += by_place[:, np.equal(lineup, agent)].mean(axis=1)
        return estimate_of_parts(won[0], won.sum(axis=0))

    def overall(self, row: int) -> Estimate:
        """What a place of an agent won, the mean over its tables (`own_places`), each alike.

        The interval comes from the same deals' sums. At mixed tables a deal has many rounds that
        differ in who sits where, nearly independent of each other.
        """
        shares = [
            np.mean([match.shares(place) for place in places], axis=0)
            for match, places in self.own_places(row)
        ]
        mixed = sum(row in lineup for lineup, _ in self.mixed)
        return estimate(np.mean(shares, axis=0), max(mixed * self.rules.num_players, 1))

    def points(self, row: int) -> Mean:
        """Points per round of a place of an agent, over its tables (`own_places`)."""
        own = [(match, place) for match, places in self.own_places(row) for place in places]
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
                _interval(tournament.overall(i)) if tournament.own_places(i) else None
                for i in number
            ],
            "points_per_round": [
                _interval(tournament.points(i)) if tournament.own_places(i) else None
                for i in number
            ],
            "first_seat": _interval(first_seat(tournament.matches)),
            "decisions_per_round": _interval(round_length(tournament.matches)),
        }
    if tournament.mixed:
        summary["head_to_head"] = [
            [_interval(share) if (share := tournament.head_to_head(i, j)) else None for j in number]
            for i in number
        ]
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
    results: Mapping[str, Any], path: Path, read: Callable[..., dict[int, Rounds]]
) -> Tournament:
    """A tournament from what `as_json` wrote and its rounds.

    Args:
        results: what was written.
        path: the folder.
        read: `eval.folder.rounds_from_csv`.

    Raises:
        FolderError: it is not complete, or damaged.
    """
    if not results["complete"]:
        raise FolderError(f"the tournament in {path} is not complete: go on with it by --resume")
    try:
        return _tournament_of(results, path, read)
    except (KeyError, TypeError, ValueError) as error:
        raise FolderError(f"{path} is damaged: {type(error).__name__}: {error}") from error


def _tournament_of(
    results: Mapping[str, Any], path: Path, read: Callable[..., dict[int, Rounds]]
) -> Tournament:
    """The same. Raises all that `from_json` catches, where a value is not what `plan_of` says."""
    plan = results["plan"]
    names = _names_of(plan["agents"])
    rules = Rules.parse(plan["rules"], num_players=plan["players"])
    lineups = _lineups_of(plan["matches"], len(names), rules.num_players)
    games = one_of("games", plan["games"], True, False)
    deals = whole_number("deals", plan["deals"], 1, MAX_DEALS)
    match: dict[str, Any] = {
        "seed": whole_number("seed", plan["seed"], 0),
        "max_decisions": whole_number("max_decisions", plan["max_decisions"], 1),
    }
    rows = read(path / ROUNDS, rules.num_players, deals, games=games)
    counted = sorted(rows)
    if counted != results["counted"] or any(not 0 <= i < len(lineups) for i in counted):
        raise FolderError(f"{path / ROUNDS} does not hold the matches that count")
    return Tournament(
        agents=names,
        played={
            number: (
                lineups[number],
                MatchResult(
                    names=tuple(names[i] for i in lineups[number]),
                    rules=rules,
                    rows=rows[number],
                    games=games,
                    **match,
                ),
            )
            for number in counted
        },
        failures=tuple(Failure.of(failure) for failure in results["failures"]),
        rules=rules,
    )


def _names_of(agents: Any) -> tuple[str, ...]:
    names = tuple(agent["name"] for agent in agents)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError(f"agents {names!r}: allowed are names that differ")
    return names


def _lineups_of(matches: Any, agents: int, players: int) -> list[Lineup]:
    for lineup in matches:
        for agent in lineup:
            whole_number("matches", agent, 0, agents - 1)
        if len(lineup) != players or len(set(lineup)) < 2:
            raise ValueError(
                f"matches: {lineup!r}: allowed are line-ups of {players}, not all of them the same"
            )
    return [tuple(lineup) for lineup in matches]
