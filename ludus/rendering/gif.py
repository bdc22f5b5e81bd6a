"""GIF files, written frame by frame: only what changed, in colours of its own. The only file that knows Pillow.

Pillow finds the colours and compresses. Its own `save_all` is not used: it holds every frame until the last has come.
"""

from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ludus.errors import MissingExtra
from ludus.rendering.frame import Frame

__all__ = ["GifWriter"]

Pixels = NDArray[np.bool_]

MIN_DELAY_CS = 2
"""Hundredths of a second: browsers take shorter delays for a mistake and show them as ten."""
MAX_COLORS = 255
"""Of one image; of the 256 that a GIF may have, one stands for what did not change."""
LEAVE_IN_PLACE = 1
"""GIF's disposal: the next image is drawn over this one."""
LOOP = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"


class GifWriter:
    """An endless GIF. Beyond 50 frames a second some are left out, so that it runs at the right speed.

    Exact where the pixels that changed have at most 255 colours; else as near as 255 come, without dithering, so that
    what stands still does not flicker.

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
        if self._before is not None and end - self._written < MIN_DELAY_CS:
            return
        image = _image(frame, self._before, max(MIN_DELAY_CS, end - self._written))
        if self._file is None:
            self._file = self._path.open("wb")
            self._file.write(_header(frame.shape[1], frame.shape[0]))
        self._file.write(image)
        self._written = max(end, self._written + MIN_DELAY_CS)
        self._before = frame.copy()

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.write(b";")
            self._file.close()
            self._file = None


def _header(width: int, height: int) -> bytes:
    size = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return b"GIF89a" + size + b"\x70\x00\x00" + LOOP  # 8 bits a channel, no colours for all frames together


def _image(frame: Frame, before: Frame | None, delay: int) -> bytes:
    """One image: the rectangle that changed, with what did not change inside it transparent."""
    try:
        from PIL import GifImagePlugin, Image
    except ImportError as error:
        raise MissingExtra(
            'video: expected Pillow to be installed, got no such package; pip install "ludus-rl[video]"'
        ) from error
    changed = None if before is None else _changed(frame, before)
    top, left, bottom, right = _box(frame, changed)
    part = frame[top:bottom, left:right].copy()
    same = None if changed is None else ~changed[top:bottom, left:right]
    if same is not None:  # takes none of the colours: as the first pixel that changed
        part[same] = part[np.unravel_index(np.argmin(same), same.shape)]
    # Of Pillow's methods the one that is exact where there are few colours.
    indexed = Image.fromarray(part).quantize(MAX_COLORS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    indices: Frame = np.array(indexed)
    clear = int(indices.max()) + 1
    if same is not None:
        indices[same] = clear
    image = Image.fromarray(indices)
    image.putpalette([*(indexed.getpalette() or [])[: 3 * clear], 0, 0, 0])
    parts: list[bytes] = GifImagePlugin.getdata(
        image, (left, top), duration=10 * delay, disposal=LEAVE_IN_PLACE, transparency=clear, include_color_table=True
    )
    return b"".join(parts)


def _changed(frame: Frame, before: Frame) -> Pixels:
    """Where the pixels differ; by channels, since `any` over an axis of three takes five times as long."""
    different = frame != before
    return different[..., 0] | different[..., 1] | different[..., 2]


def _box(frame: Frame, changed: Pixels | None) -> tuple[int, int, int, int]:
    """Top, left, bottom and right of what changed; one pixel if nothing did, since an image cannot be empty."""
    if changed is None:
        return 0, 0, frame.shape[0], frame.shape[1]
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    if not len(rows):
        return 0, 0, 1, 1
    return int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1
