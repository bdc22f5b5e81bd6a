"""Records: classes of NamedTuples, which are plain tuples in compiled code, whatever methods they have."""

import inspect
from types import CodeType
from typing import NamedTuple

from ludus.errors import KernelError
from ludus.kernels.exact.place import place_of

__all__ = ["check_record", "own_methods"]

MADE = frozenset({"__new__", "__repr__", "__getnewargs__", "__init_subclass__", "__class_getitem__", "__str__"})
"""What a NamedTuple has anyway, and what no rule calls."""


def own_methods(kind: type[NamedTuple]) -> list[str]:
    """What a NamedTuple class has of its own that stands for an operator, a constructor or a field.

    >>> from typing import NamedTuple
    >>> class Point(NamedTuple):
    ...     x: float
    ...     def __lt__(self, other):
    ...         return self.x > other.x
    >>> own_methods(Point)
    ['__lt__']
    """
    found: set[str] = set()
    for one in kind.__mro__[: kind.__mro__.index(tuple)]:
        made = tuple in one.__bases__
        for name, value in vars(one).items():
            if name in kind._fields:
                found |= set() if made else {name}
            elif inspect.isfunction(value) and name.startswith("__") and (not made or name not in MADE):
                found.add(name)
    return sorted(found - (MADE - {"__new__"}))


def check_record(kind: type[NamedTuple]) -> None:
    """Raise KernelError for a class whose operators compiled code would not call."""
    own = own_methods(kind)
    if not own:
        return
    code: CodeType | None = getattr(inspect.getattr_static(kind, own[0]), "__code__", None)
    where = kind.__name__ if code is None else place_of(code.co_filename, code.co_firstlineno)
    raise KernelError(
        f"{where}: expected a NamedTuple without operators of its own, got {kind.__name__}.{own[0]}, which compiled "
        "rules do not call; write a function for it"
    )
