"""What a learner is trained for: winning rounds, gaining points, or some of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eval.arguments import SHARE, finite_number
from uno_env.game import scoring
from uno_env.game.rules import Rules

POINTS = 100
"""Points on the mean of the others that count as much as winning a round, about as many as winning
one brings with two good players."""


@dataclass(frozen=True)
class Objective:
    """What a finished round is worth to each seat; the sum over seats is zero.

    Args:
        points_share: s, from 0, where only winning rounds counts, to 1, where only points do.

    Raises:
        ValueError: another share.
    """

    points_share: float = 0.0

    def __post_init__(self) -> None:
        finite_number("points_share", self.points_share, *SHARE)

    def worth(
        self, rules: Rules, winners: NDArray[np.bool_], points: NDArray[np.int32]
    ) -> NDArray[np.float32]:
        """(1 - s) x win + s x points / `POINTS`.

        Args:
            rules: of the rounds.
            winners: (n, P) who won; nobody where a round was blocked or cut off.
            points: (n, P) as `GameBatch.points`.

        Returns:
            (n, P). `win` is +1 for the winner and -1 / (P - 1) for the others, points are those
            gained on the mean of the others (`uno_env.game.scoring`).
        """
        share = np.float32(self.points_share)
        worth = scoring.win_rewards(winners)
        if share:
            worth *= 1 - share
            worth += share / POINTS * scoring.point_rewards(rules, points)
        return worth
