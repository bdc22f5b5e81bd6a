"""`Drawn`: gives an environment that can draw itself every render mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ludus.core.env import AnyEnv, Metadata
from ludus.errors import RenderError, ResetNeeded, listing
from ludus.rendering.canvas import Canvas
from ludus.rendering.frame import Frame

if TYPE_CHECKING:
    from ludus.rendering.window import Window

__all__ = ["RENDER_MODES", "Drawn"]

RENDER_MODES = ("human", "rgb_array", "ansi", "svg")
"""What one drawing becomes; a new mode is a branch of `_rendered`."""


class Drawn(AnyEnv):
    """An environment whose author writes `draw()`; `render()` and `close()` follow.

    Stands first among the bases: `class CartPole(Drawn, RuleEnv)`. Randomness in a drawing comes from
    `self.stream("render")`, so that looking at an environment does not change what happens in it.

    >>> class Lamp(Drawn):
    ...     render_mode = "rgb_array"
    ...     def draw(self):
    ...         canvas = Canvas(40, 40, background="black")
    ...         canvas.circle(20, 20, 15, fill="yellow")
    ...         return canvas
    >>> Lamp().render()[20, 20].tolist()
    [255, 212, 59]
    """

    metadata: Metadata = {"render_modes": [*RENDER_MODES], "render_fps": 30}  # noqa: RUF012
    snapshot_shared: ClassVar[tuple[str, ...]] = ("_window",)
    _window: Window | None = None

    def draw(self) -> Canvas:
        """The current state as a drawing, on a new canvas."""
        raise NotImplementedError(f"{type(self).__name__} defines no draw()")

    def render(self) -> Any:
        """The current picture: "rgb_array" an array, "ansi" and "svg" strings, "human" None and a window.

        Raises RenderError when the environment was made without a render mode.
        """
        modes: list[str] = self.metadata.get("render_modes") or []
        if self.render_mode is None:
            raise RenderError(
                f"render: expected a render_mode, got None; make the environment with "
                f"make(…, render_mode=…), one of {listing(modes)}"
            )
        if self.render_mode not in RENDER_MODES or self.render_mode not in modes:
            raise RenderError(f"render_mode: expected one of {listing(modes)}, got {self.render_mode!r}")
        # Environments made of rules have no state before their first reset, and nothing to draw.
        if getattr(self, "state", self) is None:
            raise ResetNeeded("render: expected reset() first, got an environment that has not begun")
        return self._rendered(self.draw(), self.render_mode)

    def _rendered(self, canvas: Canvas, mode: str) -> Frame | str | None:
        if mode == "rgb_array":
            return canvas.to_rgb()
        if mode == "ansi":
            return canvas.to_ansi()
        if mode == "svg":
            return canvas.to_svg()
        if self._window is None:
            from ludus.rendering.window import Window  # and with it all that turns drawings into pixels

            self._window = Window(self.spec.id if self.spec is not None else type(self).__name__)
        self._window.show(canvas, fps=self.metadata.get("render_fps"))
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None
        super().close()
