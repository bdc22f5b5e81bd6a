"""PNG files: the frame as it is, compressed; the standard library is enough to write one."""

import struct
import zlib
from typing import Any

import numpy as np

from ludus.rendering.frame import as_frame

__all__ = ["to_png"]


def to_png(frame: Any) -> bytes:
    """An RGB frame as the bytes of a PNG file.

    >>> to_png(np.zeros((2, 2, 3), np.uint8))[1:4]
    b'PNG'
    """
    pixels = as_frame(frame)
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each row begins with its filter: 0 for none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
