"""uno-env: a reinforcement-learning environment and agent suite for UNO and UNO Angry Birds."""

from uno_env.envs import register_environments
from uno_env.envs.aec import env, raw_env
from uno_env.game.actions import ACTIONS
from uno_env.game.cards import CARDS
from uno_env.game.engine import GameBatch
from uno_env.game.position import Position
from uno_env.game.rules import Rules

__all__ = ["ACTIONS", "CARDS", "GameBatch", "Position", "Rules", "env", "raw_env"]
__version__ = "0.1.0"

register_environments()
