"""Columns of a chunk as `.npy` bytes, and back. Whole numbers are stored as narrow as they are, bools as bits.

What a file says of a column is never parsed from the `.npy` header: the header that the chunk's description asks for is
computed, and has to be there byte for byte. So nothing is evaluated, and no dtype but those named here is made.
"""

from math import prod

import msgspec
import numpy as np

from ludus.errors import TrajectoryError, shorten
from ludus.spaces.array_space import Array

__all__ = ["ColumnHead", "encode_column", "decode_column"]

INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
DTYPES = {f"{'|' if kind.endswith('1') else '<'}{kind}" for kind in (*INTEGERS, "f2", "f4", "f8", "c8", "c16", "b1")}
"""The dtypes of columns, as `.npy` spells them: numbers of a fixed size, none of them an object."""
NARROWER = [np.dtype(one) for one in ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4")]
TRIED_VALUES = 64
"""Values that are looked at before all of them are."""
MAGIC = b"\x93NUMPY\x01\x00"
MAX_DIMENSIONS = 32


class ColumnHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is in a column: the dtype and shape of its values, and as what they are stored.

    >>> head, data = encode_column(np.arange(6).reshape(3, 2))
    >>> head.dtype, head.stored, decode_column(head, data).tolist()
    ('<i8', '|u1', [[0, 1], [2, 3], [4, 5]])
    """

    dtype: str
    shape: tuple[int, ...]
    stored: str = ""
    """The narrower dtype of the bytes; `bits` for eight values a byte. Empty: the same."""

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES or self.stored not in {"", "bits", *DTYPES}:
            raise TrajectoryError(
                f"column: expected one of the dtypes {', '.join(sorted(DTYPES))}, got "
                f"{shorten(self.dtype)} stored as {shorten(self.stored)}"
            )
        if len(self.shape) > MAX_DIMENSIONS or any(not 0 <= one < 1 << 40 for one in self.shape):
            raise TrajectoryError(f"column: expected a shape of a few lengths, got {shorten(self.shape)}")

    @property
    def member_bytes(self) -> int:
        """How many bytes the member has, before compression."""
        shape, dtype = self._stored()
        return len(_npy_header(shape, dtype)) + prod(shape) * np.dtype(dtype).itemsize

    @property
    def value_bytes(self) -> int:
        """How many bytes the values take in memory."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize

    def _stored(self) -> tuple[tuple[int, ...], str]:
        if self.stored == "bits":
            return (-(-prod(self.shape) // 8),), "|u1"
        return self.shape, self.stored or self.dtype


def encode_column(values: Array, shown: np.dtype[np.generic] | None = None) -> tuple[ColumnHead, bytes]:
    """The head and the bytes of a column, whose values are to be read as `shown`, where they are narrowed already.

    Raises TrajectoryError for dtypes that are no plain numbers.
    """
    dtype = (values.dtype if shown is None else shown).newbyteorder("<")
    if dtype.str not in DTYPES:
        raise TrajectoryError(
            f"column: expected plain numbers, got dtype {values.dtype}; record level 'seeds' or 'steps'"
        )
    narrow = _narrowed(values)
    if narrow is not None and narrow.dtype == np.bool_:
        head = ColumnHead(dtype.str, values.shape, "bits")
        packed = np.packbits(np.ascontiguousarray(narrow).reshape(-1))
        return head, _npy_header(packed.shape, "|u1") + packed.tobytes()
    stored = values.astype(dtype if shown is None else values.dtype, copy=False) if narrow is None else narrow
    head = ColumnHead(dtype.str, values.shape, "" if stored.dtype.str == dtype.str else stored.dtype.str)
    return head, _npy_header(values.shape, stored.dtype.str) + stored.tobytes()


def decode_column(head: ColumnHead, data: bytes) -> Array:
    """The values of a column; raises TrajectoryError where the bytes are not what the head says."""
    shape, dtype = head._stored()  # pyright: ignore[reportPrivateUsage]  (its own file)
    header = _npy_header(shape, dtype)
    if len(data) != head.member_bytes or not data.startswith(header):
        raise TrajectoryError(f"column: expected .npy of {dtype}{shorten(shape)}, got other bytes")
    found = np.frombuffer(data, dtype, offset=len(header))
    if head.stored == "bits":
        values = np.unpackbits(found, count=prod(head.shape)).reshape(head.shape)
        return values.view(np.bool_) if head.dtype == "|b1" else values.astype(head.dtype)
    if dtype == "|b1" and found.view(np.uint8).max(initial=0) > 1:
        raise TrajectoryError("column: expected bytes of 0 and 1 for bools, got others")
    return found.reshape(shape).astype(head.dtype, copy=False)


def _narrowed(values: Array) -> Array | None:
    """The same integers in the narrowest dtype, as bools where they are 0 and 1; None where none is narrower."""
    if values.dtype.kind == "b":
        return values
    integers = _integers(values) if values.dtype.kind == "f" else values
    if integers is None or integers.dtype.kind not in "iu" or not integers.size:
        return None
    low, high = int(integers.min()), int(integers.max())
    if low >= 0 and high <= 1:
        return integers.view(np.bool_) if integers.itemsize == 1 else integers.astype(np.bool_)
    for dtype in NARROWER:
        limits = np.iinfo(dtype)
        if dtype.itemsize < values.dtype.itemsize and limits.min <= low and high <= limits.max:
            return integers.astype(dtype)
    return None


def _integers(values: Array) -> Array | None:
    """Floats as integers, where that keeps every bit: rewards and returns are often whole, and compress ten times."""
    for part in (values.reshape(-1)[:TRIED_VALUES], values):  # the first values decide for most columns
        with np.errstate(invalid="ignore"):
            integers = part.astype(np.int32)
        if not np.array_equal(integers, part) or (np.signbit(part) != (integers < 0)).any():  # there is a -0.0
            return None
    return integers


def _npy_header(shape: tuple[int, ...], dtype: str) -> bytes:
    """Version 1.0 of NumPy's header, as NumPy itself reads it."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    padding = -(len(MAGIC) + 2 + len(text) + 1) % 64
    return MAGIC + (len(text) + padding + 1).to_bytes(2, "little") + text.encode("ascii") + b" " * padding + b"\n"
