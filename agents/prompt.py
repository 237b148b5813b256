"""Asking a person at the terminal for an action."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from uno_env.game.actions import ACTIONS

Read = Callable[[str], str]
"""Asks for a line: the prompt to the answer."""
Write = Callable[[str], object]
"""Shows text."""

_ACTION_OF_TEXT = {text.lower(): action for action, text in enumerate(ACTIONS)}
_PER_LINE = 8
_MOST_DIGITS = 9


def ask_action(
    read: Read,
    write: Write,
    legal: Sequence[int],
    why_illegal: Callable[[int], str | None],
    commands: Mapping[str, Callable[[], object]] | None = None,
) -> int:
    """Show the legal actions and ask until one is named, by its number or its text.

    What cannot be done is answered with the reason and asked again.

    Args:
        read: asks.
        write: shows.
        legal: the ids of the legal actions.
        why_illegal: says of another why it is not.
        commands: words that may be answered too, and what they do before it is asked again.

    Raises:
        KeyboardInterrupt: the input has ended.
    """
    commands = commands or {}
    entries = [f"{number:2} {ACTIONS[action]}" for number, action in enumerate(legal, 1)]
    for start in range(0, len(entries), _PER_LINE):
        write("   ".join(entries[start : start + _PER_LINE]))
    others = "".join(f", or {word}" for word in commands)
    while True:
        answer = _ask(read)
        action = _ACTION_OF_TEXT.get(answer.lower())
        if answer.lower() in commands:
            commands[answer.lower()]()
        elif answer.isdecimal():
            # More digits than that Python may refuse to read.
            number = int(answer[-_MOST_DIGITS:])
            if len(answer) <= _MOST_DIGITS and 1 <= number <= len(legal):
                return legal[number - 1]
            write(f"{answer}: allowed is a number from 1 to {len(legal)}")
        elif action is None:
            allowed = f"allowed is a number of the list, or an action such as R5{others}"
            write(f"{answer!r}: {allowed}")
        elif action not in legal:
            write(f"{ACTIONS[action]}: {why_illegal(action)}")
        else:
            return action


def _ask(read: Read) -> str:
    try:
        return read("your action> ").strip()
    except UnicodeDecodeError:
        return "?"  # what was typed is no text, so no action either
    except EOFError:
        raise KeyboardInterrupt("the input has ended") from None
