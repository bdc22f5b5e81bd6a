"""Slots: shared memory for values whose size varies, each lane a length and a msgpack message.

The size of a slot is a limit, not a guess at the data: a value that does not fit is an error that names the limit.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ludus.errors import CodecError
from ludus.spaces.message import pack, unpack

__all__ = ["SLOT_BYTES", "Allocate", "create_slots", "read_slots", "write_slot"]

Allocate: TypeAlias = Callable[[int], object]
"""Gives a zeroed, writable buffer of that many bytes."""

SLOT_BYTES = 65_536
"""How many bytes one value of varying size may take in shared memory."""

_HEADER = 8


def create_slots(n: int, allocate: Allocate, size: int = SLOT_BYTES) -> object:
    """Memory for `n` values of at most `size` bytes each."""
    return allocate(n * (size + _HEADER))


def _bytes(memory: Any) -> npt.NDArray[np.uint8]:  # a buffer: NumPy's types name only some of them
    return np.frombuffer(memory, dtype=np.uint8)


def read_slots(memory: object, n: int) -> Iterator[object]:
    """The plain data of each of `n` slots; a slot never written reads as None."""
    for row in _bytes(memory).reshape(n, -1):
        length = int(row[:_HEADER].view(np.uint64)[0])
        yield unpack(row[_HEADER : _HEADER + length].tobytes(), "shared memory") if length else None


def write_slot(memory: object, lane: int, data: object, what: str, size: int = SLOT_BYTES) -> None:
    """Write plain `data` as slot `lane`."""
    message = pack(data)
    if len(message) > size:
        raise CodecError(
            f"{what}: expected at most {size} bytes in shared memory, got {len(message)}; "
            "bound the space, or run without shared memory"
        )
    start = lane * (size + _HEADER)
    flat = _bytes(memory)
    flat[start + _HEADER : start + _HEADER + len(message)] = np.frombuffer(message, dtype=np.uint8)
    # The length is written last: a reader never sees it before the bytes it counts.
    flat[start : start + _HEADER].view(np.uint64)[0] = len(message)
