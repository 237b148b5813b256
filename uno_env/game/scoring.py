"""Points, totals, the winners of a game, and rewards.

The rules are in the rulebook's section "The end of a round and of a game".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uno_env.game.cards import (
    KIND_BITS,
    NO_COLOUR,
    NUM_COLOURED_SYMBOLS,
    NUM_COLOURS,
    WILD_KINDS,
    Symbol,
    Words,
    set_sizes,
)
from uno_env.game.rules import NUM_PARTNERS, Rules, cached_by_rules
from uno_env.game.state import Phase, Rows, State


@cached_by_rules
def card_points(rules: Rules) -> NDArray[np.int32]:
    """Points of each kind of card: (55,) int32."""
    symbols = [*range(Symbol.SKIP), *[rules.action_points] * (NUM_COLOURED_SYMBOLS - Symbol.SKIP)]
    values = symbols * NUM_COLOURS + [rules.wild_points] * len(WILD_KINDS)
    points = np.array(values, dtype=np.int32)
    points.flags.writeable = False
    return points


@cached_by_rules
def _cards_by_points(rules: Rules) -> tuple[NDArray[np.int32], Words]:
    """The different values of cards (V,), and the cards of each as sets (V, 2)."""
    points = card_points(rules)
    values = np.unique(points[points > 0])
    sets = [np.bitwise_or.reduce(KIND_BITS[points == value], axis=0) for value in values]
    return values, np.array(sets)


def hand_points(rules: Rules, hands: Words) -> NDArray[np.int32]:
    """Points of the cards in each hand: (..., 2) uint64 -> (...) int32."""
    values, sets = _cards_by_points(rules)
    return set_sizes(hands[..., None, :] & sets) @ values


def end_round(state: State, rows: Rows, winners: NDArray[np.integer]) -> None:
    """End the round of `rows`, won by the seats `winners` (n,) that have gone out.

    `winner` scoring: the winner takes the points of all other hands, so of all hands, its own being
    empty. `lowest`: each player's own cards are added to that player's total.
    """
    points = hand_points(state.rules, state.hands[rows])
    if state.rules.partners:
        points = _points_of_pairs(state.rules, points, winners)
    elif state.rules.scoring == "winner":
        total = points.sum(axis=1)
        points[:] = 0
        points[np.arange(len(rows)), winners] = total
    state.points[rows] = points
    state.scores[rows] += points
    state.winner[rows] = winners
    state.colour_before[rows] = NO_COLOUR  # a last card is not challenged
    state.phase[rows] = Phase.OVER


def _points_of_pairs(
    rules: Rules, in_hand: NDArray[np.int32], winners: NDArray[np.integer]
) -> NDArray[np.int32]:
    """Points (n, 4) where both of a pair have what the pair has ("Partners").

    `winner` scoring: both opponents' hands. `lowest`: the hands of the pair itself.

    Args:
        rules: the rules.
        in_hand: (n, 4) points of the cards in each hand.
        winners: (n,) who has gone out.
    """
    of_pairs = in_hand[:, :2] + in_hand[:, 2:]
    if rules.scoring == "winner":
        pair = winners % 2
        rows = np.arange(len(winners))
        taken = of_pairs[rows, 1 - pair]
        of_pairs[:] = 0
        of_pairs[rows, pair] = taken
    return np.concatenate([of_pairs, of_pairs], axis=1)


def block_round(state: State, rows: Rows) -> None:
    """Nobody can do anything: the round is void, without points or a winner ("A turn")."""
    state.phase[rows] = Phase.OVER


def game_over(rules: Rules, scores: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether a total has reached the target: (N, P) -> (N,)."""
    return np.any(scores >= rules.target, axis=1)


def game_winners(rules: Rules, scores: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Who has won where the game is over: (N, P) -> (N, P) bool.

    The highest total, or under `lowest` the lowest; equal totals win together.
    """
    best = scores.min(axis=1) if rules.scoring == "lowest" else scores.max(axis=1)
    winners: NDArray[np.bool_] = np.equal(scores, best[:, None])
    winners &= game_over(rules, scores)[:, None]
    return winners


def win_rewards(winners: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Zero-sum rewards for winning: (n, P) bool -> (n, P) float32.

    A sole winner gets +1 and each loser -1 / (P - 1); several winners share. Without a winner all
    get zero.
    """
    players = winners.shape[1]
    number = np.maximum(winners.sum(axis=1, keepdims=True), 1)
    share = winners * (players / number)
    share -= winners.any(axis=1, keepdims=True)
    return (share / (players - 1)).astype(np.float32)


@cached_by_rules
def round_rewards(rules: Rules) -> NDArray[np.float32]:
    """`win_rewards` by the seat that went out; the last row, -1, for nobody: (P + 1, P) float32.

    Partners win together.
    """
    players = rules.num_players
    winners = np.eye(players + 1, players, dtype=np.bool_)
    if rules.partners:
        winners |= np.roll(winners, NUM_PARTNERS // 2, axis=1)
    rewards = win_rewards(winners)
    rewards.flags.writeable = False
    return rewards


def point_rewards(rules: Rules, points: NDArray[np.int32]) -> NDArray[np.float32]:
    """Zero-sum rewards for points: (n, P) int32 -> (n, P) float32, in points of the game.

    Each seat gets what it gained on the mean of its opponents; under `lowest`, what it was spared.
    """
    players = points.shape[1]
    gained = points - points.sum(axis=1, keepdims=True) / players
    gained *= players / (players - 1)
    return (-gained if rules.scoring == "lowest" else gained).astype(np.float32)
