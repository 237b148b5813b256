"""Rules of thumb for the house rules, for players that know nothing of them.

Bots and the shipped policies were made for the game without house rules. `narrow` takes from their
legal actions what no sensible player does under one, and leaves the choice among the rest to them.
Where no house rule is on, nothing changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.cards import NUM_COLOURED_SYMBOLS, NUM_FACES, NUM_SYMBOLS
from uno_env.game.observation import LAYOUT, SWITCH_PLACES
from uno_env.game.rules import MIN_PLAYERS
from uno_env.game.state import Phase

Mask = NDArray[np.bool_]
_STACKING, _SEVEN_ZERO, _JUMP_IN = (
    SWITCH_PLACES[name] for name in ("stacking", "seven_zero", "jump_in")
)
_ANSWERED = [Phase.STACK, Phase.CHALLENGE, Phase.JUMP_IN]
_PASSES = [Action.ACCEPT, Action.CHALLENGE, Action.LET_GO]
_COLOURED = np.arange(NUM_FACES) % NUM_SYMBOLS < NUM_COLOURED_SYMBOLS
_SEVENS = _COLOURED & (np.arange(NUM_FACES) % NUM_SYMBOLS == 7)
_ZEROS = _COLOURED & (np.arange(NUM_FACES) % NUM_SYMBOLS == 0)
_FAR = np.float32(1e5)
"""More than any two preferences are apart."""
_WORTH_IT = 2
"""Cards less in hand for which hands are moved, whatever else could be played."""


def narrow(observation: NDArray[np.uint8], mask: Mask) -> Mask:
    """The legal actions that are sensible under the house rules, at least one of them.

    - Who can answer a draw card does, and who can jump in does.
    - A 7 or a 0 is played for a hand at least two cards smaller; for a larger one only where no
      other card can be played.
    - Hands are swapped with whoever has the fewest cards.

    Args:
        observation: (B, F) uint8.
        mask: (B, A) bool, the legal actions, at least one in each row.

    Returns:
        (B, A) bool: `mask` itself where nothing is to be taken away.
    """
    if not observation[:, [_STACKING, _SEVEN_ZERO, _JUMP_IN]].any():
        return mask
    narrowed = mask.copy()
    phase = observation[:, LAYOUT["phase"]]
    plays = mask[:, :NUM_FACES].any(axis=1)
    answering = np.flatnonzero(plays & phase[:, _ANSWERED].any(axis=1))
    narrowed[answering[:, None], _PASSES] = False
    moving = observation[:, _SEVEN_ZERO] > 0
    swapping = np.flatnonzero(moving & (phase[:, Phase.SWAP] > 0) & (mask.sum(axis=1) > 1))
    if swapping.size:
        narrowed[swapping] = _smallest_hand(observation[swapping], mask[swapping])
    laying = np.flatnonzero(moving & plays)
    if laying.size:
        narrowed[laying] = _hands_worth_moving(observation[laying], narrowed[laying])
    return narrowed


def unlike(
    liked: NDArray[np.float32], observation: NDArray[np.uint8], mask: Mask
) -> NDArray[np.float32]:
    """Preferences (B, A) in which what `narrow` takes away comes after all that it leaves.

    They are written on.
    """
    narrowed = narrow(observation, mask)
    if narrowed is not mask:
        liked[mask & ~narrowed] -= _FAR
    return liked


def _players(observation: NDArray[np.uint8]) -> NDArray[np.intp]:
    return observation[:, LAYOUT["num_players"]].argmax(axis=1) + MIN_PLAYERS


def _smallest_hand(observation: NDArray[np.uint8], mask: Mask) -> Mask:
    """Of the swaps, that with who has the fewest cards; among equals the nearest clockwise."""
    steps = np.arange(1, NUM_ACTIONS - Action.SWAP + 1)
    clockwise = observation[:, LAYOUT["clockwise"]] > 0
    places = np.where(clockwise, steps, -steps) % _players(observation)[:, None]
    sizes = np.take_along_axis(observation[:, LAYOUT["hand_sizes"]], places, axis=1)
    sizes = np.where(mask[:, Action.SWAP :], sizes, 255)
    chosen = np.zeros_like(mask)
    chosen[np.arange(len(mask)), Action.SWAP + sizes.argmin(axis=1)] = True
    return chosen


def _hands_worth_moving(observation: NDArray[np.uint8], mask: Mask) -> Mask:
    """Plays without the sevens and zeros that bring a larger hand, or those alone that pay."""
    sizes = observation[:, LAYOUT["hand_sizes"]].astype(np.int16)
    every, players = np.arange(len(mask)), _players(observation)
    left = sizes[:, 0] - 1
    others = np.where(sizes > 0, sizes, 255)
    others[:, 0] = 255
    gains = np.zeros((len(mask), NUM_FACES), np.int16)
    gains[:, _SEVENS] = (left - others.min(axis=1))[:, None]
    gains[:, _ZEROS] = (left - sizes[every, players - 1])[:, None]
    gains[left == 0] = 0  # the round is won
    plays = mask[:, :NUM_FACES]
    best = np.where(plays, gains, -255).max(axis=1)
    least = np.where(best >= _WORTH_IT, best, np.minimum(best, 0))
    sensible = mask.copy()
    sensible[:, :NUM_FACES] &= gains >= least[:, None]
    return sensible
