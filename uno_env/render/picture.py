"""A table as a `Picture`: seats around it, piles in the middle, one hand open in front."""

from __future__ import annotations

import math
from collections.abc import Sequence

from uno_env.game.checks import whole_number
from uno_env.game.position import Position
from uno_env.render import cards
from uno_env.render.cards import COLOURS, INK, MUTED, PAPER, RATIO
from uno_env.render.shapes import Box, Disc, Group, Picture, Polygon, Shape, Text, arc
from uno_env.render.words import name_seats, what_happened, what_is_next

WIDTH, HEIGHT = 960, 640
_ROOM, _RIM, _FELT, _TRACK = "#10222b", "#24505c", "#17404a", "#2f6874"
_PLATE, _PLATE_ACTING, _GOLD = "#0f2a32", "#205a52", "#f2c84b"
_MIDDLE = (WIDTH / 2, 232.0)
_SEATS = (392.0, 168.0)
"""Radii of the ellipse on which the seats are."""
_SEAT_SIZE = (118.0, 74.0)
_CARD, _SMALL = 64.0, 26.0
"""Widths of cards."""
_HAND_Y = 500.0
_HAND_STEP, _HAND_WIDTH = 70.0, 900.0
"""From card to card of the open hand, at most, and all of it, at most."""


def picture(
    position: Position,
    *,
    seat: int | None = None,
    last: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
) -> Picture:
    """The table, with one hand open; after the round all hands are.

    Args:
        position: what to show.
        seat: whose hand is open; it sits in front. By default that of the seat to act is open, and
            seat 0 sits in front.
        last: the seat that acted last, and the id of its action.
        names: what to call each seat; ``player_0`` ... by default.

    Raises:
        ValueError: no such seat, not one name per seat, or `last` is no seat with an action.
        TypeError: a seat that is no whole number.
    """
    players = position.rules.num_players
    called = name_seats(position, names)
    if seat is not None:
        seat = whole_number("seat", seat, 0, players - 1, note=", or None")
    front = 0 if seat is None else seat
    open_hand = position.turn if seat is None else seat
    said = [what_happened(last, called), what_is_next(position, called, seat=open_hand)]
    events = "; ".join(filter(None, said))
    shapes: list[Shape | Group] = [
        Box(0, 0, WIDTH, HEIGHT, _ROOM),
        Polygon(arc(*_MIDDLE, (424, 206), 0, 360), _RIM),
        Polygon(arc(*_MIDDLE, (408, 190), 0, 360), _FELT),
        Text(16, 20, str(position.rules), 14, MUTED, "left"),
        *_direction(position),
        *_piles(position),
    ]
    for player in range(players):
        angle = 90 + 360 * ((player - front) % players) / players
        shapes += _seat(position, player, called[player], angle)
    shapes += _hand(position.hands[open_hand], called[open_hand])
    shapes.append(Text(WIDTH / 2, HEIGHT - 18, events, 15 if len(events) < 110 else 12, PAPER))
    title = f"{position.rules}: {events}"
    return Picture(WIDTH, HEIGHT, title, tuple(shapes))


def _direction(position: Position) -> list[Shape]:
    """Two arrows around the piles, the way the turn goes."""
    shapes: list[Shape] = []
    clockwise = position.direction == 1
    for start in (-50.0, 130.0):
        ends = (start, start + 100) if clockwise else (start + 100, start)
        outer, inner = (arc(*_MIDDLE, radii, *ends) for radii in ((168, 86), (162, 80)))
        shapes.append(Polygon((*outer, *reversed(inner)), _TRACK))
        tip = math.radians(ends[1] + (9 if clockwise else -9))
        shapes.append(
            Polygon(
                (
                    (_MIDDLE[0] + 165 * math.cos(tip), _MIDDLE[1] + 83 * math.sin(tip)),
                    *(
                        arc(*_MIDDLE, radii, ends[1], ends[1])[0]
                        for radii in ((177, 95), (153, 71))
                    ),
                ),
                _TRACK,
            )
        )
    return shapes


