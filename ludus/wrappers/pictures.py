"""Pictures: collected, recorded, shown in a window, or disturbed; of one environment, or of a whole batch."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from ludus.core import Env, Hooked, Info, Step
from ludus.core.env import ActT, AnyEnv, ObsT
from ludus.core.options import Options
from ludus.errors import InvalidArgument, RenderError, shorten
from ludus.rendering import VideoWriter, Window, grid
from ludus.seeding import Seed
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_tuple

__all__ = ["AddWhiteNoise", "HumanRendering", "ObstructView", "RecordVideo", "RenderCollection", "every_cube"]


def _require_mode(env: AnyEnv, what: str, *refused: str) -> str:
    mode = env.render_mode
    if mode is None or mode in refused or mode.endswith("_list"):
        raise RenderError(
            f"{what}: expected an environment that renders frames, got render_mode={mode!r}; "
            'make it with render_mode="rgb_array"'
        )
    return mode


class RenderCollection(Hooked[ObsT, ActT, ObsT, ActT]):
    """Keeps a picture of every step; `render` gives them all, and forgets them if `pop_frames`.

    >>> import ludus
    >>> env = RenderCollection(ludus.make("CartPole-v1", render_mode="rgb_array"))
    >>> _ = env.reset(seed=0), env.step(0), env.step(1)
    >>> len(env.render()), len(env.render()), env.render_mode
    (3, 0, 'rgb_array_list')
    """

    def __init__(self, env: Env[ObsT, ActT], pop_frames: bool = True, reset_clean: bool = True) -> None:
        super().__init__(env)
        self._name = f"{_require_mode(env, 'RenderCollection', 'human')}_list"
        self.frame_list: list[object] = []
        self.pop_frames, self.reset_clean = pop_frames, reset_clean
        known: list[str] = env.metadata.get("render_modes") or []
        modes = [*known, self._name]
        self.metadata = {**env.metadata, "render_modes": list(dict.fromkeys(modes))}

    @property
    def render_mode(self) -> str | None:
        """The mode below, as a list."""
        return self._name

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Reset, with a picture; `reset_clean` forgets those before."""
        result = self.env.reset(seed=seed, options=options)
        if self.reset_clean:
            self.frame_list = []
        self.frame_list.append(self.env.render())
        return result

    def step(self, action: ActT) -> Step[ObsT]:
        """Step, with a picture."""
        result = self.env.step(action)
        self.frame_list.append(self.env.render())
        return result

    def render(self) -> list[Any]:
        """The pictures so far."""
        frames = self.frame_list
        if self.pop_frames:
            self.frame_list = []
        return frames


def every_cube(episode: int) -> bool:
    """Whether to record an episode: 0, 1, 8, 27 … up to 1,000, then every 1,000th."""
    return round(episode ** (1 / 3)) ** 3 == episode if episode < 1000 else episode % 1000 == 0


