"""Tables that random play meets, one of each phase."""

import numpy as np

from uno_env import GameBatch, Position, Rules
from uno_env.game.state import Phase

HOUSE = "classic stacking=True seven_zero=True jump_in=True"


def tables_by_phase(rules: str, players: int) -> dict[str, Position]:
    """A reached table of each phase that random play meets."""
    batch = GameBatch(Rules.make(rules, num_players=players), 64, seed=3)
    rng = np.random.default_rng(3)
    met: dict[str, Position] = {}
    for _ in range(400):
        for game, phase in enumerate(batch.state.phase):
            if Phase(phase).name.lower() not in met:
                met[Phase(phase).name.lower()] = batch.position(game)
        scores = np.where(batch.legal, rng.random(batch.legal.shape), -1)
        batch.step(scores.argmax(axis=1))
    return met
