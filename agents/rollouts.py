"""Rollouts: games played to the end of their round by one policy in all seats, many at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from uno_env.game.engine import GameBatch
from uno_env.game.scoring import point_rewards
from uno_env.game.state import State

ROOM = 16_384
"""Games in play at once, about: a step of many costs little more than a step of few, but beyond
this the processor's caches no longer hold them."""
OBSERVER = 0
"""The seat that rollouts are worth something for, as in `uno_env.determinize`."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some games with what is played first in them, all under the same rules."""

    batch: GameBatch
    """n games, which are played on in place."""
    actions: NDArray[np.intp]
    """(n,) the first action of each."""
    at: NDArray[np.intp]
    """(n,) where the value of each goes."""


def play_out(
    parts: Iterable[Part],
    values: NDArray[np.float32],
    policy: Agent,
    rng: np.random.Generator,
    *,
    max_decisions: int,
    longest: float = 0.0,
    points: bool = False,
) -> None:
    """Play games to the end of their rounds and note what they were worth to the `OBSERVER`.

    A round won is worth 1, a lost one 0; one that is blocked or cut off counts as an even share. As
    points it is worth what `point_rewards` says, and 0 when cut off.

    Args:
        parts: the games; taken one after the other as there is room for them.
        values: where values go, one for each game.
        policy: who plays all seats.
        rng: the policy's chance.
        max_decisions: rounds that go on for longer are cut off.
        longest: the share of the rounds that may be cut off once all others are over: few games
            take as long for a step as hundreds.
        points: whether points count.
    """
    waiting = iter(parts)
    left = values.size
    live = _take_in(None, waiting)
    while live is not None:
        _step(live, policy, rng)
        over = live.batch.done | (live.age >= max_decisions)
        count = int(np.count_nonzero(over))
        if live.at.size == left and left - count <= longest * values.size:
            over[:] = True
            count = left
        # Games that are over cost little, and moving the others costs something too.
        if 4 * count < over.size:
            continue
        _note(live, over, values, points)
        left -= count
        live = _take_in(live.take(~over) if count < over.size else None, waiting)


@dataclass(slots=True)
class _Live:
    """Games in play."""

    batch: GameBatch
    at: NDArray[np.intp]
    age: NDArray[np.int32]
    """(n,) decisions so far."""

    def take(self, some: NDArray[np.bool_]) -> _Live:
        return _Live(self.batch.take(some), self.at[some], self.age[some])


def _take_in(live: _Live | None, waiting: Iterator[Part]) -> _Live | None:
    """Begin with further parts while there is room."""
    together = [] if live is None else [live]
    while sum(games.at.size for games in together) < ROOM // 2:
        part = next(waiting, None)
        if part is None:
            break
        part.batch.step(part.actions)
        together.append(_Live(part.batch, part.at, np.ones(part.at.size, np.int32)))
    if len(together) < 2:
        return together[0] if together else None
    return _Live(
        _join([games.batch for games in together]),
        np.concatenate([games.at for games in together]),
        np.concatenate([games.age for games in together]),
    )


def _join(batches: list[GameBatch]) -> GameBatch:
    arrays = [batch.state.arrays() for batch in batches]
    joined = {name: np.concatenate([some[name] for some in arrays]) for name in arrays[0]}
    return GameBatch.from_state(State(batches[0].rules, **joined))


def _step(live: _Live, policy: Agent, rng: np.random.Generator) -> None:
    """One decision in each game; where only one action is legal the policy is not asked."""
    batch = live.batch
    mask = batch.legal
    actions = mask.argmax(axis=1)
    asked = np.flatnonzero(batch.count_legal(batch.state.all_rows) > 1)
    if asked.size:
        actions[asked] = policy.act(batch.observe(where=asked), mask[asked], rng)
    batch.step(actions)
    live.age += 1


def _note(live: _Live, over: NDArray[np.bool_], values: NDArray[np.float32], points: bool) -> None:
    """Write down what games that are over were worth."""
    batch, players = live.batch, live.batch.rules.num_players
    if points:
        worth = point_rewards(batch.rules, batch.points[over])[:, OBSERVER]
    else:
        winner = batch.winner[over]
        worth = np.where(winner < 0, 1 / players, winner == OBSERVER).astype(np.float32)
    values[live.at[over]] = worth
