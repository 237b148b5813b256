"""Records of play: small readable files that say all that is needed to play a game again.

A record is a text file of JSON lines. The first says what is played; then comes a line for each
decision, and one at the end of each round::

    {"format": "uno_env record", "version": 1, "rules": "classic", "seed": 7, "seats": ["a", "b"]}
    {"seat": 1, "action": "R5"}
    {"seat": 0, "action": "draw"}
    {"winner": 1, "points": [0, 37], "scores": [0, 37]}

After the end of a round the next of the same game may follow. A record of a game that went on from
a position has that as ``"position"``, in the form of `Position.parse`; a round that was broken off
has no line of its end. `Recorder` writes them, `Record.read` reads them, and `replay` goes through
the tables again, or says which line is the first that does not fit. `uno_env.replay` prints them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from uno_env.game.actions import ACTIONS, parse_action
from uno_env.game.checks import MAX_SEED
from uno_env.game.engine import GameBatch
from uno_env.game.position import Position
from uno_env.game.rules import Rules
from uno_env.reading import json_of

FORMAT, VERSION = "uno_env record", 1
SUFFIX = ".jsonl"
MAX_BYTES = 2**26
"""Of a file: more than a million decisions have."""
MAX_LINE = 2**16
_HEADER = {"format", "version", "rules", "seed", "seats"}


class RecordError(ValueError):
    """A record that cannot be used; says which line is wrong, and why.

    Attributes:
        line: its number, from 1.
    """

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")
        self.line = line


@dataclass(frozen=True)
class Decision:
    """An action of a seat."""

    seat: int
    action: int
    """Its id in `uno_env.ACTIONS`."""


@dataclass(frozen=True)
class RoundEnd:
    """How a round ended."""

    winner: int | None
    """Who went out; None where the round was blocked."""
    points: tuple[int, ...]
    scores: tuple[int, ...]
    """Totals after it."""

    @classmethod
    def of(cls, batch: GameBatch, game: int = 0) -> RoundEnd:
        """That of a game of a batch, which is over."""
        winner = int(batch.winner[game])
        return cls(
            None if winner < 0 else winner,
            tuple(map(int, batch.points[game])),
            tuple(map(int, batch.scores[game])),
        )


Entry = Decision | RoundEnd


@dataclass(frozen=True)
class Record:
    """What was played.

    Args:
        rules: of the game.
        seed: where its random stream began: that of ``GameBatch(rules, 1, seed)``.
        seats: a name for each seat.
        entries: decisions, and how rounds ended, in order.
        position: where the first round began, if not with a deal.
    """

    rules: Rules
    seed: int
    seats: tuple[str, ...]
    entries: tuple[Entry, ...]
    position: Position | None = None

    def __str__(self) -> str:
        """The text of its file."""
        header: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "rules": str(self.rules),
            "seed": self.seed,
            "seats": list(self.seats),
        }
        if self.position is not None:
            header["position"] = str(self.position)
        lines = [header, *map(_as_json, self.entries)]
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        target = Path(path)
        partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
        try:
            partial.write_text(str(self), encoding="utf-8")
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Record:
        """Read a file.

        Raises:
            FileNotFoundError: there is none.
            RecordError: it is no record, or cut off in a line; see `parse`.
        """
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise RecordError(1, f"the file is larger than {MAX_BYTES:,} bytes: no record is")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise RecordError(line, "is no text in UTF-8") from None
        return cls.parse(text)

    @classmethod
    def parse(cls, text: str) -> Record:
        """Read the text of a file. Whether the game can go so is `replay`'s to say.

        Raises:
            RecordError: a line is not what it has to be.
        """
        if text and not text.endswith("\n"):
            raise RecordError(text.count("\n") + 1, "is cut off: each line ends with a line break")
        lines = text.split("\n")[:-1]
        if not lines:
            raise RecordError(1, "the record is empty")
        rules, seed, seats, position = _header_of(_json_of(1, lines[0]))
        entries = (
            _entry_of(number, _json_of(number, line), len(seats))
            for number, line in enumerate(lines[1:], start=2)
        )
        return cls(rules, seed, seats, tuple(entries), position)

    def begin(self) -> GameBatch:
        """The table before the first decision: a batch of one game."""
        batch = GameBatch(self.rules, 1, self.seed)
        if self.position is not None:
            batch.load(0, self.position)
        return batch


def replay(record: Record) -> Iterator[GameBatch]:
    """The table at the start and after each line, the same batch again and again.

    After the line of a round's end the next round is dealt when the following line is asked for.

    Raises:
        RecordError: a line does not fit what was played before it.
    """
    batch = record.begin()
    yield batch
    ended = False
    for number, entry in enumerate(record.entries, start=2):
        if isinstance(entry, RoundEnd):
            _check_end(number, entry, batch, ended)
            ended = True
        else:
            if ended:
                if batch.game_over[0]:
                    raise RecordError(number, "the game is over: a total has reached the target")
                batch.next_round()
                ended = False
            _check_decision(number, entry, batch)
            batch.step(np.array([entry.action]))
        yield batch


def _check_decision(number: int, entry: Decision, batch: GameBatch) -> None:
    if batch.done[0]:
        raise RecordError(number, "the round is over: what follows is how it ended")
    acting = int(batch.player[0])
    if entry.seat != acting:
        raise RecordError(number, f"seat {entry.seat} decides, but it is seat {acting}'s to")
    why = batch.why_illegal(0, entry.action)
    if why is not None:
        raise RecordError(number, f"{ACTIONS[entry.action]} is illegal: {why}")


def _check_end(number: int, entry: RoundEnd, batch: GameBatch, ended: bool) -> None:
    if ended or not batch.done[0]:
        raise RecordError(number, "the round ends here, but it is not over")
    found = RoundEnd.of(batch)
    if entry != found:
        raise RecordError(number, f"the round ended otherwise: {json.dumps(_as_json(found))}")


class Recorder:
    """Notes a game as it is played.

    Args:
        batch: whose first game it is, before its first decision.
        seed: where its random stream began.
        seats: a name for each seat; by default ``seat 0`` and so on.
        position: where it began, if not with a deal.

    Raises:
        ValueError: not a name for each seat.
    """

    def __init__(
        self,
        batch: GameBatch,
        seed: int,
        seats: Sequence[str] | None = None,
        position: Position | None = None,
    ) -> None:
        players = batch.rules.num_players
        names = tuple(seats or (f"seat {seat}" for seat in range(players)))
        if len(names) != players:
            raise ValueError(f"seats={names}: allowed is a name for each of the {players} players")
        self.rules, self.seed, self.seats, self.position = batch.rules, seed, names, position
        self._entries: list[Entry] = []

    def decide(self, seat: int, action: int) -> None:
        """A seat takes an action."""
        self._entries.append(Decision(seat, action))

    def end_round(self, batch: GameBatch) -> None:
        """The round of the batch's first game is over."""
        self._entries.append(RoundEnd.of(batch))

    @property
    def record(self) -> Record:
        """What was noted so far."""
        return Record(self.rules, self.seed, self.seats, tuple(self._entries), self.position)


