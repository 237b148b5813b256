"""Self-play: one network in all seats, and what each seat learns from.

::

    batch = GameBatch("angry_birds", num_games=1024)
    for _ in range(updates):
        batch.reset()
        data = collect_rounds(batch, act, rng)
        advantages = data.gae(data.extras["value"])

`collect_rounds` plays whole rounds. What is common elsewhere, a fixed number of decisions with the
value of the next state in place of what was cut off, does not suit a table: a seat that has decided
may wait long for its next decision, so at any moment most trajectories hang in the air, and at the
end each loser's reward belongs to a decision of some rollouts ago. With whole rounds every reward
falls into the data that it is for and nothing has to be estimated. Every round that was dealt is in
the data, so that short ones are not seen more often than they are played.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uno_env.game import scoring
from uno_env.game.actions import NUM_ACTIONS
from uno_env.game.checks import one_of, whole_number
from uno_env.game.engine import GameBatch
from uno_env.game.observation import OBSERVATION_SIZE
from uno_env.game.rules import MAX_CYCLES

Act: TypeAlias = Callable[[NDArray[np.uint8], NDArray[np.bool_], np.random.Generator], Any]
"""Observations (B, F), masks (B, 84) and chance to B action ids; or to these and a dict of arrays
with B rows, such as log-probabilities and values, which are kept beside them."""


@dataclass(frozen=True)
class Trajectories:
    """The decisions of N rounds by P seats: T rows, one for each decision.

    A trajectory is what one seat saw and did in one round. Its rows stand together, in order of
    time; the trajectories stand in the order of games and, within one, of seats. So row ``t + 1``
    follows row ``t`` in the same trajectory, unless ``done[t]``. Seats that had nothing to decide
    have no rows, but their reward in `rewards`.
    """

    observation: NDArray[np.uint8]
    """(T, F) what the seat knew."""
    mask: NDArray[np.bool_]
    """(T, A) its legal actions."""
    action: NDArray[np.intp]
    """(T,) what it did."""
    reward: NDArray[np.float32]
    """(T,) the seat's reward of the round at the last row of its trajectory, else zero."""
    terminated: NDArray[np.bool_]
    """(T,) the last row of a trajectory whose round came to its end, if by being blocked."""
    truncated: NDArray[np.bool_]
    """(T,) the last row of a trajectory whose round was cut off."""
    game: NDArray[np.intp]
    """(T,) index in the batch."""
    seat: NDArray[np.intp]
    """(T,) the seat that decided."""
    decision: NDArray[np.intp]
    """(T,) which decision of the round it was, all seats counted, from 0."""
    extras: dict[str, NDArray[Any]]
    """What the policy gave beside its actions, by name: (T, ...) each."""
    rewards: NDArray[np.float32]
    """(N, P) of every seat, zero-sum; zeros where the round was blocked or cut off, or was over
    before."""

    def __len__(self) -> int:
        """T."""
        return len(self.action)

    @property
    def done(self) -> NDArray[np.bool_]:
        """The last row of each trajectory: (T,) bool."""
        return self.terminated | self.truncated

    @property
    def returns(self) -> NDArray[np.float32]:
        """The reward that each row's trajectory ends with, undiscounted: (T,) float32."""
        return self.rewards[self.game, self.seat]

    def gae(
        self,
        value: ArrayLike,
        *,
        gamma: float = 1.0,
        lam: float = 0.95,
        final_value: ArrayLike = 0.0,
    ) -> NDArray[np.float32]:
        """Generalised advantage estimates, over each trajectory by itself: (T,) float32.

        Args:
            value: (T,) the value of each row to its seat.
            gamma: discount per decision of the seat.
            lam: 1 compares what came with `value`, 0 only the next value with this.
            final_value: the value to its seat of each round that was cut off, where it was: one for
                each true entry of `truncated`, or one for all. `collect_rounds` leaves these games
                as they were when cut off, so that
                ``batch.observe(data.seat[data.truncated], data.game[data.truncated])`` is what
                there was to be seen.

        Raises:
            ValueError: values of another shape.
        """
        values = np.asarray(value, np.float32)
        if values.shape != self.action.shape:
            raise ValueError(f"value has the shape {values.shape}: allowed is {self.action.shape}")
        finals = np.asarray(final_value, np.float32)
        number_cut = int(self.truncated.sum())
        if finals.shape not in ((), (number_cut,)):
            raise ValueError(
                f"final_value has the shape {finals.shape}: allowed is ({number_cut},), one for "
                "each trajectory that was cut off, or ()"
            )
        following = np.append(values[1:], np.float32(0))[: len(values)]
        following[self.terminated] = 0
        following[self.truncated] = finals
        advantage = self.reward + np.float32(gamma) * following - values
        for rows in self._from_the_end():
            advantage[rows] += np.float32(gamma * lam) * advantage[rows + 1]
        return advantage

    def _from_the_end(self) -> list[NDArray[np.intp]]:
        """The rows one before the last of their trajectory, then those two before it, and so on."""
        rows, ends = np.arange(len(self)), self.done.nonzero()[0]
        to_go = ends[np.searchsorted(ends, rows)] - rows
        counts = np.bincount(to_go, minlength=1)
        return np.split(np.argsort(to_go, kind="stable"), np.cumsum(counts)[:-1])[1:]


