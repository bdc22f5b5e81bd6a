"""The operations of spaces as functions, by the names the field knows them under."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.spaces.array_space import Array
from ludus.spaces.space import Space, is_space

T = TypeVar("T")

__all__ = [
    "batch_differing_spaces",
    "batch_space",
    "concatenate",
    "create_empty_array",
    "create_shared_memory",
    "flatdim",
    "flatten",
    "flatten_space",
    "is_space_dtype_shape_equiv",
    "iterate",
    "read_from_shared_memory",
    "unflatten",
    "write_to_shared_memory",
]


class SharingContext(Protocol):
    """Of a multiprocessing context, or that module itself, what gives memory that processes share."""

    def RawArray(self, code: str, size: int, /) -> object:  # noqa: N802  (the library's)
        """So many elements of a type's code, all zero."""
        ...


def _space(space: Space[T], what: str) -> Space[T]:
    given: object = space
    if not is_space(given):
        raise InvalidType(f"{what}: expected a ludus Space, got {shorten(space)}")
    return space


def flatdim(space: Space[object]) -> int:
    """How many numbers a flattened value of `space` has."""
    return _space(space, "flatdim").flatdim


def flatten(space: Space[object], x: object) -> Any:
    """`x`, of `space`, as flat as it gets."""
    return _space(space, "flatten").flatten(x)


def unflatten(space: Space[T], x: object) -> T:
    """The value of `space` that `flatten` made `x` from."""
    return _space(space, "unflatten").unflatten(x)


def flatten_space(space: Space[object]) -> Space[Any]:
    """The space that flattened values of `space` are in."""
    return _space(space, "flatten_space").flat_space()


def is_space_dtype_shape_equiv(space_1: Space[object], space_2: Space[object]) -> bool:
    """Whether values of both spaces fit the same buffers."""
    return _space(space_1, "space_1").same_layout(_space(space_2, "space_2"))


def batch_space(space: Space[object], n: int = 1) -> Space[Any]:
    """The space of `n` values of `space` at once."""
    return _space(space, "batch_space").batch(n)


def batch_differing_spaces(spaces: Sequence[Space[object]]) -> Space[Any]:
    """The space of one value of each of `spaces`, which are of one class and may differ in their bounds."""
    if not spaces:
        raise InvalidArgument("batch_differing_spaces: expected at least one space, got none")
    first = _space(spaces[0], "spaces[0]")
    if any(type(space) is not type(first) for space in spaces):
        raise InvalidType(
            f"batch_differing_spaces: expected spaces of one class, got {[type(one).__name__ for one in spaces]}"
        )
    return first.batch_differing(spaces)


def iterate(space: Space[object], items: object) -> Iterator[Any]:
    """The lanes of `items`, a value of the batched `space`."""
    return _space(space, "iterate").iterate(items)


def concatenate(space: Space[object], items: Iterable[object], out: object = None) -> Any:
    """Values of `space` as one batched value, written into `out` where it is an array."""
    return _space(space, "concatenate").concatenate(items, out)


def create_empty_array(space: Space[object], n: int = 1, fn: Callable[..., Array] = np.zeros) -> Any:
    """A buffer for `n` values of `space`."""
    return _space(space, "create_empty_array").empty(n, fn)


def create_shared_memory(space: Space[object], n: int = 1, ctx: SharingContext | None = None) -> object:
    """Memory for `n` values of `space` that child processes of `ctx` (a multiprocessing context) share.

    It is given back to the system when its last user is gone, however that one ended.
    """
    if ctx is None:
        import multiprocessing  # not at the top: it costs 10 ms that most users never need

        ctx = multiprocessing.get_context()
    return _space(space, "create_shared_memory").create_shared(n, partial(ctx.RawArray, "B"))


def read_from_shared_memory(space: Space[object], shared_memory: object, n: int = 1) -> Any:
    """The batched value in `shared_memory`; arrays are views of it."""
    return _space(space, "read_from_shared_memory").read_shared(shared_memory, n)


def write_to_shared_memory(space: Space[object], index: int, value: object, shared_memory: object) -> None:
    """Write `value` as lane `index`."""
    _space(space, "write_to_shared_memory").write_shared(shared_memory, index, value)