# ---------------------------------------------------------------------- lines


def _as_json(entry: Entry) -> dict[str, Any]:
    if isinstance(entry, Decision):
        return {"seat": entry.seat, "action": ACTIONS[entry.action]}
    points, scores = list(entry.points), list(entry.scores)
    return {"winner": entry.winner, "points": points, "scores": scores}


def _json_of(number: int, line: str) -> dict[str, Any]:
    if len(line) > MAX_LINE:
        raise RecordError(number, f"is longer than {MAX_LINE:,} characters: no line is")
    try:
        value = json_of(line)
    except ValueError:
        raise RecordError(number, f"is no JSON: {_shown(line)}") from None
    if not isinstance(value, dict):
        raise RecordError(number, f"is no JSON object: {_shown(line)}")
    return value


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _header_of(header: dict[str, Any]) -> tuple[Rules, int, tuple[str, ...], Position | None]:
    def wrong(what: str) -> NoReturn:
        raise RecordError(1, what)

    if header.get("format") != FORMAT:
        wrong(f'is not the head of a record: that has "format": "{FORMAT}"')
    if header.get("version") != VERSION:
        wrong(f"version {_shown(header.get('version'))}: this package reads {VERSION}")
    if odd := (set(header) - {"position"}) ^ _HEADER:
        wrong(f"missing or unknown: {_shown(', '.join(sorted(odd)))}")
    try:
        rules = Rules.parse(header["rules"])
    except (ValueError, TypeError) as error:
        wrong(f"rules: {_shown(str(error))}")
    seed = _whole(1, "seed", header["seed"], MAX_SEED)
    seats = header["seats"]
    named = isinstance(seats, list) and all(isinstance(name, str) for name in seats)
    if not named or len(seats) != rules.num_players:
        wrong(f"seats {_shown(seats)}: allowed is a name for each of {rules.num_players} players")
    position = None
    if "position" in header:
        try:
            position = Position.parse(header["position"])
            GameBatch(rules).load(0, position)
        except (ValueError, TypeError) as error:
            wrong(f"position: {_shown(str(error))}")
    return rules, seed, tuple(seats), position


def _entry_of(number: int, line: dict[str, Any], players: int) -> Entry:
    if set(line) == {"seat", "action"}:
        seat = _whole(number, "seat", line["seat"], players - 1)
        try:
            return Decision(seat, parse_action(line["action"]))
        except (ValueError, TypeError):
            known = "an action such as R5, W:G or draw"
            raise RecordError(
                number, f"action {_shown(line['action'])}: allowed is {known}"
            ) from None
    if set(line) == {"winner", "points", "scores"}:
        winner = line["winner"]
        if winner is not None:
            winner = _whole(number, "winner", winner, players - 1)
        points, scores = (
            _numbers(number, name, line[name], players) for name in ("points", "scores")
        )
        return RoundEnd(winner, points, scores)
    raise RecordError(
        number,
        f"has {_shown(', '.join(map(str, line)) or 'nothing')}: allowed are seat and action, "
        "or winner, points and scores",
    )


def _whole(number: int, name: str, value: object, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= high:
        raise RecordError(
            number, f"{name} {_shown(value)}: allowed is a whole number from 0 to {high}"
        )
    return value


def _numbers(number: int, name: str, values: object, players: int) -> tuple[int, ...]:
    if not isinstance(values, list) or len(values) != players:
        raise RecordError(
            number, f"{name} {_shown(values)}: allowed is a list of {players} numbers"
        )
    return tuple(_whole(number, name, value, 2**31 - 1) for value in values)
