"""Places: a line of the user's own code, as messages name it."""

import linecache
import os
from pathlib import Path

__all__ = ["place_of"]


def place_of(filename: str, line: int) -> str:
    """A file and a line, and what is written there.

    >>> place_of("nowhere.py", 3)
    'nowhere.py:3'
    """
    text = linecache.getline(filename, line).strip()
    shown = os.path.relpath(filename) if Path(filename).is_absolute() else filename
    shown = filename if shown.startswith("..") else shown
    return f"{shown}:{line}" + (f" ({text})" if text else "")
