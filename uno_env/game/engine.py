"""`GameBatch`: N games stepped together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uno_env.game import dealing, effects, legality, observation, position, scoring
from uno_env.game.actions import ACTIONS, NUM_ACTIONS
from uno_env.game.cards import set_sizes
from uno_env.game.play import play, settle
from uno_env.game.position import Position
from uno_env.game.rules import Rules
from uno_env.game.state import NO_SEAT, Phase, Rows, State

_OVER = int(Phase.OVER)


class GameBatch:
    """N games of UNO under one set of rules, stepped together.

    A game is dealt when the batch is made. When its round is over it waits until `next_round` or
    `reset` deals anew; until then its row of `legal` is all false and actions for it are ignored.

    Args:
        rules: a `Rules`, the name of a preset, or whatever `Rules.make` takes.
        num_games: N, at least 1.
        seed: game i has the seed ``seed + i``. A game's course depends on its own seed and actions
            alone.

    Raises:
        ValueError: rules that are not allowed, or less than one game.
    """

    def __init__(
        self,
        rules: Rules | str | Mapping[str, Any] = "angry_birds",
        num_games: int = 1,
        seed: int = 0,
    ) -> None:
        self.rules = Rules.make(rules)
        if num_games < 1:
            raise ValueError(f"num_games={num_games}: allowed is a whole number from 1")
        self.state = State.empty(self.rules, num_games)
        seeds = np.uint64(int(seed) % 2**64) + np.arange(num_games, dtype=np.uint64)
        self.reset(seeds=seeds)

    # ------------------------------------------------------------------ what is to be seen

    @property
    def num_games(self) -> int:
        """N."""
        return self.state.num_games

    @property
    def player(self) -> NDArray[np.uint8]:
        """The seat to act in each game: (N,) uint8."""
        return self.state.acting

    @property
    def legal(self) -> NDArray[np.bool_]:
        """The actions that seat may take: (N, A) bool, a new array at each call."""
        return legality.unpack(self.state.legal)

    def legal_of(self, where: ArrayLike) -> NDArray[np.bool_]:
        """`legal` for some of the games: (n, A) bool. Args as for `reset`."""
        return legality.unpack(self.state.legal[self._rows(where)])

    @property
    def done(self) -> NDArray[np.bool_]:
        """Whether the round is over: (N,) bool."""
        return self.state.phase == Phase.OVER

    @property
    def winner(self) -> NDArray[np.int8]:
        """Who went out: (N,) int8; -1 before the end and where the round was blocked."""
        return self.state.winner

    @property
    def points(self) -> NDArray[np.int32]:
        """Points of this round: (N, P) int32; zeros until it is over."""
        return self.state.points

    @property
    def scores(self) -> NDArray[np.int32]:
        """Totals of the game so far: (N, P) int32."""
        return self.state.scores

    @property
    def game_over(self) -> NDArray[np.bool_]:
        """Whether the round is over and a total has reached the target: (N,) bool."""
        return self.done & scoring.game_over(self.rules, self.scores)

    @property
    def game_winners(self) -> NDArray[np.bool_]:
        """Who has won the game, once it is over: (N, P) bool."""
        return scoring.game_winners(self.rules, self.scores) & self.done[:, None]

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
        return observation.observe(self.state, rows, self._seats(seat, rows))

    def observe_all(
        self, seat: ArrayLike | None = None, where: ArrayLike | None = None
    ) -> NDArray[np.uint8]:
        """The observation, all hands and the draw pile: (N, FULL_SIZE) uint8.

        For critics in training and for players that cheat. Args as for `observe`.
        """
        rows = self._rows(where)
        return observation.observe_all(self.state, rows, self._seats(seat, rows))

    def _seats(self, seat: ArrayLike | None, rows: Rows) -> NDArray[np.intp]:
        seats = self.player[rows] if seat is None else np.broadcast_to(seat, rows.shape)
        return np.asarray(seats, dtype=np.intp)

    def position(self, game: int) -> Position:
        """One game as a readable value."""
        return position.read(self.state, game)

    def why_illegal(self, game: int, action: int) -> str | None:
        """Why `action` may not be played in a game now, naming the rule; None if it may.

        Raises:
            ValueError: `action` is no action id.
        """
        if not 0 <= action < NUM_ACTIONS:
            raise ValueError(
                f"action {action}: allowed is a whole number from 0 to {NUM_ACTIONS - 1}"
            )
        return legality.why_illegal(self.state, game, int(action))

    def check(self, actions: ArrayLike) -> NDArray[np.intp]:
        """The actions as `step` wants them, if every game that is not over may take its own.

        `step` itself trusts its caller; adapters check what comes from outside.

        Raises:
            ValueError: wrong shape, an action out of range, an illegal one, or no game that waits
                for one; the message names the first game concerned and the reason.
            TypeError: not integers.
        """
        array = np.asarray(actions)
        if array.dtype.kind not in "iu":
            raise TypeError(f"actions must be integers, not {array.dtype}")
        if array.shape != (self.num_games,):
            raise ValueError(
                f"actions have the shape {array.shape}: allowed is ({self.num_games},)"
            )
        live = ~self.done
        if not live.any():
            raise ValueError("every round is over: deal with next_round or reset before playing on")
        out = live & ((array < 0) | (array >= NUM_ACTIONS))
        if out.any():
            game = int(out.argmax())
            raise ValueError(
                f"action {array[game]} of game {game}: allowed is a whole number from 0 to "
                f"{NUM_ACTIONS - 1}"
            )
        checked = np.where(live, array, 0).astype(np.intp)
        illegal = live & ~legality.is_legal(self.state.legal, checked)
        if illegal.any():
            game = int(illegal.argmax())
            action = int(checked[game])
            raise ValueError(
                f"illegal action {ACTIONS[action]} ({action}) of game {game}: "
                f"{self.why_illegal(game, action)}"
            )
        return checked

    # ------------------------------------------------------------------ dealing

    def reset(self, where: ArrayLike | None = None, seeds: ArrayLike | None = None) -> None:
        """Start new games: totals at zero, a dealer drawn, the first round dealt.

        Args:
            where: which games, as a mask (N,) or as indices; all by default.
            seeds: a seed for each of them, from which their random streams start anew. Without, the
                streams run on.
        """
        rows = self._rows(where)
        if seeds is not None:
            array = np.asarray(seeds)
            if array.shape != rows.shape:
                raise ValueError(f"seeds have the shape {array.shape}: allowed is {rows.shape}")
            dealing.seed_streams(self.state, rows, array.astype(np.uint64))
        self.state.scores[rows] = 0
        dealing.choose_dealer(self.state, rows)
        self._deal(rows)

    def next_round(self, where: ArrayLike | None = None) -> None:
        """Deal the next round of the same games: totals stay, the next seat clockwise deals.

        Args:
            where: as for `reset`.
        """
        rows = self._rows(where)
        self.state.dealer[rows] = (self.state.dealer[rows] + 1) % self.rules.num_players
        self._deal(rows)

    def _deal(self, rows: Rows) -> None:
        self.state.points[rows] = 0
        self.state.winner[rows] = NO_SEAT
        dealing.deal_round(self.state, rows)
        self._open(rows)

    def _open(self, rows: Rows) -> None:
        effects.open_round(self.state, rows, dealing.turn_up(self.state, rows))
        settle(self.state, rows)

    def _rows(self, where: ArrayLike | None) -> Rows:
        if where is None:
            return self.state.all_rows
        array = np.asarray(where)
        if array.dtype == np.bool_:
            if array.shape != (self.num_games,):
                raise ValueError(
                    f"a mask of games has the shape {array.shape}: allowed is ({self.num_games},)"
                )
            return array.nonzero()[0]
        return np.atleast_1d(array).astype(np.intp)

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
        """
        chosen = np.asarray(actions)
        if where is None:
            return self._step(self.state, chosen)
        rows = self._rows(where)
        games = self.state.take(rows)
        outcome = self._step(games, chosen)
        self.state.put(rows, games)
        return outcome

    def _step(
        self, games: State, actions: NDArray[np.integer]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        before = games.phase == _OVER
        play(games, actions)
        done = games.phase == _OVER
        rewards = np.zeros((games.num_games, self.rules.num_players), np.float32)
        ended = (done & ~before).nonzero()[0]
        if ended.size:
            winner = games.winner[ended, None] == np.arange(self.rules.num_players)
            rewards[ended] = scoring.win_rewards(winner)
        return rewards, done

    # ------------------------------------------------------------------ copies and positions

    def copy(self) -> GameBatch:
        """An independent copy."""
        return self.take(self.state.all_rows)

    def take(self, indices: ArrayLike) -> GameBatch:
        """An independent batch of some of the games, in that order; an index may come twice.

        Args:
            indices: integers (n,), or a mask (N,).
        """
        taken = object.__new__(type(self))
        taken.rules = self.rules
        taken.state = self.state.take(self._rows(indices))
        return taken

    def load(self, game: int, loaded: Position) -> None:
        """Put a position in the place of a game, whose random stream stays.

        An opening card takes effect, and turns in which nothing can be done pass.

        Raises:
            ValueError: the position has other rules than the batch.
        """
        if loaded.rules != self.rules:
            raise ValueError(
                f"the position has the rules [{loaded.rules}], the batch has [{self.rules}]"
            )
        row = self.state.all_rows[[game]]
        position.write(self.state, int(row[0]), loaded)
        if loaded.opening is None:
            settle(self.state, row)
        else:
            self._open(row)
