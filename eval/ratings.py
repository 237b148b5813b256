"""Strengths of agents, fitted to all results of a tournament at once.

Whoever sits at a table wins with a chance in proportion to its strength. Between two that is the
model of Bradley & Terry, "Rank analysis of incomplete block designs", Biometrika 39 (1952); at a
larger table, of which only the winner is told, it is the first choice of Plackett and Luce. Ratings
are logarithms of strengths on the usual scale: 400 points are odds of ten to one. Their mean is 0.

The rounds of a deal are not independent, neither its rotations nor what other pairings made of it.
So the covariance comes from sums over whole deals, each an observation of its own (the "sandwich"
of Huber, 1967, by clusters; Liang & Zeger, Biometrika 73, 1986). It also holds where the model does
not fit, for the strengths that describe endless play best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.estimates import Mean, quantile

SCALE = 400 / math.log(10)
"""Points of rating for each unit of the logarithm of strength."""
_STEPS = 100
_SMALL = 1e-10


@dataclass(frozen=True)
class Ratings:
    """Ratings of N agents; NaN for those that nothing compares with the most."""

    names: tuple[str, ...]
    strength: NDArray[np.float64]
    """(N,) logarithms."""
    covariance: NDArray[np.float64]
    """(N, N) of their errors."""
    deals: int

    def rating(self, agent: int) -> Mean:
        """Points of rating with their 95% interval."""
        return self._scaled(self.strength[agent], self.covariance[agent, agent])

    def difference(self, one: int, other: int) -> Mean:
        """By how many points one is rated above another, with its 95% interval."""
        return self._scaled(self.strength[one] - self.strength[other], self._variance(one, other))

    def better(self, one: int, other: int) -> float:
        """The probability that one is better than another, both thought equally likely before."""
        error = math.sqrt(self._variance(one, other))
        difference = float(self.strength[one] - self.strength[other])
        if one == other or math.isnan(difference):
            return 0.5 if one == other else math.nan
        return 0.5 * math.erfc(-difference / (error * math.sqrt(2)))

    def _variance(self, one: int, other: int) -> float:
        own = self.covariance
        return float(own[one, one] + own[other, other] - 2 * own[one, other])

    def _scaled(self, value: float, variance: float) -> Mean:
        half = quantile(self.deals) * math.sqrt(variance)
        return Mean(*(SCALE * float(end) for end in (value, value - half, value + half)))


def fit(
    names: Sequence[str], lineups: Sequence[Sequence[int]], shares: NDArray[np.float64]
) -> Ratings:
    """Fit strengths to results.

    As many rounds are added as strengths are fitted, spread over all line-ups, in which all places
    did alike: so that who has won everything is not rated infinitely high, nor a handful of deals
    that happen to agree looks certain. For two agents that is Jeffreys' prior, which takes most of
    the bias out of logarithms of odds (Firth, Biometrika 80, 1993).

    Args:
        names: of N agents.
        lineups: L line-ups of P agents each, by index.
        shares: (D, L, P) float64, what part of each deal's rounds each place won.

    Raises:
        ValueError: no line-up, or no deal.
    """
    if not lineups or not len(shares):
        raise ValueError("ratings need at least one line-up and one deal")
    number = len(names)
    rated = _largest_group(number, lineups)
    index = {agent: i for i, agent in enumerate(rated)}
    kept = [i for i, lineup in enumerate(lineups) if lineup[0] in index]
    seats = np.array([[index[agent] for agent in lineups[i]] for i in kept])  # (L, P)
    deals, players = len(shares), seats.shape[1]
    wins = shares[:, kept] * players  # (D, L, P), in rounds: a deal has as many as places

    added = (len(rated) - 1) / len(kept)
    won = wins.sum(axis=0) + added / players  # (L, P)
    strength, per_round = _solve(won, seats, len(rated))
    information = _information(won.sum(axis=1), per_round, seats, len(rated))

    # Of each deal: what every agent won above what it was to be expected to.
    expected = wins.sum(axis=2, keepdims=True) * per_round
    score = np.zeros((deals, len(rated)))
    for place in range(players):
        for i, agent in enumerate(seats[:, place]):
            score[:, agent] += wins[:, i, place] - expected[:, i, place]
    spread = score.T @ score * deals / max(deals - 1, 1)
    spread += added * _spread_when_even(per_round, seats, len(rated))
    inverse = _inverse(information)

    whole = np.full(number, math.nan)
    whole[rated] = strength
    covariance = np.full((number, number), math.nan)
    covariance[np.ix_(rated, rated)] = inverse @ spread @ inverse
    return Ratings(tuple(names), whole, covariance, deals)


def _solve(
    won: NDArray[np.float64], seats: NDArray[np.intp], number: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Newton's method on a concave likelihood: strengths (N,), chances of each place (L, P)."""
    strength = np.zeros(number)
    rounds = won.sum(axis=1)
    for _ in range(_STEPS):
        chances = _chances(strength, seats)
        gradient = np.bincount(
            seats.ravel(), (won - rounds[:, None] * chances).ravel(), minlength=number
        )
        step = _inverse(_information(rounds, chances, seats, number)) @ gradient
        strength = strength + step / max(1.0, float(np.abs(step).max()))  # one e-fold at most
        if np.abs(step).max() < _SMALL:
            break
    strength -= strength.mean()
    return strength, _chances(strength, seats)


def _chances(strength: NDArray[np.float64], seats: NDArray[np.intp]) -> NDArray[np.float64]:
    weights = np.exp(strength - strength.max())[seats]
    return weights / weights.sum(axis=1, keepdims=True)


def _information(
    rounds: NDArray[np.float64],
    chances: NDArray[np.float64],
    seats: NDArray[np.intp],
    number: int,
) -> NDArray[np.float64]:
    """Minus the second derivative of the likelihood: (N, N)."""
    by_agent = np.zeros((len(seats), number))
    np.add.at(by_agent, (np.arange(len(seats))[:, None], seats), chances)
    weighted = rounds[:, None] * by_agent
    return np.diag(weighted.sum(axis=0)) - by_agent.T @ weighted


def _spread_when_even(
    chances: NDArray[np.float64], seats: NDArray[np.intp], number: int
) -> NDArray[np.float64]:
    """How a round of each line-up that all are as likely to win strays from the fit: (N, N)."""
    rows = np.arange(len(seats))[:, None]
    even, fitted = np.zeros((2, len(seats), number))
    np.add.at(even, (rows, seats), 1 / seats.shape[1])
    np.add.at(fitted, (rows, seats), chances)
    return np.diag(even.sum(axis=0)) - even.T @ fitted - fitted.T @ even + fitted.T @ fitted


def _inverse(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse among strengths whose mean is 0."""
    mean = np.full_like(information, 1 / len(information))
    return np.linalg.inv(information + mean) - mean


def _largest_group(number: int, lineups: Sequence[Sequence[int]]) -> NDArray[np.intp]:
    """The agents that line-ups connect with the most others, in order."""
    group = np.arange(number)
    for lineup in lineups:
        group[np.isin(group, group[list(lineup)])] = group[list(lineup)].min()
    return np.flatnonzero(group == np.bincount(group).argmax())
