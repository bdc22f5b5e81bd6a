"""Messages in colour, and warnings that a program can switch off by `min_level`."""

import warnings

__all__ = ["ERROR", "WARN", "color2num", "colorize", "deprecation", "error", "min_level", "warn"]

WARN, ERROR = 30, 40
min_level = WARN
"""Messages below this level are not shown; programs set it."""

color2num = {
    name: 30 + place
    for place, name in enumerate(("gray", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "crimson"))
}


def colorize(string: str, color: str, bold: bool = False, highlight: bool = False) -> str:
    r"""The text in a colour of the terminal, as its background when `highlight`.

    >>> colorize("hot", "red")
    '\x1b[31mhot\x1b[0m'
    """
    number = color2num[color] + (10 if highlight else 0)
    return f"\x1b[{number}{';1' if bold else ''}m{string}\x1b[0m"


def warn(msg: str, *args: object, category: type[Warning] | None = None, stacklevel: int = 1) -> None:
    """Warn, in yellow."""
    if min_level <= WARN:
        warnings.warn(colorize(f"WARN: {msg % args}", "yellow"), category, stacklevel=stacklevel + 1)


def deprecation(msg: str, *args: object) -> None:
    """Warn of something that will go."""
    warn(msg, *args, category=DeprecationWarning, stacklevel=2)


def error(msg: str, *args: object) -> None:
    """Warn, in red."""
    if min_level <= ERROR:
        warnings.warn(colorize(f"ERROR: {msg % args}", "red"), stacklevel=2)