def _piles(position: Position) -> list[Shape]:
    """The draw pile, the top card and the colour that holds."""
    x, y = _MIDDLE[0], _MIDDLE[1] - RATIO * _CARD / 2
    top = position.opening or position.top
    shapes: list[Shape] = []
    if not position.draw:
        shapes.append(Box(x - _CARD - 12, y, _CARD, RATIO * _CARD, _FELT, 8, _TRACK, 2))
    for step in range(min(3, len(position.draw))):
        shapes += cards.back(x - _CARD - 12 - 3 * step, y - 3 * step, _CARD)
    shapes.append(
        Text(x - _CARD / 2 - 12, y + RATIO * _CARD + 14, str(len(position.draw)), 14, MUTED)
    )
    shapes += cards.card(top, x + 12, y, _CARD, position.colour)
    below = f"{len(position.discard)}"
    if position.stack:
        below = f"draw {position.stack}"
    shapes.append(Text(x + _CARD / 2 + 12, y + RATIO * _CARD + 14, below, 14, MUTED))
    if position.colour:
        fill = COLOURS[position.colour]
        at = (x + _CARD + 40, _MIDDLE[1])
        shapes.append(Disc(*at, 17, PAPER))
        shapes.append(Disc(*at, 15, fill))
        shapes.append(
            Text(*at, position.colour, 17, INK if position.colour == "Y" else PAPER, bold=True)
        )
    return shapes


def _seat(position: Position, player: int, name: str, angle: float) -> list[Shape]:
    """A seat: its name, total and cards."""
    width, height = _SEAT_SIZE
    x, y = arc(*_MIDDLE, _SEATS, angle, angle)[0]
    left, up = x - width / 2, y - height / 2
    acting = player == position.turn and not position.over
    won = player == position.winner
    line = _GOLD if acting or won else _RIM
    hand = position.hands[player]
    shapes: list[Shape] = [
        Box(
            left,
            up,
            width,
            height,
            _PLATE_ACTING if acting else _PLATE,
            10,
            line,
            3 if acting else 1.5,
        ),
        Text(left + 8, up + 13, _short(name, 11), 13, PAPER, "left", acting),
        Text(left + width - 8, up + 13, str(position.scores[player]), 13, _GOLD, "right"),
    ]
    shapes += _small_cards(hand, left + 8, up + 25, width - 42, position.over)
    shapes.append(Text(left + width - 18, up + 45, str(len(hand)), 18, PAPER, bold=True))
    notes = [
        note
        for note, holds in (
            ("UNO", position.said and player == position.on_turn),
            ("dealer", player == position.dealer),
        )
        if holds
    ]
    shapes.append(Text(x, up + height + 10, " · ".join(notes), 11, MUTED))
    return shapes


def _small_cards(hand: Sequence[str], x: float, y: float, width: float, shown: bool) -> list[Shape]:
    apart = min(_SMALL * 0.6, (width - _SMALL) / max(len(hand) - 1, 1))
    shapes: list[Shape] = []
    for place, text in enumerate(hand):
        at = (x + apart * place, y, _SMALL)
        shapes += cards.card(text, *at) if shown else cards.back(*at)
    return shapes


def _hand(hand: Sequence[str], name: str) -> list[Shape | Group]:
    """The open hand, each card a group of its own."""
    apart = min(_HAND_STEP, (_HAND_WIDTH - _CARD) / max(len(hand) - 1, 1))
    left = (WIDTH - _CARD - apart * (len(hand) - 1)) / 2
    shapes: list[Shape | Group] = []
    for place, text in enumerate(hand):
        at = (left + apart * place, _HAND_Y)
        shapes.append(Group(tuple(cards.card(text, *at, _CARD)), text))
    shapes.append(Text(WIDTH / 2, _HAND_Y - 18, f"{name}'s hand", 14, MUTED))
    return shapes


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
