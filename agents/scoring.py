"""Bots that add up what speaks for and against each play: named features times their weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from uno_env.features import NAMES, features, features_of_keeping
from uno_env.game.actions import NUM_ACTIONS, Action
from uno_env.game.cards import NUM_COLOURS, NUM_FACES
from uno_env.game.observation import LAYOUT
from uno_env.game.rules import MIN_PLAYERS
from uno_env.legal_actions import LegalActions
from uno_env.rules_of_thumb import narrow, unlike
from uno_env.sight import Floats, Sight

Weights = Mapping[str, tuple[float, float]]
"""By feature: what it counts at a table of two, and at a larger one."""
_FIRST, _NEVER = 1000.0, -1000.0


def _fixed_scores() -> Floats:
    """Scores of what is decided the same way always, by action: (A,)."""
    scores = np.zeros(NUM_ACTIONS, np.float32)
    scores[[Action.UNO, Action.CATCH]] = _FIRST
    scores[[Action.DRAW, Action.LET_GO]] = _NEVER
    return scores


_FIXED_SCORES = _fixed_scores()


class ScoringAgent(Agent):
    """Takes the action with the highest score, among equals the first of the action layout.

    It draws only when nothing can be played, always says UNO, always catches, and names for an
    opening wild the colour it holds most of. Under house rules it follows
    `uno_env.rules_of_thumb`. It leaves nothing to chance.

    Args:
        weights: others than those of the bot, (2, K) in the order of `uno_env.features.NAMES`: at a
            table of two, and at a larger one.

    Raises:
        ValueError: `weights` of another shape.
    """

    WEIGHTS: ClassVar[Weights]
    """What each feature counts; one that is not named counts nothing."""
    DOUBT: ClassVar[float] = 0.7
    """A Wild Draw 4 is challenged where its player is more likely than that to hold a colour."""

    def __init__(self, weights: NDArray[np.float32] | None = None) -> None:
        self.weights: Floats = as_array(self.WEIGHTS)
        if weights is not None:
            self.weights = np.asarray(weights, np.float32)
        if self.weights.shape != (2, len(NAMES)):
            raise ValueError(
                f"weights have the shape {self.weights.shape}: allowed is {(2, len(NAMES))}"
            )

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """See `Agent.act`."""
        self.check_input(observation, mask)
        actions = np.empty(len(observation), np.intp)
        for rows, legal, scores in self._scored(observation, narrow(observation, mask)):
            actions[rows] = legal.highest(scores)
        return actions

    def preferences(
        self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """See `Agent.preferences`: the scores."""
        self.check_input(observation, mask)
        liked = np.full(mask.shape, -np.inf, np.float32)
        for rows, legal, scores in self._scored(observation, mask):
            liked[rows[legal.rows], legal.actions] = scores
        return unlike(liked, observation, mask)

    def _scored(
        self, observation: NDArray[np.uint8], mask: NDArray[np.bool_]
    ) -> Iterator[tuple[NDArray[np.intp], LegalActions, Floats]]:
        """The rows of each size of table, with their legal actions and the scores of these."""
        players = observation[:, LAYOUT["num_players"]].argmax(axis=1) + MIN_PLAYERS
        for number in np.unique(players).tolist():
            rows = np.flatnonzero(players == number)
            # All of a batch sit at tables of one size, unless somebody mixes them.
            some = slice(None) if len(rows) == len(players) else rows
            legal = LegalActions.of(mask[some])
            yield rows, legal, self.scores(Sight(observation[some], number), legal)

    def scores(self, sight: Sight, legal: LegalActions) -> Floats:
        """What each legal action is worth: (L,) float32."""
        weights = self.weights[0 if sight.players == 2 else 1]
        scores = _FIXED_SCORES[legal.actions]
        plays = np.flatnonzero(legal.actions < NUM_FACES)
        scores[plays] = weights @ features(sight, legal.rows[plays], legal.actions[plays])

        if len(plays) < len(scores):
            keeps = np.flatnonzero(legal.actions == Action.KEEP)
            scores[keeps] = weights @ features_of_keeping(sight, legal.rows[keeps])
            challenges = np.flatnonzero(legal.actions == Action.CHALLENGE)
            if challenges.size:
                scores[challenges] = self.guilt(sight)[legal.rows[challenges]] - self.DOUBT
            colours = legal.actions - Action.COLOUR
            opening = np.flatnonzero((colours >= 0) & (colours < NUM_COLOURS))
            scores[opening] = sight.held_colours[legal.rows[opening], colours[opening]]
        return scores

    def guilt(self, sight: Sight) -> Floats:
        """How likely a Wild Draw 4 was a bluff, from 0 to 1: (B,)."""
        return sight.guilt


def as_array(weights: Weights) -> Floats:
    """Weights as an array (2, K).

    Raises:
        ValueError: a feature that does not exist.
    """
    for name in weights:
        if name not in NAMES:
            raise ValueError(f"unknown feature {name!r}: known are {', '.join(NAMES)}")
    return np.array([weights.get(name, (0.0, 0.0)) for name in NAMES], np.float32).T.copy()
