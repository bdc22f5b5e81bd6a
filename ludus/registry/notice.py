"""Warnings that point at the caller's own line, however deep in the library they arise."""

import warnings
from inspect import currentframe

__all__ = ["notice"]

INSIDE = ("ludus.registry.", "ludus.core.")


def notice(message: str, category: type[Warning]) -> None:
    """Warn at the first line outside the registry; Python shows deprecations of a program's own lines only."""
    frame, level = currentframe(), 1
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
