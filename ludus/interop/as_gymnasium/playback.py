"""Playing and filming by Gymnasium's names and arguments."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ludus.core import Env, Info, Step, Wrapper
from ludus.core.env import ActT, AnyEnv, ObsT
from ludus.core.options import Options
from ludus.errors import InvalidArgument
from ludus.rendering import WindowScreen, write_video
from ludus.rendering import play as play_on
from ludus.seeding import Seed

__all__ = ["capped_cubic_video_schedule", "play", "save_video"]

Trigger = Callable[[int], bool]


def capped_cubic_video_schedule(episode_id: int) -> bool:
    """Whether to film: episodes 0, 1, 8, 27 and so on up to 1000, then every thousandth.

    >>> [number for number in range(2001) if capped_cubic_video_schedule(number)][-4:]
    [512, 729, 1000, 2000]
    """
    return round(episode_id ** (1 / 3)) ** 3 == episode_id if episode_id < 1000 else episode_id % 1000 == 0


def save_video(
    frames: Sequence[object],
    video_folder: str,
    episode_trigger: Trigger | None = None,
    step_trigger: Trigger | None = None,
    video_length: int | None = None,
    name_prefix: str = "rl-video",
    episode_index: int = 0,
    step_starting_index: int = 0,
    save_logger: str | None = None,
    *,
    fps: float = 30.0,
) -> None:
    """Write the frames of an episode to mp4, if a trigger says so: from the start, or from each step it names."""
    if episode_trigger is None and step_trigger is None:
        episode_trigger = capped_cubic_video_schedule
    folder = Path(video_folder)
    folder.mkdir(parents=True, exist_ok=True)
    pieces: dict[str, int] = {}
    if episode_trigger is not None and episode_trigger(episode_index):
        pieces[f"episode-{episode_index}"] = 0
    # The first frame comes from the reset, so step number n is frame n + 1.
    steps = range(step_starting_index, step_starting_index + len(frames) - 1)
    for place, step in enumerate(steps, start=1):
        if step_trigger is not None and step_trigger(step):
            pieces[f"step-{step}"] = place
    for name, start in pieces.items():
        end = None if video_length is None else start + video_length
        write_video(folder / f"{name_prefix}-{name}.mp4", frames[start:end], fps, progress=save_logger is not None)


def play(
    env: AnyEnv,
    transpose: bool | None = True,
    fps: int | None = None,
    zoom: float | None = None,
    callback: Callable[..., object] | None = None,
    keys_to_action: Mapping[Any, object] | None = None,
    seed: int | None = None,
    noop: Any = 0,
    wait_on_player: bool = False,
) -> None:
    """Let a person play in a window; `callback` is called after each step, as Gymnasium calls it."""
    if zoom is not None or not transpose:
        raise InvalidArgument(
            f"play: expected zoom=None and transpose=True, since a window enlarges small pictures by itself, "
            f"got zoom={zoom}, transpose={transpose}"
        )
    keys = None if keys_to_action is None else {(): noop} | dict(keys_to_action)
    watched = env if callback is None else _Watched(env, callback)
    title = "Ludus" if env.spec is None else env.spec.id
    play_on(watched, keys, screen=WindowScreen(title), fps=fps, seed=seed, turns=wait_on_player or None)


class _Watched(Wrapper[ObsT, ActT, ObsT, ActT]):
    """Tells a function of each step."""

    def __init__(self, env: Env[ObsT, ActT], callback: Callable[..., object]) -> None:
        super().__init__(env)
        self.callback = callback
        self.last: ObsT | None = None

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Reset, and remember the observation."""
        self.last, info = self.env.reset(seed=seed, options=options)
        return self.last, info

    def step(self, action: ActT) -> Step[ObsT]:
        """Step, and tell."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.callback(self.last, observation, action, reward, terminated, truncated, info)
        self.last = observation
        return Step(observation, reward, terminated, truncated, info)
