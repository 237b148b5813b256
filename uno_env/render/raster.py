"""The table as pixels, and in a window: painted by pygame-ce, which is imported only when asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from uno_env.game.position import Position
from uno_env.render.picture import HEIGHT, WIDTH, picture
from uno_env.render.shapes import Box, Disc, Group, Line, Picture, Polygon, Shape, Text

_FINE = 2
"""Pixels painted for each pixel shown, in both directions: it smooths edges."""


def import_pygame() -> Any:
    """The module.

    Raises:
        gymnasium.error.DependencyNotInstalled: it is missing.
    """
    try:
        import pygame
    except ModuleNotFoundError as error:
        raise DependencyNotInstalled(
            "pictures of pixels and windows need pygame-ce: pip install 'uno-env[render]'"
        ) from error
    return pygame


class Painter:
    """Paints tables as pixels, and shows them in a window if asked.

    Args:
        window: whether there is a window.
        fps: pictures shown per second at most.

    Raises:
        gymnasium.error.DependencyNotInstalled: pygame-ce is missing.
    """

    def __init__(self, *, window: bool = False, fps: float = 0) -> None:
        self._pygame = import_pygame()
        self._pygame.font.init()
        self._fonts: dict[tuple[int, bool], Any] = {}
        self._fps = fps
        self._window = None
        if window:
            self._pygame.display.init()
            self._pygame.display.set_caption("UNO")
            self._window = self._pygame.display.set_mode((WIDTH, HEIGHT))
            self._clock = self._pygame.time.Clock()

    def pixels(
        self,
        position: Position,
        *,
        seat: int | None = None,
        last: tuple[int, int] | None = None,
        names: Sequence[str] | None = None,
    ) -> NDArray[np.uint8]:
        """The table as (640, 960, 3) uint8. Args and errors as for `picture.picture`."""
        painted = self._painted(picture(position, seat=seat, last=last, names=names))
        return np.ascontiguousarray(self._pygame.surfarray.array3d(painted).transpose(1, 0, 2))

    def show(
        self,
        position: Position,
        *,
        seat: int | None = None,
        last: tuple[int, int] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        """Show the table in the window, no sooner after the last one than is asked."""
        assert self._window is not None, "made without a window"
        image = picture(position, seat=seat, last=last, names=names)
        self._window.blit(self._painted(image), (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()
        self._clock.tick(self._fps)

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._pygame.display.quit()
            self._window = None

    def _painted(self, image: Picture) -> Any:
        size = (image.width, image.height)
        fine = self._pygame.Surface([_FINE * length for length in size])
        for shape in image.shapes:
            for each in shape.shapes if isinstance(shape, Group) else (shape,):
                self._paint(fine, each)
        return self._pygame.transform.smoothscale(fine, size)

    def _paint(self, surface: Any, shape: Shape) -> None:
        draw = self._pygame.draw
        match shape:
            case Box():
                self._paint_box(surface, shape)
            case Disc():
                draw.circle(surface, shape.fill, _scaled(shape.x, shape.y), _FINE * shape.radius)
            case Polygon():
                draw.polygon(surface, shape.fill, [_scaled(*point) for point in shape.points])
            case Line():
                width = max(1, round(_FINE * shape.width))
                points = [_scaled(*point) for point in shape.points]
                draw.lines(surface, shape.colour, False, points, width)
            case Text():
                self._write(surface, shape)

    def _paint_box(self, surface: Any, box: Box) -> None:
        """The line lies half within the edge and half without, as in SVG."""
        half = box.line_width / 2 if box.line else 0.0
        for grown, fill in ((half, box.line), (-half, box.fill)):
            if fill is None:
                continue
            left, up = _scaled(box.x - grown, box.y - grown)
            size = _scaled(box.width + 2 * grown, box.height + 2 * grown)
            radius = max(0, round(_FINE * (box.radius + grown))) if box.radius else 0
            self._pygame.draw.rect(surface, fill, (left, up, *size), border_radius=radius)

    def _write(self, surface: Any, text: Text) -> None:
        key = (round(_FINE * text.size), text.bold)
        if key not in self._fonts:
            self._fonts[key] = self._pygame.font.Font(None, round(1.3 * key[0]))
            self._fonts[key].set_bold(text.bold)
        drawn = self._fonts[key].render(text.text, True, text.fill)
        place = {"left": "midleft", "centre": "center", "right": "midright"}[text.align]
        surface.blit(drawn, drawn.get_rect(**{place: _scaled(text.x, text.y)}))


def _scaled(x: float, y: float) -> tuple[float, float]:
    return _FINE * x, _FINE * y
