"""What agents are asked and answer: checked, and what is wrong with it said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agents import Agent
from uno_env.game.actions import ACTIONS, NUM_ACTIONS
from uno_env.game.engine import GameBatch


class AgentError(RuntimeError):
    """An agent raised or answered with something else than legal actions; says where.

    Args:
        message: all of it, for people.
        agent: the agent's name.
        what: what it did.
        position: the position, as text.
        game: the index of the game in its batch.
    """

    def __init__(
        self, message: str, agent: str = "", what: str = "", position: str = "", game: int = 0
    ) -> None:
        super().__init__(message, agent, what, position, game)  # all of it goes along in a pickle
        self.agent, self.what, self.position, self.game = agent, what, position, game

    def __str__(self) -> str:
        return str(self.args[0])


def ask(
    agent: Agent,
    batch: GameBatch,
    games: NDArray[np.intp],
    observation: NDArray[np.uint8],
    mask: NDArray[np.bool_],
    rng: np.random.Generator,
    where: Callable[[int], str],
) -> NDArray[np.integer]:
    """What an agent does in some games, checked against a mask that it cannot write on.

    Args:
        agent: who is asked.
        batch: where the games are.
        games: (B,) their indices, at least one.
        observation: (B, F) uint8, of the seats to act; an agent that cheats is given all there
            is instead.
        mask: (B, A) bool, the legal actions.
        rng: the agent's chance.
        where: says which game it was, by its index, in a line of the error.

    Returns:
        (B,) integers, legal actions.

    Raises:
        AgentError: the agent raised or answered with something else.
    """

    def error(what: str, row: int = 0) -> AgentError:
        game = int(games[row])
        position = str(batch.position(game))
        message = f"agent {agent.name!r} {what}\n{where(game)}\n{position}"
        return AgentError(message, agent.name, what, position, game)

    if agent.cheats:
        observation = batch.observe_all(where=games)
    try:
        answer = np.asarray(agent.act(observation, mask.copy(), rng))
    except Exception as cause:
        raise error(f"raised {type(cause).__name__}: {cause}") from cause
    if answer.shape != games.shape or answer.dtype.kind not in "iu":
        nans = np.isnan(answer) if answer.dtype.kind == "f" else np.zeros(answer.shape, np.bool_)
        nan = ", NaN among them," if nans.any() else ""
        row = int(nans.argmax()) if answer.shape == games.shape else 0
        raise error(
            f"answered with {answer.dtype}{nan} of the shape {answer.shape}: needed are integers "
            f"of the shape {games.shape}",
            row,
        )
    known = (answer >= 0) & (answer < NUM_ACTIONS)
    if not known.all():
        row = int(known.argmin())
        allowed = f"allowed is a whole number from 0 to {NUM_ACTIONS - 1}"
        raise error(f"answered {answer[row]}: {allowed}", row)
    legal = mask[np.arange(len(games)), answer]
    if not legal.all():
        row = int(legal.argmin())
        action = int(answer[row])
        why = batch.why_illegal(int(games[row]), action)
        raise error(f"answered {ACTIONS[action]} ({action}), which is illegal: {why}", row)
    return answer
