"""`greedy`: gets rid of the most points it can."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.cards import (
    NUM_COLOURED_SYMBOLS,
    NUM_COLOURS,
    NUM_FACES,
    NUM_SYMBOLS,
    Symbol,
)
from uno_env.game.observation import LAYOUT, POINTS_UNIT, SWITCH_PLACES
from uno_env.legal_actions import LegalActions
from uno_env.rules_of_thumb import narrow, unlike

_FIRST, _NEVER, _PLAY = 10_000, -10_000, 100
_WILD_ORDER = {Symbol.WILD_DRAW_FOUR: 3, Symbol.WILD: 2, Symbol.KING_PIG: 1}


def _values() -> NDArray[np.int64]:
    """What each action is worth, by `action_points` as observed and action: (256, A)."""
    values = np.zeros((256, NUM_ACTIONS), np.int64)
    values[:, [Action.UNO, Action.CATCH]] = _FIRST
    values[:, [Action.DRAW, Action.KEEP, Action.LET_GO, Action.ACCEPT]] = _NEVER
    colours = NUM_SYMBOLS * np.arange(NUM_COLOURS)
    for symbol in range(NUM_SYMBOLS):
        if symbol < Symbol.SKIP:
            worth: int | NDArray[np.int64] = _PLAY + symbol
        elif symbol < NUM_COLOURED_SYMBOLS:
            worth = _PLAY + POINTS_UNIT * np.arange(256)[:, None]
        else:
            worth = _WILD_ORDER[Symbol(symbol)]
        values[:, colours + symbol] = worth
    return values


_VALUES = _values()


class GreedyAgent(Agent):
    """Plays the card worth most points, wilds last, and names the colour it holds most of.

    - What a card is worth follows the rules it plays under; among equals it takes the first in the
      order of the action layout.
    - Wilds come last, whatever their points: Wild Draw 4, then Wild, then King Pig, which may deal
      to its player too. So it never bluffs: with a card of the active colour it plays that.
    - It draws or keeps only when nothing can be played, always says UNO and always catches.
    - It challenges every Wild Draw 4: that costs two cards more if it is wrong, but saves four and
      the turn if it is right.

    Under house rules it follows `uno_env.rules_of_thumb`.

    It leaves nothing to chance: what it sees decides what it does.
    """

    name = "greedy"

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """See `Agent.act`."""
        self.check_input(observation, mask)
        mask = narrow(observation, mask)
        legal = LegalActions.of(mask)
        action_points = observation[:, SWITCH_PLACES["action_points_in_fives"]]
        actions = legal.best(_VALUES[action_points[legal.rows], legal.actions])

        # Plays of one wild differ by `NUM_SYMBOLS` from colour to colour, opening colours by 1.
        wild = (actions < NUM_FACES) & (actions % NUM_SYMBOLS >= NUM_COLOURED_SYMBOLS)
        opening = (actions >= Action.COLOUR) & (actions < Action.COLOUR + NUM_COLOURS)
        naming = np.flatnonzero(wild | opening)
        if naming.size:
            is_wild = wild[naming, None]
            first = np.where(is_wild, actions[naming, None] % NUM_SYMBOLS, Action.COLOUR)
            options = first + np.where(is_wild, NUM_SYMBOLS, 1) * np.arange(NUM_COLOURS)
            held = _held_by_colour(observation[naming])
            held[~mask[naming[:, None], options]] = -1
            actions[naming] = options[np.arange(len(naming)), held.argmax(axis=1)]
        return actions

    def preferences(
        self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """See `Agent.preferences`."""
        self.check_input(observation, mask)
        action_points = observation[:, SWITCH_PLACES["action_points_in_fives"]]
        liked = _VALUES[action_points].astype(np.float32)
        # Less than a step in what cards are worth, however many are held.
        held = _held_by_colour(observation) / np.float32(NUM_FACES)
        by_colour = liked[:, :NUM_FACES].reshape(-1, NUM_COLOURS, NUM_SYMBOLS)
        by_colour[:, :, NUM_COLOURED_SYMBOLS:] += held[:, :, None]
        liked[:, Action.COLOUR : Action.COLOUR + NUM_COLOURS] += held
        return unlike(liked, observation, mask)


def _held_by_colour(observation: NDArray[np.uint8]) -> NDArray[np.int8]:
    """How many cards of each colour the hand has: (B, F) -> (B, 4)."""
    hand = observation[:, LAYOUT["hand"]].reshape(-1, NUM_COLOURS, NUM_SYMBOLS)
    return hand[:, :, :NUM_COLOURED_SYMBOLS].sum(axis=2, dtype=np.int8)
