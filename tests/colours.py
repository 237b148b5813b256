"""Which numbers of an observation, and which actions, belong to each colour: to rename colours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.cards import NUM_COLOURED_SYMBOLS, NUM_COLOURS, NUM_SYMBOLS
from uno_env.game.observation import LAYOUT
from uno_env.game.rules import MAX_PLAYERS


def _inputs(colour: int) -> list[int]:
    own = [
        LAYOUT[name].start + NUM_SYMBOLS * colour + symbol
        for name in ("hand", "drawn", "unseen", "known")
        for symbol in range(NUM_COLOURED_SYMBOLS)
    ]
    for name, width in (("known_colours", NUM_COLOURS + 1), ("lack", NUM_COLOURS)):
        own += [LAYOUT[name].start + width * place + colour for place in range(MAX_PLAYERS - 1)]
    return [*own, LAYOUT["colour"].start + colour, LAYOUT["colour_before"].start + colour]


INPUTS: NDArray[np.intp] = np.array([_inputs(colour) for colour in range(NUM_COLOURS)])
"""Places in the observation: (4, 72)."""
OUTPUTS: NDArray[np.intp] = np.array(
    [
        [*range(NUM_SYMBOLS * colour, NUM_SYMBOLS * (colour + 1)), Action.COLOUR + colour]
        for colour in range(NUM_COLOURS)
    ]
)
"""Plays and the naming of each colour: (4, 17)."""


def renamed(
    observation: NDArray[np.uint8], mask: NDArray[np.bool_], order: list[int]
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """The same choices where colour i has the name of colour ``order[i]``, turned back."""
    seen, legal = observation.copy(), mask.copy()
    seen[:, INPUTS] = observation[:, INPUTS[order]]
    legal[:, OUTPUTS] = mask[:, OUTPUTS[order]]
    return seen, legal


def renamed_actions(order: list[int]) -> NDArray[np.intp]:
    """For each action what it is called before the renaming: (A,)."""
    names = np.arange(NUM_ACTIONS)
    names[OUTPUTS] = OUTPUTS[order]
    return names
