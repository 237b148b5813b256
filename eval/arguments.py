"""What matches, tournaments and training check alike in their arguments."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from numbers import Integral, Real
from typing import Any

from uno_env.game.rules import Rules

RulesLike = Rules | str | Mapping[str, Any]


def allowed_whole_number(low: int, high: int = sys.maxsize) -> str:
    """Which numbers `whole_number` takes, for messages."""
    end = "" if high == sys.maxsize else f" to {high:,}"
    return f"a whole number from {low}{end}"


def whole_number(name: str, value: Any, low: int, high: int = sys.maxsize) -> int:
    """The argument `name`, a whole number from `low` to `high`.

    Raises:
        ValueError: it is something else.
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not (whole and low <= int(value) <= high):
        raise ValueError(f"{name}={value!r}: allowed is {allowed_whole_number(low, high)}")
    return int(value)


def finite_number(
    name: str,
    value: Any,
    allowed: str,
    fits: Callable[[float], bool],
) -> float:
    """The argument `name`, a finite number that `fits`; `allowed` says which do.

    Raises:
        ValueError: it is something else.
    """
    number = math.nan
    if not isinstance(value, bool) and isinstance(value, Real):
        with suppress(OverflowError):  # of a whole number beyond all floats
            number = float(value)
    if not (math.isfinite(number) and fits(number)):
        raise ValueError(f"{name}={value!r}: allowed is {allowed}")
    return number


SHARE: tuple[str, Callable[[float], bool]] = ("a number from 0 to 1", lambda x: 0 <= x <= 1)
"""What a share may be, for `finite_number`."""


def rules_for(rules: RulesLike, num_players: int | None = None) -> Rules:
    """The rules of a table, where a number of players may have been given beside them.

    Raises:
        ValueError: rules that are not allowed, or that say another number of players.
        TypeError: `rules` is nothing that `Rules.make` takes.
    """
    made = Rules.make(rules)
    if num_players is None or num_players == made.num_players:
        return made
    if _say_players(rules):
        raise ValueError(f"rules for {made.num_players} players at a table of {num_players}")
    return Rules.make(made, num_players=num_players)


def _say_players(rules: RulesLike) -> bool:
    """Whether rules say the number of players, rather than leave it at the default."""
    return isinstance(rules, Rules) or "num_players" in rules
