"""What came out of a match: every round, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eval.arguments import whole_number
from eval.estimates import Estimate, Mean, estimate, mean_per_round
from eval.floor import BLOCKED, TRUNCATED, Rounds
from uno_env.game import scoring
from uno_env.game.rules import Rules


@dataclass(frozen=True)
class MatchResult:
    """What came out of a match: D deals, each played in P rotations by P agents.

    In rotation r the agent of place i of the line-up sits in seat ``(i + r) % P``. What is won or
    lost is a round, or with `games` a whole game.
    """

    names: tuple[str, ...]
    """The line-up."""
    rules: Rules
    seed: int
    max_decisions: int
    rows: Rounds
    """Every round."""
    games: bool = False

    @property
    def players(self) -> int:
        """P."""
        return len(self.names)

    @property
    def deals(self) -> int:
        """D."""
        return int(self.rows.deal[-1]) + 1

    @property
    def rounds(self) -> int:
        """Rounds played: D x P, or those of all games."""
        return len(self.rows.winner)

    @property
    def winner(self) -> NDArray[np.int8]:
        """(D, P) place of the winner by deal and rotation, or `BLOCKED`, or `TRUNCATED`.

        Of whole games, the winner of the last round, which need not have won the game.
        """
        return self.rows.winner[self._last].reshape(-1, self.players)

    @property
    def points(self) -> NDArray[np.int32]:
        """(D, P, P) points by deal, rotation and place; of whole games the totals."""
        return self._by_game(self.rows.points).reshape(-1, self.players, self.players)

    @property
    def decisions(self) -> NDArray[np.int32]:
        """(D, P) decisions made by deal and rotation; in whole games over all rounds."""
        return self._by_game(self.rows.decisions).reshape(-1, self.players)

    def _by_game(self, values: NDArray[Any]) -> NDArray[Any]:
        """What rounds have, summed over those of each game."""
        return np.add.reduceat(values, np.flatnonzero(self.rows.number == 0), axis=0)

    @cached_property
    def won(self) -> NDArray[np.float64]:
        """(D, P, P) share of each round or game, by deal and rotation, that each place won.

        Those who share the win of a game have equal parts of it; nobody has won a round that was
        blocked or cut off, or a game with a round that was cut off.
        """
        winner = self.winner[..., None]
        if not self.games:
            return (winner == np.arange(self.players)).astype(np.float64)
        totals = self.points.reshape(-1, self.players)
        winners = scoring.game_winners(self.rules, totals).astype(np.float64)
        winners /= np.maximum(winners.sum(axis=1, keepdims=True), 1)
        over = scoring.game_over(self.rules, totals)[:, None] & (winner.reshape(-1, 1) != TRUNCATED)
        return (winners * over).reshape(-1, self.players, self.players)

    @property
    def _last(self) -> NDArray[np.intp]:
        """The row of the last round of each deal and rotation."""
        return np.flatnonzero(np.append(self.rows.number[1:] == 0, True))

    @property
    def wins(self) -> NDArray[np.float64]:
        """Rounds, or games, won by each place: (P,) float64."""
        return self.won.sum(axis=(0, 1))

    @property
    def blocked(self) -> int:
        """Rounds that were blocked."""
        return int(np.count_nonzero(self.rows.winner == BLOCKED))

    @property
    def truncated(self) -> int:
        """Rounds that were cut off; nobody won them."""
        return int(np.count_nonzero(self.rows.winner == TRUNCATED))

    def shares(self, place: int = 0) -> NDArray[np.float64]:
        """The share of each deal's rounds, or games, that a place won: (D,) float64.

        Raises:
            ValueError: the line-up has no such place.
        """
        place = whole_number("place", place, 0, self.players - 1)
        return self.won[..., place].mean(axis=1)

    def win_rate(self, place: int = 0) -> Estimate:
        """The share of all rounds, or games, that a place won, paired over a deal's rotations.

        Raises:
            ValueError: the line-up has no such place.
        """
        return estimate(self.shares(place))

    def per_deal(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """What rounds have, (R,) or (R, k), summed over each deal: (D,) or (D, k) float64."""
        new = np.flatnonzero(np.diff(self.rows.deal, prepend=-1))
        return np.add.reduceat(values.astype(np.float64), new, axis=0)

    @cached_property
    def rounds_per_deal(self) -> NDArray[np.float64]:
        """(D,) float64."""
        return self.per_deal(np.ones(self.rounds))

    @property
    def paired_variance(self) -> float:
        """The variance of the first agent's share of wins, to that from as many independent deals.

        Below 1 where the rotations of a deal make up for its luck; NaN where there is no variance.
        """
        own = self.won[..., 0]
        alone = float(own.var(axis=0).mean())
        return float(own.mean(axis=1).var()) * self.players / alone if alone else float("nan")

    def points_per_round(self, place: int = 0) -> Mean:
        """Points per round of a place."""
        return mean_per_round(self.per_deal(self.rows.points[:, place]), self.rounds_per_deal)

    @property
    def mean_points(self) -> NDArray[np.float64]:
        """Points per round of each place: (P,) float64."""
        return self.rows.points.mean(axis=0)

    @property
    def first_seat(self) -> Estimate:
        """The share of rounds won by whoever had the first decision."""
        return first_seat([self])

    @property
    def mean_decisions(self) -> float:
        """Decisions per round."""
        return float(self.rows.decisions.mean())

    def __str__(self) -> str:
        """Some lines for people, about the first agent and the table it sat at."""
        unit = "games" if self.games else "rounds"
        own, *others = self.mean_points
        return "\n".join(
            [
                f"{self.names[0]} won {self.win_rate()} % of {unit} against {self.opponents} "
                f"(even: {100 / self.players:.1f})",
                f"{describe(self)}; 95% interval",
                f"points per round: {own:.1f}, each of the others {np.mean(others):.1f}",
                f"the first to decide won {self.first_seat} % of rounds; "
                f"{self.mean_decisions:.1f} decisions per round",
                *self._pairing_line(),
                *cut_short([self]),
            ]
        )

    def _pairing_line(self) -> list[str]:
        saved = 1 - self.paired_variance
        if not saved > 0:
            return []
        return [f"the same deals from every seat took {100 * saved:.0f}% off the variance"]

    @property
    def opponents(self) -> str:
        """Whom the first agent met."""
        if self.players == 2:
            return self.names[1]
        return f"a table of {', '.join(dict.fromkeys(self.names[1:]))}"


def pooled(
    matches: Sequence[MatchResult], values: Callable[[MatchResult], NDArray[Any]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What rounds have, summed over each deal of several matches on the same deals, and rounds.

    Returns:
        Two arrays (D,) float64.
    """
    sums = np.sum([match.per_deal(values(match)) for match in matches], axis=0)
    return sums, np.sum([match.rounds_per_deal for match in matches], axis=0)


