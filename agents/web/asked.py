"""What a browser asks for, checked: each request as a value of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from uno_env.game.actions import NUM_ACTIONS
from uno_env.game.checks import MAX_SEED
from uno_env.game.rules import MAX_PLAYERS, Rules

PERSON = "you"
"""The name of the seat of the person at the browser."""
MAX_STEPS = 100
"""Decisions of bots that one request may ask for."""
_MAX_TEXT = 300
_MAX_COUNT = 2**31


class RequestError(ValueError):
    """A request that is not allowed; says what was wrong and what is allowed."""


@dataclass(frozen=True)
class NewTable:
    """A table to sit down at, or to watch."""

    rules: Rules
    seats: tuple[str, ...]
    """The name of a bot, or `PERSON`, for each seat."""
    seed: int | None

    @classmethod
    def of(cls, body: Mapping[str, Any], bots: Collection[str]) -> NewTable:
        """Read ``{"rules": text, "seats": [name, ...], "seed": number}``; the seed may be left out.

        Raises:
            RequestError: a field is missing, unknown or has a value that is not allowed.
        """
        _only(body, {"rules", "seats"}, {"seed"})
        seats = body["seats"]
        if not isinstance(seats, list) or not 2 <= len(seats) <= MAX_PLAYERS:
            raise RequestError(f"seats: allowed is a list of 2 to {MAX_PLAYERS} names")
        for name in seats:
            if name != PERSON and (not isinstance(name, str) or name not in bots):
                known = ", ".join([PERSON, *bots])
                raise RequestError(f"seats: {_shown(name)} is unknown: known are {known}")
        if seats.count(PERSON) > 1:
            raise RequestError(f"seats: {PERSON!r} may have one seat")
        text = body["rules"]
        if not isinstance(text, str) or len(text) > _MAX_TEXT:
            raise RequestError(f"rules: allowed is a text of at most {_MAX_TEXT} characters")
        seed = body.get("seed")
        if seed is not None:
            seed = _whole("seed", seed, MAX_SEED)
        try:
            rules = Rules.make(text, num_players=len(seats))
        except (ValueError, TypeError) as error:
            raise RequestError(str(error)) from None
        return cls(rules, tuple(seats), seed)


@dataclass(frozen=True)
class Act:
    """The person takes an action."""

    action: int
    decisions: int
    """How many had been taken at the table that the person saw."""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Act:
        """Read ``{"action": id, "decisions": number}``.

        Raises:
            RequestError: as for `NewTable.of`.
        """
        _only(body, {"action", "decisions"})
        action = _whole("action", body["action"], NUM_ACTIONS - 1)
        return cls(action, _whole("decisions", body["decisions"], _MAX_COUNT))


@dataclass(frozen=True)
class Step:
    """Bots are to decide."""

    count: int
    """So often at most."""

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> Step:
        """Read ``{"count": number}``.

        Raises:
            RequestError: as for `NewTable.of`.
        """
        _only(body, {"count"})
        return cls(_whole("count", body["count"], MAX_STEPS, low=1))


def nothing(body: Mapping[str, Any]) -> None:
    """Read ``{}``.

    Raises:
        RequestError: there is something.
    """
    _only(body, set())


def record_text(body: Mapping[str, Any]) -> str:
    """Read ``{"record": text}``.

    Raises:
        RequestError: as for `NewTable.of`.
    """
    _only(body, {"record"})
    if not isinstance(body["record"], str):
        raise RequestError("record: allowed is the text of a record")
    return body["record"]


def _only(body: Mapping[str, Any], needed: set[str], others: Collection[str] = ()) -> None:
    if missing := needed - set(body):
        raise RequestError(f"missing: {', '.join(sorted(missing))}")
    if unknown := set(body) - needed - set(others):
        allowed = ", ".join([*sorted(needed), *others]) or "nothing"
        raise RequestError(f"unknown: {_shown(', '.join(sorted(unknown)))}; allowed is {allowed}")


def _whole(name: str, value: object, high: int, low: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise RequestError(
            f"{name}: {_shown(value)}: allowed is a whole number from {low} to {high}"
        )
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
