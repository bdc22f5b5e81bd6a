"""Splitting lanes: which of them go to which worker or thread."""

import os
from itertools import pairwise

__all__ = ["Span", "available_cores", "spans"]

Span = tuple[int, int]
"""The first lane, and the one after the last."""


def available_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spans(lanes: int, parts: int) -> list[Span]:
    """Lanes in at most `parts` runs, whose lengths differ by one at most.

    >>> spans(8, 3)
    [(0, 3), (3, 6), (6, 8)]
    """
    parts = min(lanes, parts)
    edges = [-(-lanes * part // parts) for part in range(parts + 1)]
    return list(pairwise(edges))
