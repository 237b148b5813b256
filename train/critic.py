"""What a critic is given of a table beyond its situation: the true hands, if they are told."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uno_env.game.cards import NUM_COLOURED_SYMBOLS, NUM_COLOURS, NUM_KINDS, Symbol
from uno_env.game.observation import LAYOUT, OBSERVATION_SIZE
from uno_env.game.rules import MAX_PLAYERS, MIN_PLAYERS

Floats = NDArray[np.float32]

_NUM_COLOURED = NUM_COLOURS * NUM_COLOURED_SYMBOLS
HAND_SIZE = 22
"""Numbers that describe a hand."""
HANDS_SIZE = 4 * HAND_SIZE
"""Of the own hand, the next, the last and all opponents' on average."""


def true_hands(full: NDArray[np.uint8]) -> Floats:
    """What the hands are like, from everything there is (`GameBatch.observe_all`).

    Args:
        full: (B, FULL_SIZE) uint8.

    Returns:
        (B, HANDS_SIZE) float32, each about its size from 0 to 1.
    """
    number = len(full)
    players = full[:, LAYOUT["num_players"]].argmax(axis=1) + MIN_PLAYERS
    stop = OBSERVATION_SIZE + MAX_PLAYERS * NUM_KINDS
    hands = full[:, OBSERVATION_SIZE:stop].reshape(number, MAX_PLAYERS, NUM_KINDS)
    described = _describe(
        hands[:, : players.max(initial=MIN_PLAYERS)],
        full[:, LAYOUT["colour"]].argmax(axis=1),
        full[:, LAYOUT["top"]].argmax(axis=1),
    )
    seated = np.arange(described.shape[1]) < players[:, None]
    described *= seated[..., None]
    out = np.empty((number, 4, HAND_SIZE), np.float32)
    out[:, :2] = described[:, :2]
    out[:, 2] = described[np.arange(number), players - 1]
    out[:, 3] = described[:, 1:].sum(axis=1) / (players - 1)[:, None]
    return out.reshape(number, HANDS_SIZE)


def _describe(
    hands: NDArray[np.uint8], colour: NDArray[np.intp], symbol: NDArray[np.intp]
) -> Floats:
    """Each of (B, P) hands: (B, P, HAND_SIZE).

    Args:
        hands: (B, P, 55) counts by kind.
        colour: (B,) the active colour.
        symbol: (B,) of the top card.
    """
    every = np.arange(len(hands))
    cards = hands[..., :_NUM_COLOURED]
    cards = cards.reshape(*hands.shape[:2], NUM_COLOURS, NUM_COLOURED_SYMBOLS)
    wilds = hands[..., _NUM_COLOURED:]
    of_colours = cards.sum(axis=3, dtype=np.uint8)
    sizes = hands.sum(axis=2, dtype=np.uint8)
    active = of_colours[every, :, colour]
    # A wild on top has no symbol that a coloured card could share.
    same = cards[every, :, :, np.minimum(symbol, NUM_COLOURED_SYMBOLS - 1)].sum(axis=2)
    same = same * (symbol < NUM_COLOURED_SYMBOLS)[:, None]
    in_colour = cards[every, :, colour]
    actions = slice(Symbol.SKIP, Symbol.DRAW_TWO + 1)
    parts = [
        sizes[..., None] / np.float32(8),
        sizes[..., None] == np.arange(1, 4),
        active[..., None] / np.float32(4),
        active[..., None] > 0,
        same[..., None] / np.float32(2),
        (active + same + wilds.sum(axis=2))[..., None] > 0,
        wilds / np.float32(2),
        np.sort(of_colours, axis=2)[..., ::-1] / np.float32(4),
        (of_colours > 0).sum(axis=2)[..., None] / np.float32(4),
        cards[..., actions].sum(axis=2) / np.float32(2),
        in_colour[..., actions] / np.float32(2),
    ]
    return np.concatenate(parts, axis=2, dtype=np.float32)
