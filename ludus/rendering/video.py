"""Videos: frames to `.mp4` or `.gif`, one at a time, so that an hour of them needs no more memory than one."""

from collections.abc import Iterable, Sized
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ludus.errors import InvalidArgument, shorten
from ludus.rendering.frame import as_frame
from ludus.rendering.gif import GifWriter
from ludus.rendering.mp4 import Mp4Writer
from ludus.rendering.pace import as_fps

__all__ = ["VideoWriter", "write_video"]

WRITERS = {".gif": GifWriter, ".mp4": Mp4Writer}


class VideoWriter:
    """A video file that grows with each `append`; it exists from the first frame on, and is complete when closed.

    Both need the extra: `pip install "ludus-rl[video]"`.

    >>> import tempfile
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp()) / "video.gif"
    >>> with VideoWriter(path, fps=30) as video:
    ...     for shade in range(0, 250, 50):
    ...         video.append(np.full((4, 4, 3), shade, np.uint8))
    >>> video.count
    5
    """

    def __init__(self, path: str | Path, fps: float = 30.0) -> None:
        self.path = Path(path)
        self.count = 0
        """How many frames were appended."""
        self._shape: tuple[int, ...] | None = None
        if self.path.suffix.lower() not in WRITERS:
            raise InvalidArgument(f"video: expected a file name that ends in .mp4 or .gif, got {shorten(str(path))}")
        self._writer = WRITERS[self.path.suffix.lower()](self.path, as_fps(fps))

    def append(self, frame: Any) -> None:
        """Add one frame: uint8 of shape (height, width, 3), the size of the first; it may be changed afterwards."""
        pixels = as_frame(frame, f"frame {self.count}")
        if self._shape is None:
            self._shape = pixels.shape
            self.path.parent.mkdir(parents=True, exist_ok=True)
        if pixels.shape != self._shape:
            raise InvalidArgument(
                f"frame {self.count}: expected {self._shape[1]}×{self._shape[0]} pixels as in the frames before, "
                f"got {pixels.shape[1]}×{pixels.shape[0]}"
            )
        self._writer.append(pixels)
        self.count += 1

    def close(self) -> None:
        """Complete the file; without a frame there is none."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def write_video(path: str | Path, frames: Iterable[Any], fps: float = 30.0, *, progress: bool = False) -> Path:
    """Write frames to a `.mp4` or `.gif` as they come, with a progress bar if wanted; returns the path.

    >>> import tempfile
    >>> import numpy as np
    >>> write_video(Path(tempfile.mkdtemp()) / "dark.gif", np.zeros((3, 4, 4, 3), np.uint8), fps=10).name
    'dark.gif'
    """
    with VideoWriter(path, fps) as video:
        for frame in _tracked(frames, video.path.name) if progress else frames:
            video.append(frame)
    if not video.count:
        raise InvalidArgument(f"video: expected at least one frame for {video.path.name}, got none")
    return video.path


def _tracked(frames: Iterable[Any], name: str) -> Iterable[Any]:
    from rich.console import Console
    from rich.progress import track

    total = len(frames) if isinstance(frames, Sized) else None
    return track(frames, f"Writing {name}", total=total, console=Console(stderr=True))
