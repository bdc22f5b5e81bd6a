"""Where the command line prints: results to `out`, everything else to `err`."""

from rich.console import Console
from rich.text import Text

__all__ = ["err", "out", "say"]

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def say(message: str, style: str) -> None:
    """One line about what went wrong; brackets in it are text, and only the terminal breaks it."""
    err.print(Text(message, style=style), soft_wrap=True)
