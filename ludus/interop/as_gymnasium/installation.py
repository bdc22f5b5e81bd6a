"""Installation: the finder in this process, and a folder on the path for the processes that it starts."""

import os
import sys
from pathlib import Path

from ludus.errors import LudusError
from ludus.interop.as_gymnasium.finder import Finder

__all__ = ["install", "installed"]

SHIM = str(Path(__file__).resolve().parents[1] / "shim")
"""A folder with nothing but a module `gymnasium` that calls `install`."""


def install() -> None:
    """Make `import gymnasium` give Ludus from now on, here and in every Python process started from here.

    Children inherit it through `sys.path` (multiprocessing, whatever its start method) and `PYTHONPATH` (others). It
    has to come before the first `import gymnasium`, since what is imported already cannot be taken back.
    """
    found = sys.modules.get("gymnasium")
    if found is not None and not hasattr(found, "__ludus__"):
        raise LudusError(
            "as_gymnasium: expected to be installed before Gymnasium is imported, got it imported already; "
            "call install() first, or run the program by `python -m ludus.interop.as_gymnasium`"
        )
    if not installed():
        sys.meta_path.insert(0, Finder())
    if SHIM not in sys.path:
        sys.path.insert(0, SHIM)
    rest = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one and one != SHIM]
    os.environ["PYTHONPATH"] = os.pathsep.join([SHIM, *rest])


def installed() -> bool:
    """Whether `import gymnasium` gives Ludus in this process."""
    return any(isinstance(one, Finder) for one in sys.meta_path)
