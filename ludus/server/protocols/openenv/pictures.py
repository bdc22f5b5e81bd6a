"""Pictures as OpenEnv's models have them, rows of pixels in JSON; here they travel as the bytes of a PNG file."""

import msgspec
import numpy as np
import numpy.typing as npt

from ludus.rendering import from_png
from ludus.rendering.frame import Frame

__all__ = ["ROWS", "rows_of"]

ROWS: dict[str, object] = {
    "anyOf": [
        {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}},
        {"type": "null"},
    ],
    "default": None,
}
"""The schema of rows of pixels, each of three colours, or none."""
PIXEL = np.dtype([("red", "<u4"), ("green", "<u4"), ("blue", "<u4"), ("end", "<u2")])
"""Fourteen characters, `[  1, 20,255],`: each number with what stands before it is one machine word."""


def _words(form: bytes) -> npt.NDArray[np.uint32]:
    return np.frombuffer(b"".join(form % one for one in range(256)), "<u4")


FIRST, NEXT = _words(b"[%3d"), _words(b",%3d")
END = np.frombuffer(b"],", "<u2")[0]


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
    text = np.empty((height, width * PIXEL.itemsize + 2), np.uint8)
    pixels = text[:, 1:-1].view(PIXEL)
    for number, (color, words) in enumerate((("red", FIRST), ("green", NEXT), ("blue", NEXT))):
        pixels[color] = words.take(frame[:, :, number])
    pixels["end"] = END
    text[:, 0], text[:, -2], text[:, -1] = ord("["), ord("]"), ord(",")
    text[-1, -1] = ord("]")
    return b"[" + text.tobytes()
