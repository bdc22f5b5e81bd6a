"""`Window`: pictures on the screen, through pygame-ce. The only file that knows it."""

import os
from typing import TYPE_CHECKING

import numpy as np

from ludus.errors import MissingExtra, RenderError
from ludus.rendering.drawing import Drawing
from ludus.rendering.frame import Frame, as_frame
from ludus.rendering.pace import Pace
from ludus.rendering.pixels import to_pixels

if TYPE_CHECKING:
    import pygame

__all__ = ["Window"]

NO_SCREEN = ("offscreen", "dummy")
"""Drivers that SDL falls back to without a word; a window there is one that nobody sees."""
KEY_NAMES = {"return": "enter"}

_open: "dict[int, Window]" = {}
"""The open windows by SDL's number: there is one queue of events for all of them."""


class Window:
    """A window that opens with its first picture and never waits for anybody.

    If its user closes it, it stays closed and pictures are dropped: a training run goes on. A copy of a window is one
    that is not open yet.

    >>> window = Window("CartPole-v1")
    >>> window.is_open
    False
    """

    def __init__(self, title: str = "Ludus") -> None:
        self.title = title
        self.dismissed = False
        """Whether the user closed it."""
        self._window: pygame.Window | None = None
        self._pace = Pace()
        self._pressed: list[str] = []
        self._held: set[str] = set()

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen."""
        return self._window is not None

    def show(self, picture: Drawing | Frame, *, fps: float | None = None) -> bool:
        """Show a drawing or a frame, at most `fps` a second; False if it was left out.

        It sleeps no longer than until the picture is due. When the program is late, pictures are left out, not time.
        Raises RenderError where there is no screen, MissingExtra without pygame-ce.
        """
        if not self.dismissed and self._window is not None:
            self.pump()
        if self.dismissed or not self._pace.wait(fps):
            return False
        frame = to_pixels(picture) if isinstance(picture, Drawing) else as_frame(picture)
        self._blit(frame)
        self.pump()
        return True

    def pump(self) -> None:
        """Take in what happened to the window and on the keyboard since the last time."""
        if self._window is not None:
            _dispatch()

    def keys(self) -> list[str]:
        """The names of the keys that went down since the last call, in order."""
        self.pump()
        pressed, self._pressed = self._pressed, []
        return pressed

    def held(self) -> frozenset[str]:
        """The names of the keys that are down now."""
        return frozenset(self._held)

    def close(self) -> None:
        """Take the window from the screen; the next picture opens it again, unless the user had closed it."""
        if self._window is None:
            return
        _open.pop(self._window.id, None)
        self._window.destroy()
        self._window = None
        self._held.clear()
        if not _open:
            _require_pygame()
            import pygame

            pygame.display.quit()

    def __reduce__(self) -> tuple[type["Window"], tuple[str]]:
        return type(self), (self.title,)

    def _blit(self, frame: Frame) -> None:
        _require_pygame()
        import pygame

        height, width, _ = frame.shape
        window = self._window
        if window is None:
            _start()
            self._window = window = pygame.Window(self.title, (width, height))
            _open[window.id] = self
        elif window.size != (width, height):
            window.size = (width, height)
        image = pygame.image.frombuffer(np.ascontiguousarray(frame).tobytes(), (width, height), "RGB")
        window.get_surface().blit(image, (0, 0))
        window.flip()

    def _take(self, event: "pygame.Event") -> None:
        """One event of this window."""
        import pygame

        if event.type in (pygame.WINDOWCLOSE, pygame.QUIT):
            self.dismissed = True
            self.close()
        elif event.type == pygame.KEYDOWN:
            name = _key_name(event.key)
            self._pressed.append(name)
            self._held.add(name)
        elif event.type == pygame.KEYUP:
            self._held.discard(_key_name(event.key))
        elif event.type == pygame.WINDOWFOCUSLOST:
            self._held.clear()


def _require_pygame() -> None:
    """Whoever imports pygame calls this before, and is told here where there is none, or another one."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError as error:
        raise MissingExtra(
            'window: expected pygame-ce to be installed, got no such package; pip install "ludus-rl[window]", '
            'or use render_mode="rgb_array" or "ansi", which need nothing'
        ) from error
    if not hasattr(pygame, "Window"):
        raise MissingExtra(
            f"window: expected pygame-ce 2.5 or later, got pygame {pygame.version.ver}; "
            'pip uninstall pygame, then pip install "ludus-rl[window]"'
        )


def _start() -> None:
    """Reach the screen, or say that there is none."""
    import pygame

    asked = os.environ.get("SDL_VIDEODRIVER")
    try:
        pygame.display.init()
        found, reason = pygame.display.get_driver(), "a screen that nobody sees"
    except pygame.error as error:
        found, reason = None, str(error)
    if found is not None and (asked or found not in NO_SCREEN):
        return
    if found is not None and not _open:
        pygame.display.quit()
    raise RenderError(
        f'window: expected a display, got none ({reason}); use render_mode="ansi" to watch in the terminal or '
        'render_mode="rgb_array" for pixels, or set DISPLAY, or SDL_VIDEODRIVER=dummy for a window without a screen'
    )


def _key_name(key: int) -> str:
    import pygame

    name = str(pygame.key.name(key))
    return KEY_NAMES.get(name, name)


def _dispatch() -> None:
    """Hand each event to its window; those that name none are for all."""
    _require_pygame()
    import pygame

    for event in pygame.event.get():
        source = getattr(event, "window", None)
        for number, window in list(_open.items()):
            if source is None or source.id == number:
                window._take(event)  # pyright: ignore[reportPrivateUsage]
