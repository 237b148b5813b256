"""The state of N games as arrays, and the seats' wheel."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from uno_env.game.cards import NO_CARD, NO_COLOUR, NUM_COLOURS, Words
from uno_env.game.rules import Rules

Rows: TypeAlias = NDArray[np.intp]
"""Indices of games in the batch: shape (n,); where games are written to, none twice."""

NO_SEAT = -1
LACK_CAP = 15
"""`State.lack` counts up to here; here it also means "never shown"."""
ONE_FOR_EACH_COLOUR = np.uint32(0x01010101)
"""To add to `State.flat_lack`: one in each of its four bytes."""


class Phase(IntEnum):
    """What kind of decision a game waits for.

    In TURN and DRAWN, the first two, cards are played; the code relies on that order.
    """

    TURN = 0
    """A player's turn: play, draw, say UNO."""
    DRAWN = 1
    """The player drew a card that may be played."""
    CATCH = 2
    """An opponent may catch the player who did not say UNO."""
    CHALLENGE = 3
    """The victim of a Wild Draw 4 may challenge it."""
    COLOUR = 4
    """The dealer's left names the colour of an opening wild."""
    SWAP = 5
    """House rule `seven_zero`: who laid a 7 chooses whom to swap hands with."""
    JUMP_IN = 6
    """House rule `jump_in`: who holds the like of the card just laid may play it."""
    STACK = 7
    """House rule `stacking`: who is to draw may answer with a card of the same kind."""
    OVER = 8
    """The round has ended."""


# Comparing an array with a member of an enumeration takes many times as long as with its number, so
# the modules that step games look the numbers up once.


class Hop(IntEnum):
    """How the turn moves on."""

    STAY = 0
    """It does not: the same player or an opponent has something to decide."""
    NEXT = 1
    SKIP = 2
    REVERSE = 3


class Wheel:
    """Where the turn goes at a table of P, as tables to look up.

    A turn is a seat and a direction in one number: ``seat`` while play runs clockwise, ``P + seat``
    while it runs the other way.

    Attributes:
        after: (4 x 2 P,) uint8, the turn after a hop: at ``2 P * hop + turn``.
        seat: (2 P,) uint8, the seat of a turn; so, too, a sum of two seats modulo P.
        next_seat: (2 P,) uint8, the seat that would be next.
    """

    def __init__(self, num_players: int) -> None:
        turns = range(2 * num_players)
        self.width = 2 * num_players
        self.after = np.array(
            [self._hop(hop, turn, num_players) for hop in Hop for turn in turns], np.uint8
        )
        self.seat = (np.arange(2 * num_players) % num_players).astype(np.uint8)
        self.next_seat = self.seat[self.after[self.width * Hop.NEXT : self.width * Hop.SKIP]]

    @staticmethod
    def _hop(hop: Hop, turn: int, num_players: int) -> int:
        backwards, seat = divmod(turn, num_players)
        step = -1 if backwards else 1
        if hop == Hop.STAY:
            return turn
        if hop == Hop.REVERSE:
            backwards = 1 - backwards
            # With two players it acts as Skip: the same seat goes on.
            seat = seat if num_players == 2 else seat - step
        else:
            seat += 2 * step if hop == Hop.SKIP else step
        return backwards * num_players + seat % num_players


@cache
def wheel(num_players: int) -> Wheel:
    """The wheel of a table of `num_players`."""
    return Wheel(num_players)


