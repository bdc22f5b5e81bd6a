"""`ludus version`: what is installed."""

import platform

import numpy as np

import ludus
from ludus.cli.console import out

__all__ = ["version"]


def version() -> None:
    """Print the versions of Ludus and of what it runs on."""
    out.print(f"ludus {ludus.__version__} · Python {platform.python_version()} · NumPy {np.__version__}")
