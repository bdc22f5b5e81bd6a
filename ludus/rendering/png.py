"""PNG files: a frame as it is, compressed; the standard library is enough to write one."""

import struct
import zlib
from typing import Any

import numpy as np

from ludus.rendering.frame import Frame, as_frame

__all__ = ["COLOR_TYPES", "png_file", "to_png"]

COLOR_TYPES = {1: 0, 3: 2, 4: 6}
"""PNG's number for so many channels."""


def to_png(frame: object) -> bytes:
    """An RGB frame, or one with alpha, as the bytes of a PNG file.

    >>> to_png(np.zeros((2, 2, 3), np.uint8))[1:4]
    b'PNG'
    """
    pixels: Frame = np.asarray(frame)
    if pixels.ndim != 3 or pixels.shape[2] != 4:
        pixels = as_frame(pixels)
    return png_file(pixels)


def png_file(pixels: Any, level: int = 6) -> bytes:
    """Bytes of shape (height, width, channels), one, three or four of them, as a PNG of three chunks, rows unfiltered.

    >>> png_file(np.zeros((2, 2, 1), np.uint8))[1:4]
    b'PNG'
    """
    height, width, channels = pixels.shape
    rows = np.zeros((height, 1 + channels * width), dtype=np.uint8)  # each row begins with its filter: 0 for none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, COLOR_TYPES[channels], 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows.data, level)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
