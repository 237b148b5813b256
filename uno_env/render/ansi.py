"""The table as text, for terminals.

::

    UNO  classic num_players=3
    top R5   colour R   clockwise   pile 83   discards 4

      player_0    1 card     120   [] UNO said
    > player_1    3 cards     45   R7 B7 W+4
      player_2   12 cards      0   [] [] [] [] [] [] [] [] [] [] [] []  dealer

    player_0 played R5; player_1 to act

Colours are codes around text that says the same without them, so nothing is lost where they are
switched off or cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from uno_env.game.position import Position
from uno_env.render.words import name_seats, what_happened, what_is_next

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_DIM = "\x1b[2m"
_PAINT = {"R": "\x1b[97;41m", "Y": "\x1b[30;43m", "G": "\x1b[30;42m", "B": "\x1b[97;44m"}
"""Dark or light letters on the colour, whichever can be read."""
_PAINT_WILD = "\x1b[7m"


def render(
    position: Position,
    *,
    last: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
    colour: bool = True,
    dealer: bool = True,
) -> str:
    """The table as lines of text, seen by the seat to act: of the other hands only the size.

    Args:
        position: what to show.
        last: the seat that acted last, and the id of its action.
        names: what to call each seat; ``player_0`` ... by default.
        colour: with ANSI colour codes.
        dealer: with a note of who dealt.

    Raises:
        ValueError: not one name per seat, or `last` is no seat with an action.
    """
    brush = _Brush(colour)
    called = name_seats(position, names)
    events = [what_happened(last, called), what_is_next(position, called)]
    return "\n".join(
        [
            f"{brush.bold('UNO')}  {position.rules}",
            _table(position, brush),
            "",
            *_seats(position, called, brush, dealer),
            "",
            "; ".join(filter(None, events)),
        ]
    )


def _table(position: Position, brush: _Brush) -> str:
    top = position.opening or position.top
    named = position.colour
    return "   ".join(
        [
            f"top {brush.card(top)}",
            f"colour {brush.colour(named) if named else '?'}",
            "clockwise" if position.direction == 1 else "counterclockwise",
            f"pile {len(position.draw)}",
            f"discards {len(position.discard)}",
        ]
    )


def _seats(position: Position, called: list[str], brush: _Brush, dealer: bool) -> list[str]:
    width = max(map(len, called))
    lines = []
    for seat, hand in enumerate(position.hands):
        to_act = seat == position.turn and not position.over
        shown = to_act or position.over
        cards = (
            " ".join(map(brush.card, hand)) if shown else brush.dim(" ".join(["[]"] * len(hand)))
        )
        notes = [
            note
            for note, holds in (
                ("UNO said", position.said and seat == position.on_turn),
                ("dealer", dealer and seat == position.dealer),
            )
            if holds
        ]
        name = f"{called[seat]:<{width}}"
        line = (
            f"{'>' if to_act else ' '} {brush.bold(name) if to_act else name}"
            f"  {len(hand):>3} card{' ' if len(hand) == 1 else 's'}  {position.scores[seat]:>5}"
            f"   {'  '.join(filter(None, [cards, *notes]))}"
        )
        lines.append(line.rstrip())
    return lines


class _Brush:
    """Puts colour codes around text, or leaves it as it is."""

    def __init__(self, colour: bool) -> None:
        self._on = colour

    def card(self, text: str) -> str:
        return self._paint(_PAINT.get(text[0], _PAINT_WILD), text)

    def colour(self, letter: str) -> str:
        return self._paint(_PAINT[letter], letter)

    def bold(self, text: str) -> str:
        return self._paint(_BOLD, text)

    def dim(self, text: str) -> str:
        return self._paint(_DIM, text)

    def _paint(self, code: str, text: str) -> str:
        return f"{code}{text}{_RESET}" if self._on else text
