"""The tables and records that browsers have open, each behind a token that only its owner knows."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agents.table import Table
from uno_env.game.position import Position
from uno_env.records import Decision, Record, RecordError, replay

MAX_ROOMS = 200
MAX_IDLE = 3600.0
"""Seconds after which a room that nobody has used may be given to another."""
MAX_ENTRIES = 5_000
"""Lines of a record that may be looked at."""


class NoRoomError(Exception):
    """All rooms are taken, or nobody has a room with this token."""


class BotError(Exception):
    """A bot raised something, or did what is not legal."""


@dataclass
class TableRoom:
    """A table with a person at it, or watched by one."""

    table: Table
    seat: int | None
    """The person's; None where bots play each other."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held by whoever looks at the table or plays."""
    log: list[tuple[int, int]] = field(default_factory=list)
    """Who took which action in this round, the latest last."""

    def play(self, action: int) -> None:
        """The person takes an action. Errors as for `Table.play`."""
        self.table.play(action)
        self._note()

    def ask_bots(self, count: int) -> None:
        """Bots decide, `count` times at most, until none is to.

        Raises:
            BotError: one fails.
        """
        for _ in range(count):
            bot = self.table.bot
            if bot is None:
                return
            try:
                self.table.ask_bot()
            except Exception as error:
                raise BotError(f"{bot.name} fails: {type(error).__name__}: {error}") from error
            self._note()

    def next_round(self) -> None:
        """Deal the next round. Errors as for `Table.next_round`."""
        self.table.next_round()
        self.log.clear()

    def _note(self) -> None:
        if self.table.last is not None:
            self.log.append(self.table.last)


@dataclass
class RecordRoom:
    """A record that somebody steps through."""

    record: Record
    tables: tuple[str, ...]
    """The table at the start and after each line, as text: positions take little room so."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, text: str) -> RecordRoom:
        """A record, played again.

        Raises:
            RecordError: it is none, does not fit, or is too long.
        """
        record = Record.parse(text)
        if len(record.entries) > MAX_ENTRIES:
            raise RecordError(
                MAX_ENTRIES + 2, f"is one too many: up to {MAX_ENTRIES:,} decisions are shown"
            )
        return cls(record, tuple(str(batch.position(0)) for batch in replay(record)))

    def position(self, step: int) -> Position:
        """The table after so many lines."""
        return Position.parse(self.tables[step])

    def log(self, step: int) -> list[tuple[int, int]]:
        """Who took which action in the round of that table before it, the latest last."""
        log: list[tuple[int, int]] = []
        for place in range(step - 1, -1, -1):
            entry = self.record.entries[place]
            if isinstance(entry, Decision):
                log.append((entry.seat, entry.action))
            elif place < step - 1:
                break
        return log[::-1]


Room = TableRoom | RecordRoom


class Rooms:
    """All rooms of a server.

    Args:
        most: how many there may be.
        idle: seconds after which an unused one may be given away.
        clock: seconds.
    """

    def __init__(
        self,
        most: int = MAX_ROOMS,
        idle: float = MAX_IDLE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._idle, self._clock = most, idle, clock
        self._rooms: dict[str, tuple[Room, float]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rooms)

    def add(self, room: Room) -> str:
        """Open a room, and say by which token it is found.

        Raises:
            NoRoomError: all are taken.
        """
        with self._lock:
            if len(self._rooms) >= self._most:
                self._give_away()
            token = secrets.token_urlsafe(16)
            self._rooms[token] = room, self._clock()
        return token

    def find(self, token: str) -> Room:
        """The room with a token.

        Raises:
            NoRoomError: there is none.
        """
        with self._lock:
            if token not in self._rooms:
                raise NoRoomError("this table is no longer open: start another")
            room, _ = self._rooms[token]
            self._rooms[token] = room, self._clock()
            return room

    def close(self, token: str) -> None:
        """Give a room up."""
        with self._lock:
            self._rooms.pop(token, None)

    def _give_away(self) -> None:
        """Close those rooms that were not used for long."""
        now = self._clock()
        kept = {
            token: (room, used)
            for token, (room, used) in self._rooms.items()
            if now - used < self._idle
        }
        if len(kept) >= self._most:
            raise NoRoomError(f"all {self._most} tables are taken: try again later")
        self._rooms = kept
