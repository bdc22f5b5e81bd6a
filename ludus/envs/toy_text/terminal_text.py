"""Terminal text: letters in colour, as escape codes that every terminal knows."""

__all__ = ["colored"]

COLORS = {"red": 1, "green": 2, "yellow": 3, "blue": 4, "magenta": 5}


def colored(text: str, color: str, *, highlight: bool = False, bold: bool = False) -> str:
    r"""`text` in a colour, or on it when `highlight`.

    >>> colored("S", "red", highlight=True)
    '\x1b[41mS\x1b[0m'
    """
    code = f"{4 if highlight else 3}{COLORS[color]}{';1' if bold else ''}"
    return f"\x1b[{code}m{text}\x1b[0m"
