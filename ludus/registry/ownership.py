"""Ownership: which package an environment belongs to; only it may register the id again."""

from typing import Any

from ludus.core import EnvSpec

__all__ = ["owner"]


def owner(spec: EnvSpec) -> str:
    """The top-level module that the environment's code is in."""
    entry_point: Any = spec.entry_point or spec.vector_entry_point
    while hasattr(entry_point, "func"):  # functools.partial
        entry_point = entry_point.func
    module = entry_point.partition(":")[0] if isinstance(entry_point, str) else getattr(entry_point, "__module__", None)
    return str(module or "unknown").partition(".")[0]
