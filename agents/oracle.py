"""`oracle` and `prophet`: search that cheats, the yardsticks for how much there is to win."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from agents.search import SearchAgent
from uno_env.determinize import true_tables
from uno_env.game.engine import GameBatch


class OracleAgent(SearchAgent):
    """Like `search`, but on tables with the true hands; the draw pile is shuffled.

    It is no player: how far it is ahead of one shows what knowing the hands is worth. It is given
    what `GameBatch.observe_all` gives, (B, FULL_SIZE), in place of observations.

    Args:
        rollouts: as for `search`.
        candidates: as for `search`.
        **settings: as for `search`.
    """

    name = "oracle"
    cheats = True
    SHUFFLE: ClassVar[bool] = True
    """Whether the draw pile is shuffled."""

    def __init__(self, *, rollouts: int = 32, candidates: int = 20, **settings: Any) -> None:
        super().__init__(rollouts=rollouts, candidates=candidates, **settings)

    def tables(self, observation: NDArray[np.uint8], k: int, rng: np.random.Generator) -> GameBatch:
        """See `SearchAgent.tables`."""
        return true_tables(observation, k, rng, shuffle=self.SHUFFLE)


class ProphetAgent(OracleAgent):
    """Like `oracle`, and the draw pile is the true one too: it knows what everybody will draw.

    Its tables differ in nothing but reshuffles, so few rollouts are enough.

    Args:
        rollouts: as for `search`.
        **settings: as for `search`.
    """

    name = "prophet"
    SHUFFLE: ClassVar[bool] = False

    def __init__(self, *, rollouts: int = 2, **settings: Any) -> None:
        super().__init__(rollouts=rollouts, **settings)
