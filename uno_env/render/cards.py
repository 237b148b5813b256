"""Cards as shapes: each colour has a mark of its own beside it, a disc, a triangle, a square and a
diamond, so that colours are told apart without being seen.
"""

from __future__ import annotations

import math

from uno_env.game.cards import Colour
from uno_env.render.shapes import Box, Disc, Line, Point, Polygon, Shape, Text, arc

INK, PAPER, MUTED = "#16202a", "#ffffff", "#b9c6d2"
COLOURS = {"R": "#c8342b", "Y": "#f2b92a", "G": "#2e8b46", "B": "#2a68b8"}
"""Each with a contrast of 3 : 1 or more to what is drawn on it (`_ON`)."""
_ON = {"R": PAPER, "Y": INK, "G": PAPER, "B": PAPER}
_WILD = "#23282e"
_BACK, _BACK_LINE = "#3a2f5b", "#8f7fc9"
_PIG, _SNOUT, _CROWN = "#7cb342", "#aed581", "#f2c84b"

RATIO = 1.5
"""Height of a card to its width."""


def card(text: str, x: float, y: float, width: float, named: str | None = None) -> list[Shape]:
    """A card, face up.

    Args:
        text: of the card, such as ``R5``, ``W+4`` or ``KP``.
        x: of its left side.
        y: of its upper side.
        width: its width.
        named: the colour named for a wild that lies on the table: its edge.
    """
    wild = text[0] not in COLOURS
    symbol = text if wild else text[1:]
    fill = _WILD if wild else COLOURS[text[0]]
    ink = PAPER if wild else _ON[text[0]]
    edge = COLOURS[named] if wild and named else PAPER
    shapes: list[Shape] = [
        Box(x, y, width, RATIO * width, fill, 0.12 * width, edge, 0.06 * width),
        *_symbol(symbol, x + width / 2, y + RATIO * width / 2, 0.62 * width, fill, ink),
    ]
    if not wild:
        shapes.append(Text(x + 0.14 * width, y + 0.22 * width, symbol, 0.26 * width, ink, "left"))
        shapes += mark(text[0], x + 0.78 * width, y + 1.28 * width, 0.11 * width, ink)
    return shapes


def back(x: float, y: float, width: float) -> list[Shape]:
    """A card, face down."""
    inner = 0.14 * width
    return [
        Box(x, y, width, RATIO * width, _BACK, 0.12 * width, PAPER, 0.06 * width),
        Box(
            x + inner,
            y + inner,
            width - 2 * inner,
            RATIO * width - 2 * inner,
            _BACK,
            0.1 * width,
            _BACK_LINE,
            0.05 * width,
        ),
    ]


def mark(colour: str, x: float, y: float, radius: float, fill: str) -> list[Shape]:
    """The mark of a colour: a disc, a triangle, a square or a diamond."""
    corners = {"Y": (3, -90.0), "G": (4, -45.0), "B": (4, -90.0)}
    if colour not in corners:
        return [Disc(x, y, radius, fill)]
    number, first = corners[colour]
    return [_regular(number, first, x, y, 1.2 * radius, fill)]


def _regular(number: int, first: float, x: float, y: float, radius: float, fill: str) -> Polygon:
    angles = [math.radians(first + 360 * i / number) for i in range(number)]
    return Polygon(
        tuple((x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles), fill
    )


def _symbol(symbol: str, x: float, y: float, size: float, fill: str, ink: str) -> list[Shape]:
    """What is printed in the middle, in a square of `size` around (x, y)."""
    match symbol:
        case "S":
            return _skip(x, y, size, fill, ink)
        case "R":
            return _reverse(x, y, size, ink)
        case "W":
            return _wheel(x, y, size)
        case "W+4":
            below = Text(x, y + 0.55 * size, "+4", 0.6 * size, ink, bold=True)
            return [*_wheel(x, y - 0.3 * size, 0.9 * size), below]
        case "KP":
            return _king_pig(x, y, size)
    return [Text(x, y, symbol, (0.9 if len(symbol) > 1 else 1.25) * size, ink, bold=True)]


def _skip(x: float, y: float, size: float, fill: str, ink: str) -> list[Shape]:
    r = 0.42 * size
    slope = r * math.sqrt(0.5)
    bar = ((x - slope, y + slope), (x + slope, y - slope))
    return [
        Disc(x, y, r + 0.07 * size, ink),
        Disc(x, y, r - 0.07 * size, fill),
        Line(bar, ink, 0.14 * size),
    ]


def _reverse(x: float, y: float, size: float, ink: str) -> list[Shape]:
    def arrow(side: int) -> Polygon:
        """One of two arrows, up on the left and down on the right."""
        outline = [(-0.3, 0.4), (-0.3, -0.1), (-0.44, -0.1), (-0.22, -0.44), (0.0, -0.1)]
        outline += [(-0.14, -0.1), (-0.14, 0.4)]
        return Polygon(tuple((x + side * u * size, y + side * v * size) for u, v in outline), ink)

    return [arrow(1), arrow(-1)]


def _wheel(x: float, y: float, size: float) -> list[Shape]:
    """A disc of all four colours."""
    radius = 0.5 * size
    shapes: list[Shape] = [Disc(x, y, 1.1 * radius, PAPER)]
    for quarter, colour in enumerate(Colour):
        edge = arc(x, y, (radius, radius), -180 + 90 * quarter, -90 + 90 * quarter)
        shapes.append(Polygon(((x, y), *edge), COLOURS[colour.name]))
    return shapes


def _king_pig(x: float, y: float, size: float) -> list[Shape]:
    """A pig's head with a crown, of discs and a jagged band."""

    def at(u: float, v: float) -> Point:
        return x + u * size, y + v * size

    jags = [(-0.4, -0.28), (-0.46, -0.7), (-0.2, -0.5), (0, -0.78), (0.2, -0.5), (0.46, -0.7)]
    crown = Polygon(tuple(at(u, v) for u, v in [*jags, (0.4, -0.28)]), _CROWN)
    ears: list[Shape] = [Disc(*at(side * 0.4, -0.2), 0.14 * size, _PIG) for side in (-1, 1)]
    eyes: list[Shape] = []
    nostrils: list[Shape] = []
    for side in (-1, 1):
        eyes += [Disc(*at(side * 0.26, 0.0), 0.11 * size, PAPER)]
        eyes += [Disc(*at(side * 0.24, 0.0), 0.05 * size, INK)]
        nostrils.append(Disc(*at(side * 0.09, 0.24), 0.05 * size, INK))
    return [
        crown,
        *ears,
        Disc(*at(0, 0.12), 0.48 * size, _PIG),
        *eyes,
        Polygon(arc(*at(0, 0.24), (0.24 * size, 0.17 * size), 0, 360), _SNOUT),
        *nostrils,
    ]
