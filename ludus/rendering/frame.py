"""Frames: pictures as arrays of bytes, `(height, width, 3)`, as everybody exchanges them; several in a grid; as PNG."""

import math
import struct
import zlib
from collections.abc import Iterable
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from ludus.errors import InvalidArgument, MissingExtra, shorten
from ludus.rendering.color import Color, parse_color

__all__ = ["COLOR_TYPES", "Floats", "Frame", "as_frame", "from_png", "grid", "png_file", "to_png"]

Frame = NDArray[np.uint8]
Floats = NDArray[np.float64]


def as_frame(value: object, where: str = "frame") -> Frame:
    """`value` as an RGB frame: gray becomes three equal channels, alpha is dropped; everything else is refused.

    >>> as_frame(np.zeros((2, 4), np.uint8)).shape
    (2, 4, 3)
    """
    frame = np.asarray(value)
    if frame.dtype != np.uint8 or frame.ndim not in (2, 3) or frame.size == 0:
        raise InvalidArgument(
            f"{where}: expected uint8 pixels of shape (height, width, 3), got {_described(value, frame)}"
        )
    if frame.ndim == 2:
        frame = frame[:, :, np.newaxis]
    if frame.shape[2] == 1:
        return np.repeat(frame, 3, axis=2)
    if frame.shape[2] not in (3, 4):
        raise InvalidArgument(f"{where}: expected 1, 3 or 4 channels in the last axis, got shape {frame.shape}")
    return frame[:, :, :3]


def _described(value: object, frame: NDArray[np.generic]) -> str:
    if frame.dtype == object or frame.ndim == 0:
        return shorten(value)
    return f"{frame.dtype} of shape {frame.shape}"


def grid(frames: Iterable[object], *, columns: int | None = None, gap: int = 2, background: Color = "#343a40") -> Frame:
    """One frame that shows equal ones in rows, with thin gaps; without `columns`, about as wide as high.

    >>> grid([np.zeros((10, 20, 3), np.uint8)] * 4, gap=2).shape
    (22, 42, 3)
    """
    tiles = [as_frame(frame, f"frame {number}") for number, frame in enumerate(frames)]
    if not tiles:
        raise InvalidArgument("grid: expected at least one frame, got none")
    height, width, _ = tiles[0].shape
    different = next((number for number, tile in enumerate(tiles) if tile.shape != tiles[0].shape), None)
    if different is not None:
        got = tiles[different].shape
        raise InvalidArgument(
            f"grid: expected frames of one size, {width}×{height}, got {got[1]}×{got[0]} as frame {different}"
        )
    across = _columns(columns, len(tiles), width, height)
    down = math.ceil(len(tiles) / across)
    sheet = np.empty((down * (height + gap) - gap, across * (width + gap) - gap, 3), dtype=np.uint8)
    sheet[:] = parse_color(background, "background")[:3]
    for number, tile in enumerate(tiles):
        top, left = number // across * (height + gap), number % across * (width + gap)
        sheet[top : top + height, left : left + width] = tile
    return sheet


def _columns(columns: object, count: int, width: int, height: int) -> int:
    if columns is None:
        return min(count, max(1, math.ceil(math.sqrt(count * height / width) - 1e-9)))
    if not isinstance(columns, int) or isinstance(columns, bool) or columns < 1:
        raise InvalidArgument(f"columns: expected a whole number of at least 1, got {shorten(columns)}")
    return min(columns, count)


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


MAX_PNG_PIXELS = 1 << 23
"""Of a picture that is read: a screen of 3840×2160, and not what a small file may claim to hold."""


def from_png(png: bytes, where: str = "picture") -> Frame:
    """The RGB frame that the bytes of a PNG file show, of at most 8,388,608 pixels; InvalidArgument for any others.

    >>> from_png(to_png(np.full((2, 3, 3), 7, np.uint8)))[0, 0].tolist()
    [7, 7, 7]
    """
    try:
        from PIL import Image  # an extra, and slow to import
    except ImportError as error:
        raise MissingExtra(f'{where}: expected Pillow, got none; pip install "ludus-rl[video]"') from error
    try:
        image = Image.open(BytesIO(png), formats=("PNG",))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:  # as Pillow says it
        raise InvalidArgument(f"{where}: expected the bytes of a PNG file, got {shorten(png)}: {error}") from None
    with image:
        width, height = image.size
        if width * height > MAX_PNG_PIXELS:
            raise InvalidArgument(f"{where}: expected at most {MAX_PNG_PIXELS} pixels, got {width}×{height}")
        try:
            return np.asarray(image.convert("RGB"), np.uint8)
        except (OSError, SyntaxError, ValueError) as error:
            raise InvalidArgument(f"{where}: expected a whole PNG file, got {shorten(png)}: {error}") from None


def png_file(pixels: NDArray[np.uint8], level: int = 6) -> bytes:
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
