"""What environments do for ``render_mode``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from uno_env.game.position import Position
from uno_env.render import ansi, svg

if TYPE_CHECKING:
    from uno_env.render.raster import Painter

RENDER_MODES = ("human", "ansi", "svg", "rgb_array")
"""A window; text; the text of an SVG file; pixels, (640, 960, 3) uint8."""
FPS = 2
"""Pictures per second in a window."""

Frame = str | NDArray[np.uint8] | None


def hint_at_modes() -> None:
    """Warn those who render without a mode."""
    gymnasium.logger.warn("render() has nothing to do: make the env with a render_mode")


class Renderer:
    """Renders tables in one mode.

    Args:
        mode: one of `RENDER_MODES`, or None for one that only hints that there is none.

    Raises:
        gymnasium.error.DependencyNotInstalled: a mode that needs pygame-ce, which is missing.
    """

    def __init__(self, mode: str | None) -> None:
        self.mode = mode
        self._painter: Painter | None = None
        if mode in ("human", "rgb_array"):
            from uno_env.render import raster

            raster.import_pygame()

    def __getstate__(self) -> dict[str, Any]:
        """Windows are not copied: a copy opens its own."""
        return {"mode": self.mode, "_painter": None}

    def render(
        self, position: Position, *, seat: int | None = None, last: tuple[int, int] | None = None
    ) -> Frame:
        """The table as the mode has it, or None where it is shown in a window.

        Args:
            position: what to show.
            seat: whose hand is open and who sits in front, see `picture`; text shows the hand of
                the seat to act.
            last: the seat that acted last, and the id of its action.
        """
        match self.mode:
            case None:
                hint_at_modes()
                return None
            case "ansi":
                return ansi.render(position, last=last)
            case "svg":
                return svg.render(position, seat=seat, last=last)
        if self._painter is None:
            from uno_env.render.raster import Painter

            self._painter = Painter(window=self.mode == "human", fps=FPS)
        if self.mode == "rgb_array":
            return self._painter.pixels(position, seat=seat, last=last)
        self._painter.show(position, seat=seat, last=last)
        return None

    def close(self) -> None:
        """Close the window, if there is one; `render` opens it again."""
        if self._painter is not None:
            self._painter.close()
            self._painter = None
