"""`Screen`: what a player looks at and types on. The game does not know which one it is."""

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from ludus.rendering.drawing import Drawing
from ludus.rendering.frame import Frame

__all__ = ["Picture", "Screen"]

Picture = Drawing | Frame | str
"""A drawing, pixels, or text of an environment that draws itself in characters."""


class Screen(Protocol):
    """Used as a context: it takes over the terminal or opens a window, and gives back what it took on any way out."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, picture: Picture, lines: Sequence[str]) -> None:
        """Show a picture, and lines of text with it."""
        ...

    def keys(self, timeout: float | None) -> list[str]:
        """The keys pressed since the last call; waits up to `timeout` seconds for one, without end for None."""
        ...

    def held(self) -> frozenset[str]:
        """The keys that are down now, as well as it can be known."""
        ...

    @property
    def gone(self) -> bool:
        """Whether the player closed it."""
        ...
