"""What pictures are made of, whatever draws them: `svg` writes shapes, `raster` paints them.

Lengths are in units of a picture's own, from its upper left corner; colours are ``#rrggbb``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle with round corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 0.0
    line: str | None = None
    line_width: float = 0.0


@dataclass(frozen=True)
class Disc:
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str


@dataclass(frozen=True)
class Polygon:
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: str


@dataclass(frozen=True)
class Line:
    """A line through points."""

    points: tuple[Point, ...]
    colour: str
    width: float


@dataclass(frozen=True)
class Text:
    """One line of text, centred in height on `y`."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    align: Literal["left", "centre", "right"] = "centre"
    bold: bool = False


Shape = Box | Disc | Polygon | Line | Text


@dataclass(frozen=True)
class Group:
    """Shapes that belong together, such as those of a card in one's own hand."""

    shapes: tuple[Shape, ...]
    card: str
    """The text of the card."""


@dataclass(frozen=True)
class Picture:
    """What is to be drawn, from back to front."""

    width: int
    height: int
    title: str
    """What the picture shows, for those who do not see it."""
    shapes: tuple[Shape | Group, ...]


def arc(x: float, y: float, radii: Point, start: float, end: float) -> tuple[Point, ...]:
    """Points along a part of an ellipse.

    Args:
        x: of its middle.
        y: of its middle.
        radii: to the side and down.
        start: the angle of the first point in degrees, from the right and clockwise.
        end: that of the last.
    """
    steps = max(2, math.ceil(abs(end - start) / 3))
    angles = [math.radians(start + (end - start) * i / steps) for i in range(steps + 1)]
    return tuple((x + radii[0] * math.cos(a), y + radii[1] * math.sin(a)) for a in angles)
