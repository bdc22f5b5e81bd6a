"""GIF files, written frame by frame: only what changed, in colours of its own. Nothing has to be installed for it."""

import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ludus.rendering.frame import Frame
from ludus.rendering.lzw import lzw
from ludus.rendering.palette import to_palette

__all__ = ["GifWriter"]

SHORTEST = 2
"""Hundredths of a second: browsers take shorter delays for a mistake and show them as ten."""


class GifWriter:
    """An endless GIF. Beyond 50 frames a second some are left out, so that it runs at the right speed.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "two.gif"
    >>> writer = GifWriter(path, fps=10)
    >>> writer.append(np.zeros((2, 3, 3), np.uint8))
    >>> writer.append(np.full((2, 3, 3), 255, np.uint8))
    >>> writer.close()
    >>> path.read_bytes()[:6]
    b'GIF89a'
    """

    def __init__(self, path: Path, fps: float) -> None:
        self._path = path
        self._fps = fps
        self._file: BinaryIO | None = None
        self._before: Frame | None = None
        self._count = 0
        self._written = 0
        """Hundredths of a second up to the end of what is in the file."""

    def append(self, frame: Frame) -> None:
        """Add one frame; all must be of one size."""
        self._count += 1
        end = round(self._count * 100.0 / self._fps)
        if self._before is not None and end - self._written < SHORTEST:
            return
        if self._file is None:
            self._file = self._path.open("wb")
            self._file.write(_header(frame.shape[1], frame.shape[0]))
        self._file.write(_image(frame, self._before, max(SHORTEST, end - self._written)))
        self._written = max(end, self._written + SHORTEST)
        self._before = frame.copy()

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.write(b";")
            self._file.close()
            self._file = None


def _header(width: int, height: int) -> bytes:
    loop = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x70, 0, 0) + loop


def _image(frame: Frame, before: Frame | None, delay: int) -> bytes:
    """One image: the rectangle that changed, with what did not change inside it transparent."""
    top, left, bottom, right = _changed(frame, before)
    part = frame[top:bottom, left:right]
    colors, indices = to_palette(part)
    clear = len(colors)
    if before is not None:
        indices[np.all(part == before[top:bottom, left:right], axis=-1)] = clear
    bits = max(2, int(clear).bit_length())
    table = np.zeros((1 << bits, 3), dtype=np.uint8)
    table[:clear] = colors
    control = struct.pack("<BBBBHBB", 0x21, 0xF9, 4, 0x05, delay, clear, 0)
    place = struct.pack("<BHHHHB", 0x2C, left, top, right - left, bottom - top, 0x80 | (bits - 1))
    return control + place + table.tobytes() + bytes([bits]) + _blocks(lzw(indices.tobytes(), bits))


def _changed(frame: Frame, before: Frame | None) -> tuple[int, int, int, int]:
    """Top, left, bottom and right of what changed; one pixel if nothing did, since an image cannot be empty."""
    if before is None:
        return 0, 0, frame.shape[0], frame.shape[1]
    different = np.any(frame != before, axis=-1)
    rows, columns = np.flatnonzero(different.any(axis=1)), np.flatnonzero(different.any(axis=0))
    if not len(rows):
        return 0, 0, 1, 1
    return int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1


def _blocks(data: bytes) -> bytes:
    parts = [data[start : start + 255] for start in range(0, len(data), 255)]
    return b"".join(bytes([len(part)]) + part for part in parts) + b"\x00"