def collect_rounds(
    batch: GameBatch,
    act: Act,
    rng: np.random.Generator,
    *,
    reward: str = "win",
    max_cycles: int = MAX_CYCLES,
    skip_forced: bool = True,
) -> Trajectories:
    """Play every round of a batch from where it stands to its end, and return what each seat saw.

    Rounds that are over are left alone: deal with ``batch.reset()`` before each call. Where this
    raises, the batch is as it was.

    Args:
        batch: N games of P seats.
        act: decides for whichever seats are to act, in one call for all rounds that go on. It gets
            copies of what is kept.
        rng: handed on to `act`.
        reward: ``"win"`` or ``"points"``, as in `uno_env.env`.
        max_cycles: decisions after which a round is cut off, forced ones counted.
        skip_forced: play the only legal action, where there is one alone, without asking for it and
            without a row: nothing can be learnt from it. If false, `act` is asked for these too.

    Raises:
        ValueError: an answer that is not one legal action for each game (the message names the
            first game concerned and the reason), extras that have another number of rows or come
            only sometimes, no round to play, or an argument that is not allowed.
        TypeError: actions that are no integers, or an argument of another type.
    """
    if not isinstance(batch, GameBatch):
        raise TypeError(f"batch={batch!r}: allowed is a GameBatch")
    if not callable(act):
        raise TypeError(f"act={act!r}: allowed is something that can be called")
    by_points = one_of("reward", reward, "win", "points") == "points"
    max_cycles = whole_number("max_cycles", max_cycles, 1)
    games = batch.copy()
    over = games.done
    live = (~over).nonzero()[0]
    if not live.size:
        raise ValueError("every round is over: deal with next_round or reset before collecting")

    rewards = np.zeros((games.num_games, games.rules.num_players), np.float32)
    collected = _Collected(games, act, rng)
    for decision in range(max_cycles):
        asked = games.count_legal(live) > (1 if skip_forced else 0)
        actions = games.legal_of(live).argmax(axis=1)
        if asked.any():
            actions[asked] = collected.ask(live[asked], decision)
        won, ended = games.step(actions, live)
        if ended.any():
            rows, live = live[ended], live[~ended]
            over[rows] = True
            points = games.points[rows]
            rewards[rows] = scoring.point_rewards(games.rules, points) if by_points else won[ended]
            if not live.size:
                break
    trajectories = collected.by_seat(rewards, over)
    batch.state = games.state
    return trajectories


class _Collected:
    """Decisions in the order in which they were made, a piece for each call of the policy."""

    def __init__(self, games: GameBatch, act: Act, rng: np.random.Generator) -> None:
        self.games, self.act, self.rng = games, act, rng
        # An empty piece gives the arrays their shapes where nothing is ever asked.
        nothing = np.zeros(0, np.intp)
        self.pieces: list[tuple[NDArray[Any], ...]] = [
            (
                np.zeros((0, OBSERVATION_SIZE), np.uint8),
                np.zeros((0, NUM_ACTIONS), np.bool_),
                *(nothing,) * 4,
            )
        ]
        self.extras: list[dict[str, NDArray[Any]]] = []

    def ask(self, rows: NDArray[np.intp], decision: int) -> NDArray[np.intp]:
        """What the policy does in some games: (n,) legal actions, noted."""
        observation, mask = self.games.observe(where=rows), self.games.legal_of(rows)
        answer = self.act(observation.copy(), mask.copy(), self.rng)
        pair = isinstance(answer, tuple) and len(answer) == 2
        actions, extras = answer if pair else (answer, {})
        actions = self.games.check(actions, rows)
        seats = self.games.player[rows].astype(np.intp)
        self.pieces.append(
            (observation, mask, actions, rows, seats, np.full(rows.size, decision, np.intp))
        )
        self.extras.append(self._checked(extras, rows.size))
        return actions

    def _checked(self, extras: Any, number: int) -> dict[str, NDArray[Any]]:
        if not isinstance(extras, Mapping):
            raise TypeError(f"act gave {type(extras).__name__} beside its actions: allowed is dict")
        # Copied, since a policy may give the same memory again in its next call.
        arrays = {name: np.asarray(values).copy() for name, values in extras.items()}
        if self.extras and arrays.keys() != self.extras[0].keys():
            raise ValueError(
                f"act gave {list(arrays)} beside its actions, and {list(self.extras[0])} before"
            )
        for name, array in arrays.items():
            if array.shape[:1] != (number,):
                raise ValueError(
                    f"act gave {name!r} of the shape {array.shape}: needed are {number} rows, one "
                    "for each observation"
                )
            first = self.extras[0][name] if self.extras else array
            if (array.dtype, array.shape[1:]) != (first.dtype, first.shape[1:]):
                raise ValueError(
                    f"act gave {name!r} as {array.dtype} in rows of {array.shape[1:]}, and as "
                    f"{first.dtype} in rows of {first.shape[1:]} before"
                )
        return arrays

    def by_seat(self, rewards: NDArray[np.float32], over: NDArray[np.bool_]) -> Trajectories:
        """The decisions put in the order of games, seats and time.

        Args:
            rewards: (N, P) of each seat.
            over: (N,) whether each round came to its end.
        """
        observation, mask, action, game, seat, decision = (
            np.concatenate(column) for column in zip(*self.pieces, strict=True)
        )
        trajectory = game * rewards.shape[1] + seat
        # Decisions were noted in order of time, which a stable sort keeps.
        order = np.argsort(trajectory, kind="stable")
        game, seat = game[order], seat[order]
        last = np.diff(trajectory[order], append=-1) != 0
        names = self.extras[0] if self.extras else {}
        return Trajectories(
            observation=observation[order],
            mask=mask[order],
            action=action[order],
            reward=np.where(last, rewards[game, seat], np.float32(0)),
            terminated=last & over[game],
            truncated=last & ~over[game],
            game=game,
            seat=seat,
            decision=decision[order],
            extras={
                name: np.concatenate([piece[name] for piece in self.extras])[order]
                for name in names
            },
            rewards=rewards,
        )
