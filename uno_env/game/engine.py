"""`GameBatch`: N games stepped together. The order of play, and nothing else.

Within a step the rulebook's order holds: card and colour, catch, challenge, draws, next turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uno_env.game import dealing, effects, legality, observation, position, scoring
from uno_env.game.actions import ACTIONS, NUM_ACTIONS, Action
from uno_env.game.cards import (
    FACE_BITS,
    NO_CARD,
    NUM_COLOURS,
    NUM_FACES,
    NUM_SYMBOLS,
    Symbol,
    one_of,
    put_sets,
    set_sizes,
    take_sets,
)
from uno_env.game.position import Position
from uno_env.game.rules import Rules
from uno_env.game.state import NO_SEAT, Hop, Phase, Rows, State

# Looking a member of an enumeration up takes longer than adding two short vectors.
_OVER, _TURN, _NEXT = int(Phase.OVER), int(Phase.TURN), int(Hop.NEXT)
_DRAW, _KEEP, _UNO = int(Action.DRAW), int(Action.KEEP), int(Action.UNO)
_CATCH, _LET_GO = int(Action.CATCH), int(Action.LET_GO)
_CHALLENGE, _ACCEPT, _COLOUR = int(Action.CHALLENGE), int(Action.ACCEPT), int(Action.COLOUR)


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
        self._adopt(State.empty(self.rules, num_games))
        seeds = np.uint64(int(seed) % 2**64) + np.arange(num_games, dtype=np.uint64)
        self.reset(seeds=seeds)

    def _adopt(self, state: State) -> None:
        self.state = state
        self._all = np.arange(state.num_games)

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
        self._settle(rows)

    def _rows(self, where: ArrayLike | None) -> Rows:
        if where is None:
            return self._all
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
        rows = self._rows(where)
        chosen = np.asarray(actions)
        rewards = np.zeros((len(rows), self.rules.num_players), np.float32)
        waiting = self.state.phase.take(rows) == _OVER
        if waiting.any():
            live = (~waiting).nonzero()[0]
            self._play_out(rows[live], chosen[live])
        else:
            self._play_out(rows, chosen)
        done = self.state.phase.take(rows) == _OVER
        ended = (done & ~waiting).nonzero()[0]
        if ended.size:
            winner = self.state.winner[rows[ended], None]
            rewards[ended] = scoring.win_rewards(winner == np.arange(self.rules.num_players))
        return rewards, done

    def _play_out(self, rows: Rows, actions: NDArray[np.integer]) -> None:
        """Each kind of action in turn, then whatever follows by itself."""
        is_play = actions < NUM_FACES
        plays = is_play.nonzero()[0]
        going_on = self._play(rows[plays], actions[plays]) if plays.size else rows[:0]
        if plays.size < rows.size:
            rest = (~is_play).nonzero()[0]
            released = self._answer(rows[rest], actions[rest])
            going_on = np.concatenate([going_on, released]) if released.size else going_on
        if going_on.size:
            self._after_catch(going_on)
        self._settle(rows)

    def _play(self, rows: Rows, faces: NDArray[np.integer]) -> Rows:
        """Lay a card; returns the games in which play goes on without a catch window."""
        state, rules = self.state, self.rules
        if rules.wild_draw_four == "bluff":
            fours = rows[faces % NUM_SYMBOLS == Symbol.WILD_DRAW_FOUR]
            state.guilty[fours] = legality.held_active_colour(state, fours)
        at = state.at_seat(rows, state.acting.take(rows))
        bits = take_sets(FACE_BITS, faces)
        hand = take_sets(state.flat_hands, at)
        card = one_of(hand & bits)
        hand ^= card
        put_sets(state.flat_hands, at, hand)
        known = take_sets(state.flat_known, at)
        if known.any():
            known ^= one_of(known & bits)
            put_sets(state.flat_known, at, known)
        put_sets(state.discard, rows, take_sets(state.discard, rows) | card)
        state.top[rows] = faces
        state.drawn[rows] = NO_CARD

        size = set_sizes(hand)
        if (out := (size == 0).nonzero()[0]).size:
            self._go_out(rows[out])
        going_on = size > 0
        if rules.uno_call == "explicit":
            unsaid = (size == 1) & ~state.said.take(rows)
            if (forgot := rows[unsaid]).size:
                if rules.uno_enforcement == "automatic":
                    effects.penalise(state, forgot)
                else:
                    self._ask_next(forgot)
                    going_on &= ~unsaid
        return rows[going_on]

    def _go_out(self, rows: Rows) -> None:
        """A last card: its draws, without a window or a challenge, then the points."""
        if self.rules.last_card_draws:
            effects.carry_out_draws(self.state, rows, last_card=True)
        scoring.end_round(self.state, rows, self.state.seats_on_turn(rows))

    def _answer(self, rows: Rows, actions: NDArray[np.integer]) -> Rows:
        """All actions but plays; returns the games in which a catch window has closed."""
        released = rows[:0]
        for action in np.bincount(actions).nonzero()[0].tolist():
            some = rows[(actions == action).nonzero()[0]]
            if action == _DRAW:
                self._draw(some)
            elif action == _KEEP:
                effects.begin_turn(self.state, some, _NEXT)
            elif action == _UNO:
                self.state.said[some] = True
            elif action == _CATCH:
                effects.penalise(self.state, some)
                released = some
            elif action == _LET_GO:
                released = np.concatenate([released, self._let_go(some)])
            elif action == _CHALLENGE:
                effects.challenge(self.state, some)
            elif action == _ACCEPT:
                effects.carry_out(self.state, some)
            else:
                effects.name_opening_colour(self.state, some, action - _COLOUR)
        return released

    def _draw(self, rows: Rows) -> None:
        """Draw a card; if it cannot be played the turn passes by itself."""
        state = self.state
        seats = state.acting.take(rows)
        cards = dealing.draw_one(state, rows, seats)
        colours = state.top.take(rows) // NUM_SYMBOLS
        state.lack.ravel()[NUM_COLOURS * state.at_seat(rows, seats) + colours] = 0
        playable = legality.drawn_card_playable(state, rows, cards)
        may_play = playable.nonzero()[0]
        state.phase[rows[may_play]] = Phase.DRAWN
        state.drawn[rows[may_play]] = cards[may_play]
        effects.begin_turn(state, rows[~playable], _NEXT)

    def _ask_next(self, rows: Rows) -> None:
        """The next seat clockwise is asked whether it catches the player."""
        self.state.phase[rows] = Phase.CATCH
        self.state.acting[rows] = (self.state.acting[rows] + 1) % self.rules.num_players

    def _let_go(self, rows: Rows) -> Rows:
        """Ask on; returns the games in which all opponents have let the player go."""
        self._ask_next(rows)
        asked_all = self.state.acting[rows] == self.state.seats_on_turn(rows)
        return rows[asked_all]

    def _after_catch(self, rows: Rows) -> None:
        """The card is laid and nobody is to be caught any more: challenge, or its effect."""
        state = self.state
        if self.rules.wild_draw_four == "bluff":
            fours = state.top.take(rows) % NUM_SYMBOLS == Symbol.WILD_DRAW_FOUR
            asked = rows[fours]
            state.phase[asked] = Phase.CHALLENGE
            state.acting[asked] = state.next_seats(asked)
            rows = rows[~fours]
        effects.carry_out(state, rows)

    def _settle(self, rows: Rows) -> None:
        """Work out what is legal; a turn in which nothing is passes by itself ("A turn").

        Once every player in a row has passed so, the round is blocked.
        """
        state = self.state
        for passed in range(self.rules.num_players):
            nothing = legality.refresh(state, rows)
            if not nothing.any():
                return
            rows = rows[nothing]
            rows = rows[state.phase[rows] == _TURN]
            if not rows.size:
                return
            if passed < self.rules.num_players - 1:
                effects.begin_turn(state, rows, _NEXT)
        scoring.block_round(state, rows)

    # ------------------------------------------------------------------ copies and positions

    def copy(self) -> GameBatch:
        """An independent copy."""
        return self.take(self._all)

    def take(self, indices: ArrayLike) -> GameBatch:
        """An independent batch of some of the games, in that order; an index may come twice.

        Args:
            indices: integers (n,), or a mask (N,).
        """
        taken = object.__new__(type(self))
        taken.rules = self.rules
        taken._adopt(self.state.take(self._rows(indices)))
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
        row = self._all[[game]]
        position.write(self.state, int(row[0]), loaded)
        if loaded.opening is None:
            self._settle(row)
        else:
            self._open(row)
