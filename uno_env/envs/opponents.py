"""Who holds the seats that do not learn: found from what a user names, asked, and checked."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from uno_env.game.actions import NUM_ACTIONS
from uno_env.game.dealing import GAMMA, mix
from uno_env.policies import TrainedPlayer
from uno_env.policy import SUFFIX, Policy, PolicyFileError

Opponent: TypeAlias = Callable[
    [NDArray[np.uint8], NDArray[np.bool_], np.random.Generator], NDArray[np.integer]
]
"""Observations (B, F), masks (B, 84) and chance to B action ids."""

RANDOM: Final = "random"
"""The name of the opponent that chooses uniformly among the legal actions."""
TRAINED: Final = "trained"
"""The name of the opponent that plays as the policies of the package do."""

_ALLOWED = (
    f"allowed is {RANDOM!r}, {TRAINED!r}, the path of a policy file (*{SUFFIX}), a callable or an "
    "object with act(observation, mask, rng), or a list of these"
)
_HALF_WORD = np.uint64(32)


def find_opponents(opponents: Any, number: int) -> tuple[list[Opponent | None], NDArray[np.intp]]:
    """The opponents that a user means, each once, and which of them holds which seat.

    Args:
        opponents: one for all seats, or a list with one for each seat.
        number: of seats.

    Returns:
        The opponents, None for the random one, and an index into them for each seat (number,).

    Raises:
        TypeError: one is of the wrong kind.
        ValueError: an unknown name, a list of another length, a policy file that does not fit.
        FileNotFoundError: a policy file that is not there.
    """
    named = list(opponents) if isinstance(opponents, list | tuple) else [opponents] * number
    if len(named) != number:
        raise ValueError(
            f"opponents has {len(named)} entries: allowed is one for each of the {number} other "
            "seats"
        )
    # One object, or one file, in several seats is asked for all of them at once.
    keys = [os.fspath(one) if isinstance(one, str | os.PathLike) else id(one) for one in named]
    different = list(dict.fromkeys(keys))
    is_list = isinstance(opponents, list | tuple)
    found = []
    for key in different:
        at = keys.index(key)
        found.append(_find_opponent(named[at], f"opponents[{at}]" if is_list else "opponents"))
    return found, np.array([different.index(key) for key in keys], np.intp)


def _find_opponent(named: Any, name: str) -> Opponent | None:
    """The opponent that is meant, called `name` in messages."""
    if named == RANDOM and isinstance(named, str):
        return None
    if named == TRAINED and isinstance(named, str):
        return TrainedPlayer().act
    if isinstance(named, str | os.PathLike):
        path = os.fspath(named)
        if isinstance(path, str) and path.endswith(SUFFIX):
            return _load_policy(path, name).act
        raise ValueError(f"{name}={named!r}: {_ALLOWED}")
    if not isinstance(named, type):
        act = getattr(named, "act", named)
        if callable(act):
            return act
    raise TypeError(f"{name}={named!r}: {_ALLOWED}")


def _load_policy(path: str, name: str) -> Policy:
    try:
        return Policy.load(path)
    except (PolicyFileError, FileNotFoundError) as error:
        raise type(error)(f"{name}: {error}") from error


def start_chance(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Where the random opponents' chance begins in games with these seeds: (n,) -> (n,) uint64.

    It is another place than that of the deals, which start from ``mix(seed)``.
    """
    return mix(mix(seeds.copy()) + GAMMA)


def choose_uniformly(
    mask: NDArray[np.bool_], chance: NDArray[np.uint64]
) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
    """A legal action in each row, all alike, from each game's own stream of chance.

    Args:
        mask: (n, 84), at least one legal action in each row.
        chance: (n,) uint64, the streams.

    Returns:
        (n,) action ids and (n,) where the streams go on.
    """
    rows, legal = np.divmod(np.flatnonzero(mask), NUM_ACTIONS)
    counts = np.bincount(rows, minlength=len(mask))
    after = chance + GAMMA
    # The upper half of a word times a count, halved again, is below the count.
    words = (mix(after.copy()) >> _HALF_WORD) * counts.astype(np.uint64)
    chosen = (words >> _HALF_WORD).astype(np.intp)
    return legal[np.cumsum(counts) - counts + chosen], after
