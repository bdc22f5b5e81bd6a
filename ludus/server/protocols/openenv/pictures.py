"""Pictures as OpenEnv's models have them, rows of pixels in JSON; here they travel as the bytes of a PNG file."""

from typing import Any

import msgspec
import numpy as np

from ludus.rendering import from_png
from ludus.rendering.frame import Frame

__all__ = ["ROWS", "rows_of"]

ROWS: dict[str, Any] = {
    "anyOf": [
        {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}},
        {"type": "null"},
    ],
    "default": None,
}
"""The schema of rows of pixels, each of three colours, or none."""
NUMBERS = np.frombuffer(b"".join(b"%3d" % one for one in range(256)), np.uint8).reshape(256, 3)
PIXEL = np.frombuffer(b"[   ,   ,   ],", np.uint8)


def rows_of(png: bytes | None, where: str) -> msgspec.Raw | None:
    """The JSON of a picture, `[row][column][colour]`, written without making an object of each number.

    >>> from ludus.rendering import to_png
    >>> msgspec.json.decode(rows_of(to_png(np.array([[[1, 20, 255]]], np.uint8)), "screenshot"))
    [[[1, 20, 255]]]
    """
    return None if png is None else msgspec.Raw(_written(from_png(png, where)))


def _written(frame: Frame) -> bytes:
    """Every number takes three characters, blanks in front, so that all of them have their place beforehand."""
    height, width, _ = frame.shape
    text = np.empty((height, width * len(PIXEL) + 2), np.uint8)
    pixels = text[:, 1:-1].reshape(height, width, len(PIXEL))
    pixels[:] = PIXEL
    for color in range(3):
        pixels[:, :, 1 + 4 * color : 4 + 4 * color] = NUMBERS[frame[:, :, color]]
    text[:, 0], text[:, -2], text[:, -1] = ord("["), ord("]"), ord(",")
    return b"[" + text.tobytes()[:-1] + b"]"
