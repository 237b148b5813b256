"""`human`: a person at the terminal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from agents.prompt import Read, Write, ask_action
from uno_env.determinize import sample_tables
from uno_env.legal_actions import LegalActions
from uno_env.render import ansi


class HumanAgent(Agent):
    """Shows what the seat sees and asks for an action, by its number in the list or its text.

    What cannot be done is answered with the reason and asked again. Where only one action is legal
    nothing is asked. The end of the input, or Ctrl-C, ends the match.

    Args:
        read: asks for a line: the prompt to the answer.
        write: shows text.
    """

    name = "human"
    interactive = True

    def __init__(self, read: Read = input, write: Write = print) -> None:
        self._read, self._write = read, write

    def act(
        self,
        observation: NDArray[np.uint8],
        mask: NDArray[np.bool_],
        rng: np.random.Generator,
    ) -> NDArray[np.intp]:
        """See `Agent.act`.

        Raises:
            KeyboardInterrupt: the input has ended.
        """
        self.check_input(observation, mask)
        legal = LegalActions.of(mask)
        each = np.split(legal.actions, legal.starts[1:]) if len(mask) else []
        chosen = [
            self._choose(row, actions.tolist(), rng)
            for row, actions in zip(observation, each, strict=True)
        ]
        return np.array(chosen, np.intp)

    def _choose(
        self, observation: NDArray[np.uint8], legal: list[int], rng: np.random.Generator
    ) -> int:
        if len(legal) == 1:
            return legal[0]
        # Any table that fits looks the same from this seat, but for the dealer.
        table = sample_tables(observation, 1, rng)
        players = table.rules.num_players
        names = ["you", *(f"{seat} to your left" for seat in range(1, players))]
        self._write(ansi.render(table.position(0), names=names, dealer=False))
        return ask_action(
            self._read, self._write, legal, lambda action: table.why_illegal(0, action)
        )