class RecordVideo(Hooked[ObsT, ActT, ObsT, ActT]):
    """Writes videos of some episodes, or from some steps on, into a folder, as they happen; a batch is shown as a grid.

    A video ends with its episode, or after `video_length` frames; `close` ends the last one. In a batch, lane 0 counts.

    >>> import ludus, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> env = RecordVideo(ludus.make("CartPole-v1", render_mode="rgb_array"), folder, suffix="gif")
    >>> _ = env.reset(seed=0), env.step(0)
    >>> env.close()
    >>> [path.name for path in env.videos]
    ['rl-video-episode-0.gif']
    """

    snapshot_shared: ClassVar[tuple[str, ...]] = ("_writer", "videos")

    def __init__(
        self,
        env: Env[ObsT, ActT],
        video_folder: str,
        episode_trigger: Callable[[int], bool] | None = None,
        step_trigger: Callable[[int], bool] | None = None,
        video_length: int = 0,
        name_prefix: str = "rl-video",
        fps: int | None = None,
        disable_logger: bool = True,
        gc_trigger: Callable[[int], bool] | None = None,
        suffix: str = "mp4",
    ) -> None:
        super().__init__(env)
        _require_mode(env, "RecordVideo", "human", "ansi", "svg")
        if suffix not in ("mp4", "gif"):
            raise InvalidArgument(f"suffix: expected 'mp4' or 'gif', got {shorten(suffix)}")
        neither = episode_trigger is None and step_trigger is None
        self.episode_trigger = every_cube if neither else episode_trigger
        self.step_trigger, self.video_length, self.name_prefix, self.suffix = (
            step_trigger,
            video_length,
            name_prefix,
            suffix,
        )
        # Frames go to the file as they come: there is nothing to collect, and no progress to log.
        self.disable_logger, self.gc_trigger = disable_logger, gc_trigger
        self.video_folder = Path(video_folder)
        self.frames_per_sec = fps or env.metadata.get("render_fps") or 30
        self.episode_id = self.step_id = -1
        self.videos: list[Path] = []
        """The files written so far."""
        self._writer: VideoWriter | None = None
        self._frames = 0
        self._over = False

    @property
    def recording(self) -> bool:
        """Whether a video is being written."""
        return self._writer is not None

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Reset; an episode's video ends here and the next one's may begin."""
        result = self.env.reset(seed=seed, options=options)
        self._begin_episode()
        self._take_frame()
        return result

    def step(self, action: ActT) -> Step[ObsT]:
        """Step, with a frame if a video is being written."""
        step = self.env.step(action)
        self.step_id += 1
        moved = self.stepped is None or bool(self.stepped[0])
        if self._over and moved and self._lead:
            self._begin_episode()
        if self.step_trigger is not None and self.step_trigger(self.step_id):
            self.start_recording(f"{self.name_prefix}-step-{self.step_id}")
        self._take_frame()
        if moved:
            self._over = bool(np.ravel(step[2])[0] or np.ravel(step[3])[0])
        return step

    def _begin_episode(self) -> None:
        self.episode_id += 1
        if self.recording and not self.video_length:
            self.stop_recording()
        if self.episode_trigger is not None and self.episode_trigger(self.episode_id):
            self.start_recording(f"{self.name_prefix}-episode-{self.episode_id}")

    def _take_frame(self) -> None:
        if self._writer is None:
            return
        picture = self.env.render()
        self._writer.append(grid(picture) if is_tuple(picture) else picture)
        self._frames += 1
        if self.video_length and self._frames > self.video_length:
            self.stop_recording()

    def start_recording(self, video_name: str) -> None:
        """Begin a video of that name; one that is being written is finished first."""
        self.stop_recording()
        self.video_folder.mkdir(parents=True, exist_ok=True)
        path = self.video_folder / f"{video_name}.{self.suffix}"
        self._writer, self._frames = VideoWriter(path, self.frames_per_sec), 0
        self.videos.append(path)

    def stop_recording(self) -> None:
        """Finish the video, if there is one."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def close(self) -> None:
        """Finish the video and close the environment."""
        self.stop_recording()
        super().close()