@dataclass(slots=True)
class State:
    """N games of P players under one set of rules; D cards in the deck.

    Hands, draw pile and discard pile are disjoint and together make up the deck (of a position that
    was loaded: the cards it has).
    """

    rules: Rules
    hands: Words
    """(N, P, 2) the cards of each seat."""
    known: Words
    """(N, P, 2) cards a King Pig was seen to deal to each seat, not played since."""
    lack: NDArray[np.uint8]
    """(N, P, 4) cards each seat got since it last drew while that colour was active, up to
    `LACK_CAP`."""
    discard: Words
    """(N, 2) all cards of the discard pile, the top one too."""
    pile: NDArray[np.uint8]
    """(N, D) the draw pile: cards from `pile_at` on, next card first."""
    pile_at: NDArray[np.uint8]
    """(N,) where the draw pile begins in `pile`; D when it is empty."""
    top: NDArray[np.uint8]
    """(N,) the top face; its colour is the active one."""
    turn: NDArray[np.uint8]
    """(N,) whose turn it is, and the direction: see `wheel`."""
    acting: NDArray[np.uint8]
    """(N,) the seat to decide: the player's, or that of an opponent who is asked."""
    phase: NDArray[np.uint8]
    """(N,) `Phase`."""
    drawn: NDArray[np.uint8]
    """(N,) the card just drawn in phase DRAWN, else `NO_CARD`."""
    said: NDArray[np.bool_]
    """(N,) whether the player has said UNO this turn."""
    guilty: NDArray[np.bool_]
    """(N,) whether the Wild Draw 4 just played was a bluff."""
    colour_before: NDArray[np.uint8]
    """(N,) the colour active before the Wild Draw 4 that may still be challenged, else
    `NO_COLOUR`."""
    stack: NDArray[np.uint8]
    """(N,) house rule `stacking`: cards stacked up by draw cards that took effect and were not
    drawn yet."""
    dealer: NDArray[np.uint8]
    """(N,) the dealer's seat."""
    winner: NDArray[np.int8]
    """(N,) who went out, `NO_SEAT` before the end and in a blocked round."""
    points: NDArray[np.int32]
    """(N, P) points of this round, zeros until it is over."""
    scores: NDArray[np.int32]
    """(N, P) totals of the game."""
    stream: NDArray[np.uint64]
    """(N,) the state of each game's random stream (`dealing`)."""
    legal: Words
    """(N, 2) the legal actions as bits, by action id."""

    @classmethod
    def empty(cls, rules: Rules, num_games: int) -> State:
        """State for `num_games` games, still to be dealt."""
        players = rules.num_players
        return cls(
            rules=rules,
            hands=np.zeros((num_games, players, 2), np.uint64),
            known=np.zeros((num_games, players, 2), np.uint64),
            lack=np.full((num_games, players, NUM_COLOURS), LACK_CAP, np.uint8),
            discard=np.zeros((num_games, 2), np.uint64),
            pile=np.full((num_games, rules.deck_size), NO_CARD, np.uint8),
            pile_at=np.full(num_games, rules.deck_size, np.uint8),
            top=np.zeros(num_games, np.uint8),
            turn=np.zeros(num_games, np.uint8),
            acting=np.zeros(num_games, np.uint8),
            phase=np.full(num_games, Phase.OVER, np.uint8),
            drawn=np.full(num_games, NO_CARD, np.uint8),
            said=np.zeros(num_games, np.bool_),
            guilty=np.zeros(num_games, np.bool_),
            colour_before=np.full(num_games, NO_COLOUR, np.uint8),
            stack=np.zeros(num_games, np.uint8),
            dealer=np.zeros(num_games, np.uint8),
            winner=np.full(num_games, NO_SEAT, np.int8),
            points=np.zeros((num_games, players), np.int32),
            scores=np.zeros((num_games, players), np.int32),
            stream=np.zeros(num_games, np.uint64),
            legal=np.zeros((num_games, 2), np.uint64),
        )

    @property
    def num_games(self) -> int:
        """Games in the batch."""
        return len(self.phase)

    def take(self, rows: Rows) -> State:
        """A copy of some games, in the order asked for."""
        return State(self.rules, *(array.take(rows, axis=0) for array in self.arrays().values()))

    def copy(self) -> State:
        """An independent copy of all games."""
        return State(self.rules, *(getattr(self, name).copy() for name in _array_names()))

    def put(self, rows: Rows, games: State) -> None:
        """Write games (n,) to the places `rows` (n,)."""
        if not rows.size:
            return
        for array, values in zip(self.arrays().values(), games.arrays().values(), strict=True):
            # Whole records are moved many times as fast as slices of more than one axis.
            record = np.dtype((np.void, array[0].nbytes))
            flat = array.reshape(len(array), -1).view(record)[:, 0]
            flat[rows] = values.reshape(len(values), -1).view(record)[:, 0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by name; the first axis of each is the game."""
        return {name: getattr(self, name) for name in _array_names()}

    @property
    def all_rows(self) -> Rows:
        """The indices of all games; not to be written on."""
        return _indices(self.num_games)

    def seats_on_turn(self, rows: Rows) -> NDArray[np.uint8]:
        """The seats whose turn it is."""
        return wheel(self.rules.num_players).seat.take(self.turn.take(rows))

    def next_seats(self, rows: Rows) -> NDArray[np.uint8]:
        """The seats that would be next in the direction of play."""
        return wheel(self.rules.num_players).next_seat.take(self.turn.take(rows))

    def at_seat(self, rows: Rows, seats: NDArray[np.integer]) -> NDArray[np.intp]:
        """Index of a seat of each game in arrays flattened over games and seats."""
        return rows * self.rules.num_players + seats

    def at_acting_seat(self, rows: Rows | None = None) -> NDArray[np.intp]:
        """Index of the seat to act in such flattened arrays, of some games or of all."""
        if rows is None:
            return _first_seats(self.num_games, self.rules.num_players) + self.acting
        return self.at_seat(rows, self.acting.take(rows))

    @property
    def flat_hands(self) -> Words:
        """`hands` over games and seats together: (N P, 2), the same memory."""
        return self.hands.reshape(-1, 2)

    @property
    def flat_lack(self) -> NDArray[np.uint32]:
        """`lack` over games and seats together, the four counts as one number: (N P,)."""
        return self.lack.reshape(-1).view(np.uint32)

    @property
    def flat_known(self) -> Words:
        """`known` over games and seats together: (N P, 2), the same memory."""
        return self.known.reshape(-1, 2)


@cache
def _array_names() -> tuple[str, ...]:
    return tuple(spec.name for spec in dataclasses.fields(State) if spec.name != "rules")


@lru_cache(maxsize=64)
def _first_seats(num_games: int, num_players: int) -> NDArray[np.intp]:
    return _indices(num_games) * num_players


@lru_cache(maxsize=64)
def _indices(number: int) -> Rows:
    indices = np.arange(number)
    indices.flags.writeable = False
    return indices


def where_bytes(
    mask: NDArray[np.bool_], yes: NDArray[np.uint8] | int, no: NDArray[np.uint8] | int
) -> NDArray[np.uint8]:
    """`np.where` for bytes, some three times as fast for thousands of games: (n,)."""
    # Minus one is 255 in a byte: all bits of a difference, or none, turn no into yes.
    return cast(NDArray[np.uint8], no ^ (-mask.view(np.uint8) & (yes ^ no)))
