"""Videos: frames to `.mp4` or `.gif`, one at a time, so that an hour of them needs no more memory than one."""

from collections.abc import Generator, Iterable, Sized
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Self

import numpy as np

from ludus.errors import InvalidArgument, MissingExtra, shorten
from ludus.rendering.frame import Frame, as_frame
from ludus.rendering.gif import GifWriter
from ludus.rendering.pace import as_fps

__all__ = ["Mp4Writer", "VideoWriter", "write_video"]

OPTIONS = ["-crf", "18", "-preset", "fast", "-movflags", "+faststart"]


class Mp4Writer:
    """H.264 in an MP4, one frame at a time; sides of odd length get one more pixel, which the format needs.

    >>> Mp4Writer(Path("never_written.mp4"), fps=30).close()
    """

    def __init__(self, path: Path, fps: float) -> None:
        self._path = path
        self._fps = fps
        self._stream: Generator[None, Frame | None] | None = None

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

    def _opened(self, width: int, height: int) -> Generator[None, Frame | None]:
        stream: Generator[None, Frame | None] = _ffmpeg().write_frames(
            str(self._path), (width, height), fps=self._fps, codec="libx264", macro_block_size=1, quality=None,
            output_params=OPTIONS, ffmpeg_log_level="error",
        )  # fmt: skip
        stream.send(None)
        return stream


def _ffmpeg() -> ModuleType:
    try:
        import imageio_ffmpeg  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise MissingExtra(
            'video: expected imageio-ffmpeg to be installed, got no such package; pip install "ludus-rl[video]"'
        ) from error
    return imageio_ffmpeg


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

    def append(self, frame: object) -> None:
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


def write_video(path: str | Path, frames: Iterable[object], fps: float = 30.0, *, progress: bool = False) -> Path:
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


def _tracked(frames: Iterable[object], name: str) -> Iterable[object]:
    from rich.console import Console
    from rich.progress import track

    total = len(frames) if isinstance(frames, Sized) else None
    return track(frames, f"Writing {name}", total=total, console=Console(stderr=True))
