"""Atari screens as agents are given them: frames skipped, pooled, shrunk and in grey."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.core import Env, Info, Step
from ludus.errors import InvalidArgument, InvalidSpace, shorten
from ludus.rendering import resize
from ludus.seeding import Seed
from ludus.spaces import Box
from ludus.wrappers.argument import positive
from ludus.wrappers.transform import LaneWise

__all__ = ["AtariPreprocessing"]

Frame = npt.NDArray[np.uint8]


class AtariPreprocessing(LaneWise):
    """The preprocessing of Machado et al. (2018), for environments with the emulator as `ale`.

    After a reset up to `noop_max` steps do nothing, from a stream of the wrapper's own. Each action is taken for
    `frame_skip` frames, which the environment must not skip itself; the brightest of the last two is shown, at
    `screen_size` (width and height), in grey or colour, as bytes or (`scale_obs`) from 0 to 1. An episode that ends
    early shows its last frame.

    >>> AtariPreprocessing.using(frame_skip=4, screen_size=84).name
    'AtariPreprocessing'
    """

    def __init__(
        self,
        env: Env[Any, Any],
        noop_max: int = 30,
        frame_skip: int = 4,
        screen_size: int | tuple[int, int] = 84,
        terminal_on_life_loss: bool = False,
        grayscale_obs: bool = True,
        grayscale_newaxis: bool = False,
        scale_obs: bool = False,
    ) -> None:
        self.noop_max, self.frame_skip = positive("noop_max", noop_max, 0), positive("frame_skip", frame_skip)
        self.screen_size = _size(screen_size)
        self.terminal_on_life_loss, self.scale_obs = terminal_on_life_loss, scale_obs
        self.grayscale_obs, self.grayscale_newaxis = grayscale_obs, grayscale_newaxis
        self.lives, self.game_over = 0, False
        super().__init__(env)
        if self.inside:
            return
        self._require_frames(env)
        shape: tuple[int, ...] = self.screen_size[::-1]
        if not grayscale_obs or grayscale_newaxis:
            shape = (*shape, 1 if grayscale_obs else 3)
        self.observation_space = Box(0, 1 if scale_obs else 255, shape, np.float32 if scale_obs else np.uint8)

    def _require_frames(self, env: Env[Any, Any]) -> None:
        space: Any = env.observation_space
        if not isinstance(space, Box) or len(space.shape) not in (2, 3):
            raise InvalidSpace(f"AtariPreprocessing: expected images, a Box of 2 or 3 dimensions, got {space!r}")
        self._shape = space.shape[:2] if self.grayscale_obs else (*space.shape[:2], 3)
        if not env.has_wrapper_attr("ale"):
            raise InvalidArgument(f"AtariPreprocessing: expected an environment with the emulator as `ale`, got {env}")
        skipped = env.get_wrapper_attr("_frameskip") if env.has_wrapper_attr("_frameskip") else None
        if self.frame_skip > 1 and skipped != 1:
            raise InvalidArgument(
                f"AtariPreprocessing: expected an environment that skips no frames itself, got a frameskip of "
                f"{shorten(skipped)}; make it with frameskip=1"
            )
        meanings = env.get_wrapper_attr("get_action_meanings")() if self.noop_max else ["NOOP"]
        if meanings[0] != "NOOP":
            raise InvalidArgument(
                f"AtariPreprocessing: expected 'NOOP' as the meaning of action 0, got {meanings[0]!r}; set noop_max=0"
            )

    @property
    def ale(self) -> Any:
        """The emulator."""
        return self.env.get_wrapper_attr("ale")

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Reset, and do nothing for a while."""
        _, info = self.env.reset(seed=seed, options=options)
        idle = int(self.stream("AtariPreprocessing").integers(1, self.noop_max + 1)) if self.noop_max else 0
        for _ in range(idle):
            _, _, terminated, truncated, more = self.env.step(0)
            info = {**info, **more}
            if terminated or truncated:
                _, info = self.env.reset(options=options)
        self.lives, self.game_over = self.ale.lives(), False
        return self._shown(self._screen()), info

    def step(self, action: Any) -> Step[Any]:
        """Take the action for several frames."""
        total, frames = 0.0, list[Frame]()
        terminated, truncated, info = False, False, Info()
        for frame in range(self.frame_skip):
            _, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            terminated = self._over(terminated)
            if terminated or truncated or frame >= self.frame_skip - 2:
                frames.append(self._screen())
            if terminated or truncated:
                break
        return Step(self._shown(np.maximum.reduce(frames)), total, terminated, truncated, info)

    def _over(self, terminated: bool) -> bool:
        if self.terminal_on_life_loss:
            lives = self.ale.lives()
            terminated, self.lives = terminated or lives < self.lives, lives
        self.game_over = terminated
        return terminated

    def _screen(self) -> Frame:
        screen: Frame = np.empty(self._shape, dtype=np.uint8)
        (self.ale.getScreenGrayscale if self.grayscale_obs else self.ale.getScreenRGB)(screen)
        return screen

    def _shown(self, screen: Frame) -> Any:
        shown: Any = resize(screen, self.screen_size)
        if self.scale_obs:
            shown = shown.astype(np.float32) / np.float32(255)
        return shown[..., None] if self.grayscale_obs and self.grayscale_newaxis else shown


def _size(given: Any) -> tuple[int, int]:
    pair = given if isinstance(given, tuple) else (given, given)
    if len(pair) != 2 or not all(isinstance(one, int | np.integer) and one > 0 for one in pair):
        raise InvalidArgument(
            f"screen_size: expected a positive integer, or (width, height) of two, got {shorten(given)}"
        )
    return int(pair[0]), int(pair[1])
