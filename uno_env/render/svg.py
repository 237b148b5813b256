"""The table as SVG, for notebooks, pages and papers.

The cards of the open hand are groups with the card's text in ``data-card``, so that a page can make
them answer to clicks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from uno_env.game.cards import parse_card
from uno_env.game.position import Position
from uno_env.render import cards
from uno_env.render.picture import picture
from uno_env.render.shapes import Box, Disc, Group, Line, Picture, Point, Polygon, Shape

_FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_CARD, _EDGE = 100.0, 3.0
"""The width of a card that is shown alone, and what its outline needs around it."""
_ANCHORS = {"left": "start", "centre": "middle", "right": "end"}


class Svg(str):
    """The text of an SVG file, which notebooks show as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def render(
    position: Position,
    *,
    seat: int | None = None,
    last: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
) -> Svg:
    """The table as the text of an SVG file. Args and errors as for `picture.picture`.

    Of hands that are not open only the size is in it.
    """
    return to_svg(picture(position, seat=seat, last=last, names=names))


def card(text: str | None) -> Svg:
    """One card alone as the text of an SVG file.

    Args:
        text: of the card, such as ``R5`` or ``KP``; None shows its back.

    Raises:
        ValueError: no such card.
    """
    if text is None:
        shapes = cards.back(_EDGE, _EDGE, _CARD)
    else:
        parse_card(text)
        shapes = cards.card(text, _EDGE, _EDGE, _CARD)
    width, height = round(_CARD + 2 * _EDGE), round(cards.RATIO * _CARD + 2 * _EDGE)
    return to_svg(Picture(width, height, text or "a card, face down", tuple(shapes)))


def to_svg(image: Picture) -> Svg:
    """A picture as the text of an SVG file."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {image.width} {image.height}" '
        f'role="img" font-family="{_FONT}">',
        f"<title>{escape(image.title)}</title>",
        *_written(image.shapes),
        "</svg>",
    ]
    return Svg("\n".join(lines) + "\n")


def _written(shapes: Iterable[Shape | Group]) -> list[str]:
    lines: list[str] = []
    for shape in shapes:
        if isinstance(shape, Group):
            lines.append(f'<g data-card="{escape(shape.card)}">')
            lines += [_element(each) for each in shape.shapes]
            lines.append("</g>")
        else:
            lines.append(_element(shape))
    return lines


def _element(shape: Shape) -> str:
    match shape:
        case Box():
            line = f' stroke="{shape.line}" stroke-width="{_n(shape.line_width)}"'
            return (
                f'<rect x="{_n(shape.x)}" y="{_n(shape.y)}" width="{_n(shape.width)}" '
                f'height="{_n(shape.height)}" rx="{_n(shape.radius)}" fill="{shape.fill}"'
                f"{line if shape.line else ''}/>"
            )
        case Disc():
            return (
                f'<circle cx="{_n(shape.x)}" cy="{_n(shape.y)}" r="{_n(shape.radius)}" '
                f'fill="{shape.fill}"/>'
            )
        case Polygon():
            return f'<polygon points="{_points(shape.points)}" fill="{shape.fill}"/>'
        case Line():
            return (
                f'<polyline points="{_points(shape.points)}" fill="none" stroke="{shape.colour}" '
                f'stroke-width="{_n(shape.width)}"/>'
            )
    weight = ' font-weight="700"' if shape.bold else ""
    return (
        f'<text x="{_n(shape.x)}" y="{_n(shape.y)}" font-size="{_n(shape.size)}" '
        f'fill="{shape.fill}" text-anchor="{_ANCHORS[shape.align]}" '
        f'dominant-baseline="central"{weight}>{escape(shape.text)}</text>'
    )


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def _n(number: float) -> str:
    """A length as short as it is exact to a hundredth."""
    return f"{number:.2f}".rstrip("0").rstrip(".")
