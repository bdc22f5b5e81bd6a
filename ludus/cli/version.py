"""`ludus version`: what is installed."""

import platform

import numpy as np

from ludus.cli.console import out
from ludus.version import __version__

__all__ = ["version"]


def version() -> None:
    """Print the versions of Ludus and of what it runs on."""
    out.print(f"ludus {__version__} · Python {platform.python_version()} · NumPy {np.__version__}")
