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

from uno_env.game.actions import ACTIONS, NUM_ACTIONS, Action
from uno_env.game.cards import NUM_FACES
from uno_env.game.position import Position

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_DIM = "\x1b[2m"
_PAINT = {"R": "\x1b[97;41m", "Y": "\x1b[30;43m", "G": "\x1b[30;42m", "B": "\x1b[97;44m"}
"""Dark or light letters on the colour, whichever can be read."""
_PAINT_WILD = "\x1b[7m"

_DECISIONS = {
    "turn": "to act",
    "drawn": "may play the card just drawn, {drawn}",
    "catch": "may catch {player}, who did not say UNO",
    "challenge": "may challenge the Wild Draw 4 of {player}",
    "colour": "to name the colour",
}
_SAID = {
    Action.DRAW: "drew",
    Action.KEEP: "kept the card drawn",
    Action.UNO: "said UNO",
    Action.CATCH: "caught the player",
    Action.LET_GO: "let the player go",
    Action.CHALLENGE: "challenged",
    Action.ACCEPT: "accepted",
}


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
    players = position.rules.num_players
    called = [f"player_{seat}" for seat in range(players)] if names is None else list(names)
    if len(called) != players:
        raise ValueError(f"names={names!r}: allowed is one for each of the {players} players")
    events = [_outcome(position, called)]
    if last is not None:
        events.insert(0, _what_happened(last, called))
    return "\n".join(
        [
            f"{brush.bold('UNO')}  {position.rules}",
            _table(position, brush),
            "",
            *_seats(position, called, brush, dealer),
            "",
            "; ".join(events),
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


def _outcome(position: Position, called: list[str]) -> str:
    """Who is to decide what, or how the round ended."""
    if not position.over:
        what = _DECISIONS[position.phase]
        what = what.format(drawn=position.drawn, player=called[position.on_turn])
        return f"{called[position.turn]} {what}"
    if position.winner is None:
        return "the round is blocked"
    end = f"{called[position.winner]} wins the round"
    if gained := ", ".join(
        f"{called[seat]} +{points}" for seat, points in enumerate(position.points) if points
    ):
        end = f"{end} ({gained} points)"
    if champions := [called[seat] for seat in position.game_winners]:
        verb = "wins" if len(champions) == 1 else "win"
        end = f"{end}; {' and '.join(champions)} {verb} the game"
    return end


def _what_happened(last: tuple[int, int], called: list[str]) -> str:
    seat, action = last
    if not (0 <= seat < len(called) and 0 <= action < NUM_ACTIONS):
        raise ValueError(
            f"last={last!r}: allowed is a seat, 0 to {len(called) - 1}, with an action, 0 to "
            f"{NUM_ACTIONS - 1}"
        )
    text = ACTIONS[action]
    if action < NUM_FACES:
        return f"{called[seat]} played {text}"
    if action >= Action.SWAP:
        return f"{called[seat]} swapped hands, {text}"
    if action >= Action.COLOUR:
        return f"{called[seat]} named the {text.replace(':', ' ')}"
    return f"{called[seat]} {_SAID[Action(action)]}"


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
