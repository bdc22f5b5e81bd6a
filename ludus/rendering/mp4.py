"""MP4 files, through the ffmpeg that imageio-ffmpeg brings. The only file that knows it."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np

from ludus.errors import MissingExtra
from ludus.rendering.frame import Frame

__all__ = ["Mp4Writer"]

OPTIONS = ["-crf", "18", "-preset", "fast", "-movflags", "+faststart"]


class Mp4Writer:
    """H.264 in an MP4, one frame at a time; sides of odd length get one more pixel, which the format needs.

    >>> Mp4Writer(Path("never_written.mp4"), fps=30).close()
    """

    def __init__(self, path: Path, fps: float) -> None:
        self._path = path
        self._fps = fps
        self._stream: Generator[None, Any, None] | None = None

    def append(self, frame: Frame) -> None:
        """Add one frame; all must be of one size."""
        height, width, _ = frame.shape
        if height % 2 or width % 2:
            frame = np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
        if self._stream is None:
            self._stream = self._opened(frame.shape[1], frame.shape[0])
        self._stream.send(np.ascontiguousarray(frame))

    def close(self) -> None:
        """Finish the file, and wait until it is complete."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _opened(self, width: int, height: int) -> Generator[None, Any, None]:
        stream = _ffmpeg().write_frames(
            str(self._path), (width, height), fps=self._fps, codec="libx264", macro_block_size=1, quality=None,
            output_params=OPTIONS, ffmpeg_log_level="error",
        )  # fmt: skip
        stream.send(None)
        return stream


def _ffmpeg() -> Any:
    try:
        import imageio_ffmpeg  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise MissingExtra(
            'video: expected imageio-ffmpeg to be installed, got no such package; pip install "ludus-rl[video]"'
        ) from error
    return imageio_ffmpeg
