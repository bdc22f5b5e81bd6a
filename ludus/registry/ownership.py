"""Ownership: which package an environment belongs to; only it may register the id again."""

from ludus.core import EnvSpec

__all__ = ["DISTRIBUTION", "MODULE", "owner", "package_of", "without_arguments"]

MODULE = "ludus"
DISTRIBUTION = "ludus-rl"
"""What our own package is installed as; `ludus` in the package index is somebody else's."""


def owner(spec: EnvSpec) -> str:
    """The top-level module that the environment's code is in."""
    entry_point = without_arguments(spec.entry_point or spec.vector_entry_point)
    module = entry_point.partition(":")[0] if isinstance(entry_point, str) else getattr(entry_point, "__module__", None)
    return str(module or "unknown").partition(".")[0]


def without_arguments(entry_point: object) -> object:
    """What `functools.partial` was made of; anything else as it is.

    >>> from functools import partial
    >>> without_arguments(partial(partial(int), base=2))
    <class 'int'>
    """
    while hasattr(entry_point, "func"):
        entry_point = getattr(entry_point, "func", None)
    return entry_point


def package_of(spec: EnvSpec) -> str:
    """What to install for an environment that nobody announced: our own distribution, or else the owner by its module.

    >>> package_of(EnvSpec("Maze-v0", "mazes.big:Maze")), package_of(EnvSpec("Grid-v0", "ludus.envs.teaching:Grid"))
    ('mazes', 'ludus-rl')
    """
    found = owner(spec)
    return DISTRIBUTION if found == MODULE else found
