"""Algorithmic: copy, reverse and add on tapes that grow longer as they are mastered."""

from importlib import import_module
from typing import TYPE_CHECKING

# Loaded when used: whoever makes one of them needs none of the others.
if TYPE_CHECKING:
    from ludus.envs.algorithmic.algorithmic_env import AlgorithmicEnv
    from ludus.envs.algorithmic.copy import Copy
    from ludus.envs.algorithmic.duplicated_input import DuplicatedInput
    from ludus.envs.algorithmic.repeat_copy import RepeatCopy
    from ludus.envs.algorithmic.reverse import Reverse
    from ludus.envs.algorithmic.reversed_addition import ReversedAddition

__all__ = ["AlgorithmicEnv", "Copy", "DuplicatedInput", "RepeatCopy", "Reverse", "ReversedAddition"]

_HOME = {
    "AlgorithmicEnv": "algorithmic_env",
    "Copy": "copy",
    "DuplicatedInput": "duplicated_input",
    "RepeatCopy": "repeat_copy",
    "Reverse": "reverse",
    "ReversedAddition": "reversed_addition",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