class HumanRendering(Hooked[ObsT, ActT, ObsT, ActT]):
    """Shows every frame of an environment in a window; the frames of a batch as a grid.

    >>> import os, ludus
    >>> os.environ["SDL_VIDEODRIVER"] = "dummy"
    >>> env = HumanRendering(ludus.make("CartPole-v1", render_mode="rgb_array"))
    >>> _ = env.reset(seed=0)
    >>> env.render_mode, env.close()
    ('human', None)
    """

    snapshot_shared: ClassVar[tuple[str, ...]] = ("_window",)

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        super().__init__(env)
        _require_mode(env, "HumanRendering", "human", "ansi", "svg")
        known: list[str] = env.metadata.get("render_modes") or []
        modes = [*known, "human"]
        self.metadata = {**env.metadata, "render_modes": list(dict.fromkeys(modes))}
        self._window = Window(env.spec.id if env.spec is not None else type(env.unwrapped).__name__)

    @property
    def render_mode(self) -> str | None:
        """Always "human"."""
        return "human"

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Reset and show."""
        result = self.env.reset(seed=seed, options=options)
        self._show()
        return result

    def step(self, action: ActT) -> Step[ObsT]:
        """Step and show."""
        result = self.env.step(action)
        self._show()
        return result

    def render(self) -> None:
        """Nothing: the window is up to date."""

    def _show(self) -> None:
        picture = self.env.render()
        self._window.show(grid(picture) if is_tuple(picture) else picture, fps=self.metadata.get("render_fps"))

    def close(self) -> None:
        """Close the window and the environment."""
        self._window.close()
        super().close()


class _Disturbed(Hooked[ObsT, ActT, ObsT, ActT]):
    """Pictures with noise in them, drawn from a stream that the dynamics know nothing of."""

    def __init__(self, env: Env[ObsT, ActT], is_noise_grayscale: bool) -> None:
        super().__init__(env)
        _require_mode(env, type(self).__name__, "human", "ansi", "svg")
        self.is_noise_grayscale = is_noise_grayscale

    def render(self) -> Array | tuple[Array, ...]:
        """The picture, or each lane's, with noise."""
        picture = self.env.render()
        stream = self.stream(type(self).__name__)
        if not is_tuple(picture):
            return self._disturb(picture, stream)
        streams = cast(Iterable[np.random.Generator], stream)  # a batch has one for each lane
        return tuple(
            self._disturb(one, rng) for one, rng in zip(cast(tuple[Array, ...], picture), streams, strict=True)
        )

    def _disturb(self, picture: Array, rng: np.random.Generator) -> Array:
        shape: tuple[int, ...] = picture.shape
        mask = self._where(shape[:2], rng)
        if self.is_noise_grayscale:
            noise = rng.integers(0, 255, size=(*shape[:2], 1), dtype=np.uint8)
        else:
            noise = rng.integers(0, 255, size=shape, dtype=np.uint8)
        return np.where(mask[..., None], noise, picture)

    def _where(self, shape: tuple[int, ...], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        raise NotImplementedError


class AddWhiteNoise(_Disturbed[ObsT, ActT]):
    """Pictures in which each pixel is noise with some probability.

    >>> import ludus
    >>> env = AddWhiteNoise(ludus.make("CartPole-v1", render_mode="rgb_array"), 0.5)
    >>> _ = env.reset(seed=0)
    >>> env.render().dtype
    dtype('uint8')
    """

    def __init__(
        self, env: Env[ObsT, ActT], probability_of_noise_per_pixel: float, is_noise_grayscale: bool = False
    ) -> None:
        if not 0 <= probability_of_noise_per_pixel < 1:
            raise InvalidArgument(
                "probability_of_noise_per_pixel: expected at least 0 and less than 1, "
                f"got {shorten(probability_of_noise_per_pixel)}"
            )
        super().__init__(env, is_noise_grayscale)
        self.probability_of_noise_per_pixel = probability_of_noise_per_pixel

    def _where(self, shape: tuple[int, ...], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        return rng.random(shape) < self.probability_of_noise_per_pixel


class ObstructView(_Disturbed[ObsT, ActT]):
    """Pictures with squares of noise over about `obstructed_pixels_ratio` of them.

    >>> import ludus
    >>> env = ObstructView(ludus.make("CartPole-v1", render_mode="rgb_array"), 0.5, 20)
    >>> _ = env.reset(seed=0)
    >>> env.render().dtype
    dtype('uint8')
    """

    def __init__(
        self,
        env: Env[ObsT, ActT],
        obstructed_pixels_ratio: float,
        obstruction_width: int,
        is_noise_grayscale: bool = False,
    ) -> None:
        if not 0 <= obstructed_pixels_ratio < 1:
            raise InvalidArgument(
                f"obstructed_pixels_ratio: expected at least 0 and less than 1, got {shorten(obstructed_pixels_ratio)}"
            )
        if obstruction_width < 1:
            raise InvalidArgument(f"obstruction_width: expected at least 1, got {shorten(obstruction_width)}")
        super().__init__(env, is_noise_grayscale)
        self.obstructed_pixels_ratio, self.obstruction_width = obstructed_pixels_ratio, obstruction_width

    def _where(self, shape: tuple[int, ...], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        height, width = shape
        count = int(height * width * self.obstructed_pixels_ratio / self.obstruction_width**2)
        before, mask = self.obstruction_width // 2, np.zeros(shape, dtype=np.bool_)
        for center in rng.integers(0, height * width, count):
            top, left = center // width - before, center % width - before
            mask[max(top, 0) : top + self.obstruction_width, max(left, 0) : left + self.obstruction_width] = True
        return mask
