"""What a value is, in a form that type checkers follow, where every step of an environment passes.

As `ludus.spaces.kinds`, but for the cost of a call of Python's: what `isinstance` itself asks is asked here.
"""

from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from ludus.core import Info, Step
from ludus.spaces.array_space import Array

__all__ = ["is_array", "is_dict", "is_tuple", "new_step"]


def _check_of(kind: type[object]) -> Any:
    return kind.__instancecheck__


is_array: Callable[[object], TypeGuard[Array]] = _check_of(np.ndarray)
is_tuple: Callable[[object], TypeGuard[tuple[object, ...]]] = _check_of(tuple)
is_dict: Callable[[object], TypeGuard[dict[str, object]]] = _check_of(dict)

StepParts = tuple[object, object, object, object, Info]
new_step: Callable[[type[Step[object]], StepParts], Step[object]] = vars(tuple)["__new__"]
"""A step without the call of its constructor, which is Python's: `tuple.__new__`."""
