"""Frames: four bytes of length, then that many bytes of msgpack. Limits are checked before anything is built from them.

A byte of msgpack can ask for a Python object of 64, and nesting for a level of the interpreter's stack: a frame from a
stranger is measured first.
"""

from struct import Struct
from typing import TypeVar

import msgspec

from ludus.errors import CodecError, InvalidArgument, shorten

__all__ = ["HEADER", "FrameLimits", "check_frame", "payload_length", "read_frame", "write_frame"]

HEADER = Struct(">I")
_ENCODER = msgspec.msgpack.Encoder()
MIB = 1 << 20
T = TypeVar("T")
SMALL_FRAME_BYTES = 512
WIDE = 0xDC
"""The first of the four bytes that announce thousands of values."""
MARKS = bytes(2 if WIDE <= one < 0xE0 else 0x80 <= one < 0xA0 for one in range(256))
"""For each byte: 1 where it begins an array or a map of a few values, 2 where one of thousands, else 0."""

Bytes = bytes | bytearray | memoryview


class FrameLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much one frame may hold.

    >>> FrameLimits(size=1000).depth
    32
    """

    size: int = 64 * MIB
    """Bytes of a frame, its length not counted."""
    depth: int = 32
    """Containers inside one another."""
    items: int = MIB
    """Values in all: numbers, texts, containers, keys."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 1 << 32:
                raise InvalidArgument(
                    f"frame limits {name}: expected a whole number from 1 to 2**32 - 1, got {shorten(value)}"
                )


def write_frame(message: object, limits: FrameLimits, buffer: bytearray | None = None) -> bytearray:
    r"""A message as a frame, written over `buffer`; CodecError where it is larger than the other side would take.

    >>> bytes(write_frame([1, "go"], FrameLimits()))
    b'\x00\x00\x00\x05\x92\x01\xa2go'
    """
    written = bytearray() if buffer is None else buffer
    try:
        _ENCODER.encode_into(message, written, HEADER.size)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise CodecError(f"frame: expected plain data, got {type(message).__name__}: {error}") from error
    length = len(written) - HEADER.size
    if length > limits.size:
        raise CodecError(f"frame: expected at most {limits.size} bytes, got {length}")
    HEADER.pack_into(written, 0, length)
    return written


def payload_length(header: Bytes, limits: FrameLimits) -> int:
    r"""The length that the first four bytes announce; CodecError where it is none that a frame may have.

    >>> payload_length(b"\xff\xff\xff\xff", FrameLimits())
    Traceback (most recent call last):
    ludus.errors.CodecError: frame: expected 1 to 67108864 bytes, got an announcement of 4294967295
    """
    (length,) = HEADER.unpack_from(header)
    if not 0 < length <= limits.size:
        raise CodecError(f"frame: expected 1 to {limits.size} bytes, got an announcement of {length}")
    return length


def read_frame(payload: Bytes, decoder: "msgspec.msgpack.Decoder[T]", limits: FrameLimits) -> T:
    r"""The message in the bytes of a frame; CodecError, and nothing else, on any bytes.

    >>> read_frame(b"\x91\x91\x91\x91\x07", msgspec.msgpack.Decoder(), FrameLimits(depth=3))
    Traceback (most recent call last):
    ludus.errors.CodecError: frame: expected at most 3 levels, got more
    """
    if len(payload) <= SMALL_FRAME_BYTES <= limits.items:
        # Whether nothing in it can ask for more than it holds: no bytes that announce many, few that hold others at
        # all. Some that are none are taken for such; then all of it is walked through. What is cut short the decoder
        # sees.
        marks = (payload if type(payload) is bytes else bytes(payload)).translate(MARKS)
        if 2 in marks or marks.count(1) > limits.depth:
            check_frame(payload, limits)
    else:
        check_frame(payload, limits)
    try:
        return decoder.decode(payload)
    except (msgspec.DecodeError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise CodecError(f"frame: expected a message, got {shorten(bytes(payload[:60]))}: {error}") from error


def check_frame(payload: Bytes, limits: FrameLimits) -> None:
    r"""Walk through msgpack without building anything; CodecError beyond the limits, and where the bytes end too early.

    >>> check_frame(b"\xdd\xff\xff\xff\xff", FrameLimits())
    Traceback (most recent call last):
    ludus.errors.CodecError: frame: expected at most 1048576 values, got more
    """
    at, end, left = 0, len(payload), limits.items
    pending = 1  # values still to come in the innermost open container
    outer: list[int] = []
    while True:
        if at >= end:
            raise CodecError(f"frame: expected {pending} more values, got the end after {end} bytes")
        byte = payload[at]
        width, step, children = _WIDTHS[byte], _STEPS[byte], _CHILDREN[byte]
        pending -= 1
        if width:
            count = int.from_bytes(payload[at + 1 : at + 1 + width], "big")
            step, children = (step, count * children) if children else (step + count, 0)
        at += step
        left -= 1 + children
        if left < 0:
            raise CodecError(f"frame: expected at most {limits.items} values, got more")
        if children:
            left += children  # they are counted one by one; here only so that an announcement cannot exceed the rest
            if len(outer) >= limits.depth:
                raise CodecError(f"frame: expected at most {limits.depth} levels, got more")
            outer.append(pending)
            pending = children
        while not pending:
            if not outer:
                if at != end:
                    raise CodecError(f"frame: expected {at} bytes, got {end}")
                return
            pending = outer.pop()


def _tables() -> tuple[list[int], list[int], list[int]]:
    """For each first byte: bytes of the length that follows, bytes to go on, values inside (for each of the length)."""
    widths, steps, children = [0] * 256, [1] * 256, [0] * 256
    for byte in range(0x80, 0x90):
        children[byte] = 2 * (byte - 0x80)
    for byte in range(0x90, 0xA0):
        children[byte] = byte - 0x90
    for byte in range(0xA0, 0xC0):
        steps[byte] = 1 + byte - 0xA0
    sized = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}  # bin, str
    for byte, width in sized.items():
        widths[byte], steps[byte] = width, 1 + width
    for byte, width in {0xC7: 1, 0xC8: 2, 0xC9: 4}.items():  # ext: a type byte more
        widths[byte], steps[byte] = width, 2 + width
    fixed = {0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8}
    for byte, size in fixed.items():  # float, uint, int
        steps[byte] = 1 + size
    for byte, size in {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}.items():  # fixext
        steps[byte] = 2 + size
    for byte, (width, each) in {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}.items():  # array, map
        widths[byte], steps[byte], children[byte] = width, 1 + width, each
    return widths, steps, children


_WIDTHS, _STEPS, _CHILDREN = _tables()
