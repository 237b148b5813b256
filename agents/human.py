"""`human`: a person at the terminal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from uno_env.determinize import sample_tables
from uno_env.game.actions import ACTIONS
from uno_env.game.engine import GameBatch
from uno_env.legal_actions import LegalActions
from uno_env.render import ansi

_ACTION_OF_TEXT = {text.lower(): action for action, text in enumerate(ACTIONS)}
_PER_LINE = 8
_MOST_DIGITS = 9


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

    def __init__(
        self, read: Callable[[str], str] = input, write: Callable[[str], object] = print
    ) -> None:
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
        entries = [f"{number:2} {ACTIONS[action]}" for number, action in enumerate(legal, 1)]
        for start in range(0, len(entries), _PER_LINE):
            self._write("   ".join(entries[start : start + _PER_LINE]))
        while True:
            action = self._understand(self._ask(), legal, table)
            if action is not None:
                return action

    def _ask(self) -> str:
        try:
            return self._read("your action> ").strip()
        except UnicodeDecodeError:
            return "?"  # what was typed is no text, so no action either
        except EOFError:
            raise KeyboardInterrupt("the input has ended") from None

    def _understand(self, answer: str, legal: list[int], table: GameBatch) -> int | None:
        """The action that an answer names; None, and why, if there is none to take."""
        if answer.isdecimal():
            # More digits than that Python may refuse to read.
            number = int(answer[-_MOST_DIGITS:])
            if len(answer) <= _MOST_DIGITS and 1 <= number <= len(legal):
                return legal[number - 1]
            self._write(f"{answer}: allowed is a number from 1 to {len(legal)}")
            return None
        action = _ACTION_OF_TEXT.get(answer.lower())
        if action is None:
            self._write(f"{answer!r}: allowed is a number of the list, or an action such as R5")
        elif action not in legal:
            self._write(f"{ACTIONS[action]}: {table.why_illegal(0, action)}")
        else:
            return action
        return None
