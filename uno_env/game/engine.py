"""`GameBatch`: N games stepped together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uno_env.game import dealing, effects, few, legality, observation, reasons, scoring, setup
from uno_env.game.actions import ACTIONS, NUM_ACTIONS
from uno_env.game.cards import set_sizes
from uno_env.game.checks import MAX_SEED, whole_number, whole_numbers
from uno_env.game.play import IDLE, play, settle
from uno_env.game.position import Position
from uno_env.game.rules import Rules, interned
from uno_env.game.state import NO_SEAT, Phase, Rows, State

_OVER = int(Phase.OVER)
FEW_TO_STEP, _FEW_TO_OBSERVE = 16, 6
"""Up to so many games it is faster to step, or observe, one by one (`few`)."""
MOST_IDLE = 1024
"""Up to so many games are let idle in a step; with more it is faster to copy the others out and
back."""


class GameBatch:
    """N games of UNO under one set of rules, stepped together.

    A game is dealt when the batch is made. When its round is over it waits until `next_round` or
    `reset` deals anew; until then its row of `legal` is all false and actions for it are ignored.

    Args:
        rules: a `Rules`, the name of a preset, or whatever `Rules.make` takes.
        num_games: N, at least 1.
        seed: 0 to 2^64 - 1; game i has the seed ``seed + i``, modulo 2^64. A game's course depends
            on its own seed and actions alone.

    Games are named by indices from 0; a negative one does not count from the end. Nothing changes
    in a call that raises.

    Raises:
        ValueError: rules that are not allowed, less than one game, a seed out of range.
        TypeError: not whole numbers.
    """

    def __init__(
        self,
        rules: Rules | str | Mapping[str, Any] = "angry_birds",
        num_games: int = 1,
        seed: int = 0,
    ) -> None:
        self.rules = interned(Rules.make(rules))
        num_games = whole_number("num_games", num_games, 1)
        first = np.uint64(whole_number("seed", seed, 0, MAX_SEED))
        self.state = State.empty(self.rules, num_games)
        self.reset(seeds=first + np.arange(num_games, dtype=np.uint64))

    @classmethod
    def from_state(cls, state: State) -> GameBatch:
        """A batch of games that somebody else has set up, which are neither copied nor checked."""
        batch = object.__new__(cls)
        batch.rules = state.rules
        batch.state = state
        return batch

    # ------------------------------------------------------------------ what is to be seen

    @property
    def num_games(self) -> int:
        """N."""
        return self.state.num_games

    @property
    def player(self) -> NDArray[np.uint8]:
        """The seat to act in each game: (N,) uint8. This and what follows are new arrays."""
        return self.state.acting.copy()

    @property
    def legal(self) -> NDArray[np.bool_]:
        """The actions that seat may take: (N, A) bool."""
        if self.num_games == 1:
            return few.legal(self.state, 0)[None]
        return legality.unpack(self.state.legal)

    def legal_of(self, where: ArrayLike) -> NDArray[np.bool_]:
        """`legal` for some of the games: (n, A) bool. Args as for `reset`."""
        return legality.unpack(self.state.legal[self._rows(where)])

    @property
    def done(self) -> NDArray[np.bool_]:
        """Whether the round is over: (N,) bool."""
        return self.state.phase == _OVER

    @property
    def winner(self) -> NDArray[np.int8]:
        """Who went out: (N,) int8; -1 before the end and where the round was blocked."""
        return self.state.winner.copy()

    @property
    def points(self) -> NDArray[np.int32]:
        """Points of this round: (N, P) int32; zeros until it is over."""
        return self.state.points.copy()

    @property
    def scores(self) -> NDArray[np.int32]:
        """Totals of the game so far: (N, P) int32."""
        return self.state.scores.copy()

    @property
    def game_over(self) -> NDArray[np.bool_]:
        """Whether the round is over and a total has reached the target: (N,) bool."""
        return self.done & scoring.game_over(self.rules, self.state.scores)

    @property
    def game_winners(self) -> NDArray[np.bool_]:
        """Who has won the game, once it is over: (N, P) bool."""
        return scoring.game_winners(self.rules, self.state.scores) & self.done[:, None]

    def count_legal(self, where: ArrayLike) -> NDArray[np.uint8]:
        """How many actions are legal in some of the games: (n,) uint8. Args as for `reset`."""
        return set_sizes(self.state.legal[self._rows(where)])

    def observe(
        self, seat: ArrayLike | None = None, where: ArrayLike | None = None
    ) -> NDArray[np.uint8]:
        """What a seat may know, as laid out in `observation`: (N, F) uint8.

        Args:
            seat: an index, or one for each game; by default the seat to act.
            where: which games, as for `reset`; all by default.
        """
        rows = self._rows(where)
        seats = self._seats(seat, rows)
        if 0 < rows.size <= _FEW_TO_OBSERVE:
            each = zip(rows.tolist(), seats.tolist(), strict=True)
            return np.stack([few.observe(self.state, *one) for one in each])
        return observation.observe(self.state, rows, seats)

    def observe_all(
        self, seat: ArrayLike | None = None, where: ArrayLike | None = None
    ) -> NDArray[np.uint8]:
        """The observation, all hands and the draw pile: (N, FULL_SIZE) uint8.

        For critics in training and for players that cheat. Args as for `observe`.
        """
        rows = self._rows(where)
        return observation.observe_all(self.state, rows, self._seats(seat, rows))

    def _seats(self, seat: ArrayLike | None, rows: Rows) -> NDArray[np.intp]:
        if seat is None:
            return self.state.acting[rows].astype(np.intp)
        seats = whole_numbers("seat", seat, 0, self.rules.num_players - 1, np.intp)
        if seats.shape not in ((), rows.shape):
            raise ValueError(f"seats have the shape {seats.shape}: allowed is {rows.shape} or ()")
        return np.broadcast_to(seats, rows.shape)

    def position(self, game: int) -> Position:
        """One game as a readable value."""
        return Position(**setup.read(self.state, self._game(game)))

    def why_illegal(self, game: int, action: int) -> str | None:
        """Why `action` may not be played in a game now, naming the rule; None if it may.

        Raises:
            IndexError: no such game.
            ValueError: `action` is no action id.
            TypeError: not whole numbers.
        """
        action = whole_number("action", action, 0, NUM_ACTIONS - 1)
        return reasons.why_illegal(self.state, self._game(game), action)

    def check(self, actions: ArrayLike, where: ArrayLike | None = None) -> NDArray[np.intp]:
        """The actions as `step` wants them, if every game that is not over may take its own.

        `step` itself trusts its caller; adapters check what comes from outside.

        Args:
            actions: (N,) action ids, or one for each of the games in `where`.
            where: which games, as for `reset`; all by default.

        Raises:
            ValueError: wrong shape, an action out of range, an illegal one, or no game that waits
                for one; the message names the first game concerned and the reason.
            TypeError: not integers.
        """
        rows = self._distinct_rows(where)
        array = _as_actions(actions, rows.size)
        live = self.state.phase[rows] != _OVER
        if rows.size and not live.any():
            raise ValueError("every round is over: deal with next_round or reset before playing on")
        checked = self._in_range(rows, array)
        illegal = live & ~legality.is_legal(self.state.legal[rows], checked)
        if illegal.any():
            at = int(illegal.argmax())
            game, action = int(rows[at]), int(checked[at])
            raise ValueError(
                f"illegal action {ACTIONS[action]} ({action}) of game {game}: "
                f"{self.why_illegal(game, action)}"
            )
        return checked

    def _in_range(self, rows: Rows, actions: NDArray[np.integer]) -> NDArray[np.intp]:
        """The actions (n,), zero in games that are over.

        Raises:
            ValueError: a game that is not over has a number that is no action's.
        """
        live = self.state.phase[rows] != _OVER
        out = live & ((actions < 0) | (actions >= NUM_ACTIONS))
        if out.any():
            at = int(out.argmax())
            raise ValueError(
                f"action {actions[at]} of game {rows[at]}: allowed is a whole number from 0 to "
                f"{NUM_ACTIONS - 1}"
            )
        return np.where(live, actions, 0).astype(np.intp)

    # ------------------------------------------------------------------ dealing

    def reset(self, where: ArrayLike | None = None, seeds: ArrayLike | None = None) -> None:
        """Start new games: totals at zero, a dealer drawn, the first round dealt.

        Args:
            where: which games, as a mask (N,) or as indices, none twice; all by default.
            seeds: a seed from 0 to 2^64 - 1 for each of them, from which their random streams start
                anew. Without, the streams run on.

        Raises:
            IndexError: no such game.
            ValueError: wrong shape, an index given twice, a seed out of range.
            TypeError: not whole numbers.
        """
        rows = self._distinct_rows(where)
        if seeds is not None:
            array = whole_numbers("seed", seeds, 0, MAX_SEED, np.uint64)
            if array.shape != rows.shape:
                raise ValueError(f"seeds have the shape {array.shape}: allowed is {rows.shape}")
            dealing.seed_streams(self.state, rows, array)
        self.state.scores[rows] = 0
        dealing.choose_dealer(self.state, rows)
        self._deal(rows)

    def next_round(self, where: ArrayLike | None = None) -> None:
        """Deal the next round of the same games: totals stay, the next seat clockwise deals.

        Args:
            where: as for `reset`.
        """
        rows = self._distinct_rows(where)
        self.state.dealer[rows] = (self.state.dealer[rows] + 1) % self.rules.num_players
        self._deal(rows)

    def _deal(self, rows: Rows) -> None:
        self.state.points[rows] = 0
        self.state.winner[rows] = NO_SEAT
        dealing.deal_round(self.state, rows)
        _open(self.state, rows)

    def _game(self, game: int) -> int:
        return whole_number("game", game, 0, self.num_games - 1, beyond=IndexError)

    def _rows(self, where: ArrayLike | None) -> Rows:
        """The games of `where`, which may name one twice."""
        if where is None:
            return self.state.all_rows
        array = np.asarray(where)
        if array.dtype == np.bool_:
            if array.shape != (self.num_games,):
                raise ValueError(
                    f"a mask of games has the shape {array.shape}: allowed is ({self.num_games},)"
                )
            return array.nonzero()[0]
        if array.ndim > 1:
            raise ValueError(f"indices of games have the shape {array.shape}: allowed is (n,)")
        last = self.num_games - 1
        return np.atleast_1d(whole_numbers("game", array, 0, last, np.intp, beyond=IndexError))

    def _distinct_rows(self, where: ArrayLike | None) -> Rows:
        """The games of `where`, to write to."""
        rows = self._rows(where)
        if where is not None:
            times = np.bincount(rows, minlength=1)
            if times.max() > 1:
                raise ValueError(
                    f"game {times.argmax()} is given {times.max()} times: allowed is once "
                    "(done flags are a mask when they are bool)"
                )
        return rows

    # ------------------------------------------------------------------ play

    def step(
        self, actions: ArrayLike, where: ArrayLike | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Play one action in each game; those that are over stay as they are.

        The actions are trusted to be legal; `check` makes sure.

        Args:
            actions: (N,) action ids, or one for each of the games in `where`.
            where: which games to step, as for `reset`; all by default.

        Returns:
            Rewards (N, P) float32, zero but in rounds that this step ended (`scoring.win_rewards`),
            and whether each round is over (N,) bool; of the games in `where` alone, if given.

        Raises:
            ValueError: not one action for each game, or a number that is no action's.
            TypeError: not integers.
        """
        rows = self.state.all_rows if where is None else self._distinct_rows(where)
        chosen = _as_actions(actions, rows.size)
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < NUM_ACTIONS:
            chosen = self._in_range(rows, chosen)
        if rows.size > FEW_TO_STEP:
            rewards = self._play(rows, chosen)
        else:
            rewards = np.zeros((rows.size, self.rules.num_players), np.float32)
            uncommon = []
            for i, (game, action) in enumerate(zip(rows.tolist(), chosen.tolist(), strict=True)):
                if not few.step(self.state, game, action):
                    uncommon.append(i)
            if uncommon:
                rewards[uncommon] = self._play(rows[uncommon], chosen[uncommon])
        return rewards, self.state.phase.take(rows) == _OVER

    def _play(self, rows: Rows, actions: NDArray[np.integer]) -> NDArray[np.float32]:
        """Step some games; returns their rewards (n, P)."""
        before = self.state.phase.take(rows) == _OVER
        if rows is self.state.all_rows:
            play(self.state, actions.astype(np.intp, copy=False))
        elif self.num_games - rows.size <= MOST_IDLE:
            everywhere = np.full(self.num_games, IDLE, np.intp)
            everywhere[rows] = actions
            play(self.state, everywhere)
        else:
            games = self.state.take(rows)
            play(games, actions.astype(np.intp, copy=False))
            self.state.put(rows, games)
        ended = ((self.state.phase.take(rows) == _OVER) & ~before).nonzero()[0]
        rewards = np.zeros((rows.size, self.rules.num_players), np.float32)
        if ended.size:
            winners = self.state.winner.take(rows.take(ended))
            rewards[ended] = scoring.round_rewards(self.rules).take(winners, axis=0)
        return rewards

    # ------------------------------------------------------------------ one game

    # For adapters that hold a game or go through a few: its number, and seats and actions, are
    # trusted to be Python integers that there are, so that nothing is checked or made an array.

    def step_one(self, game: int, action: int) -> bool:
        """Step a game if that is quick (`few`); whether it was. A legal action, as for `step`.

        Such a step brings no rewards: the round goes on or is blocked. If it is not quick, nothing
        has changed.
        """
        return few.step(self.state, game, action)

    def observe_one(self, game: int, seat: int) -> NDArray[np.uint8]:
        """`observe` for a seat of one game: (F,) uint8, a new array."""
        return few.observe(self.state, game, seat)

    def legal_one(self, game: int) -> NDArray[np.bool_]:
        """`legal` for one game: (A,) bool, a new array."""
        return few.legal(self.state, game)

    def player_one(self, game: int) -> int:
        """The seat to act in one game."""
        return self.state.acting.item(game)

    def done_one(self, game: int) -> bool:
        """Whether the round of one game is over."""
        return self.state.phase.item(game) == _OVER

    # ------------------------------------------------------------------ copies and positions

    def copy(self) -> GameBatch:
        """An independent copy."""
        return self.from_state(self.state.copy())

    def take(self, indices: ArrayLike) -> GameBatch:
        """An independent batch of some of the games, in that order; an index may come twice.

        Args:
            indices: integers (n,), or a mask (N,).

        Raises:
            IndexError: no such game.
            ValueError: no game at all, or a wrong shape.
            TypeError: not whole numbers.
        """
        rows = self._rows(indices)
        if not rows.size:
            raise ValueError("no game to take: allowed is a batch of at least 1")
        return self.from_state(self.state.take(rows))

    def load(self, game: int, loaded: Position) -> None:
        """Put a position in the place of a game, whose random stream stays.

        An opening card takes effect, and turns in which nothing can be done pass.

        Raises:
            IndexError: no such game.
            ValueError: the position has other rules than the batch.
            TypeError: not a position, or `game` is no whole number.
        """
        if not isinstance(loaded, Position):
            raise TypeError(f"position {loaded!r}: allowed is a Position")
        if loaded.rules != self.rules:
            raise ValueError(
                f"the position has the rules [{loaded.rules}], the batch has [{self.rules}]"
            )
        row = self.state.all_rows[[self._game(game)]]
        games = self.state.take(row)
        setup.write(games, 0, loaded)
        if loaded.opening is None:
            settle(games, games.all_rows)
        else:
            _open(games, games.all_rows)
        self.state.put(row, games)


def _open(state: State, rows: Rows) -> None:
    """Turn the opening card up; it takes effect."""
    effects.open_round(state, rows, dealing.turn_up(state, rows))
    settle(state, rows)


def _as_actions(actions: ArrayLike, number: int) -> NDArray[np.integer]:
    """Integers, one for each of so many games: what can be told of actions at once."""
    array = np.asarray(actions)
    if not array.size:
        array = array.astype(np.intp)
    if array.dtype.kind not in "iu":
        raise TypeError(f"actions must be integers, not {array.dtype}")
    if array.shape != (number,):
        raise ValueError(f"actions have the shape {array.shape}: allowed is ({number},)")
    return array
