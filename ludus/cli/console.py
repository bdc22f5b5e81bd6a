"""Where the command line prints: results to `out`, everything else to `err`."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

__all__ = ["CleanConsole", "err", "out", "say"]


class CleanConsole(Console):
    r"""A console that sends the terminal no control sequences but its own.

    Ids, descriptions, errors and names of files are what third parties wrote: in a terminal, an escape sequence in them
    could rename the window, hide text or fill the clipboard.

    >>> CleanConsole(width=40).print("maze\x1b]0;title\x07 \u202eezam")
    maze]0;title ezam
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As the console's; what is no character to be seen is left out of what is said."""
        for segment in super().render(renderable, options):
            if segment.control is None and not segment.text.isprintable():
                yield segment._replace(
                    text="".join(char for char in segment.text if char.isprintable() or char == "\n")
                )
            else:
                yield segment


# Brackets are text, in tables too: what a third party wrote can neither style a line nor break it.
out = CleanConsole(highlight=False, markup=False)
err = CleanConsole(stderr=True, highlight=False, markup=False)


def say(message: str, style: str) -> None:
    """One line about what went wrong; brackets in it are text, and only the terminal breaks it."""
    err.print(Text(message, style=style), soft_wrap=True)