def first_seat(matches: Sequence[MatchResult]) -> Estimate:
    """The share of rounds won by whoever had the first decision."""
    sums, rounds = pooled(matches, lambda match: match.rows.winner == match.rows.first)
    if not matches[0].games:
        return estimate(sums / rounds, float(rounds.mean()))
    mean = mean_per_round(sums, rounds)
    return Estimate(mean.value, max(mean.low, 0.0), min(mean.high, 1.0))


def round_length(matches: Sequence[MatchResult]) -> Mean:
    """Decisions per round."""
    return mean_per_round(*pooled(matches, lambda match: match.rows.decisions))


def cut_short(matches: Sequence[MatchResult]) -> list[str]:
    """Lines about rounds that nobody won, if there are any."""
    blocked = sum(match.blocked for match in matches)
    truncated = sum(match.truncated for match in matches)
    lines = [f"{blocked:,} rounds were blocked: nobody won them"] if blocked else []
    if truncated:
        what = "nobody won them" + (", or the games they belong to" if matches[0].games else "")
        cap = f"{matches[0].max_decisions:,} decisions"
        lines.append(f"{truncated:,} rounds were cut off after {cap}: {what}")
    return lines


def describe(match: MatchResult) -> str:
    """What was played, for the foot of a table."""
    switches = [word for word in str(match.rules).split() if not word.startswith("num_players=")]
    number = f"{match.deals * match.players:,}"
    what = f"{number} games, {match.rounds:,} rounds" if match.games else f"{number} rounds"
    return (
        f"{' '.join(switches)}, {match.players} players: {match.deals:,} deals from every seat = "
        f"{what}, seed {match.seed}"
    )
