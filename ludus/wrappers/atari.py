"""Atari screens as agents are given them: frames skipped, pooled, shrunk and in grey."""

from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from ludus.core import Env, Info, Step
from ludus.core.env import ActT
from ludus.core.fork import Lanes
from ludus.core.options import Options
from ludus.errors import InvalidArgument, InvalidSpace, shorten
from ludus.rendering import resize
from ludus.seeding import Seed
from ludus.spaces import Box, Space
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_integer, is_tuple
from ludus.wrappers.argument import positive
from ludus.wrappers.atari_lanes import STREAM, AtariLanes
from ludus.wrappers.steered import Cutting

__all__ = ["AtariPreprocessing"]

Frame = npt.NDArray[np.uint8]


class Emulator(Protocol):
    """What is asked of `ale`."""

    def lives(self) -> int:
        """How many are left."""
        ...

    def getScreenGrayscale(self, screen: Frame, /) -> object:  # noqa: N802  (the emulator's own name)
        """Draws into an array of height and width."""
        ...

    def getScreenRGB(self, screen: Frame, /) -> object:  # noqa: N802
        """Draws into an array of height, width and colours."""
        ...


class AtariPreprocessing(Cutting[Array, ActT, Array, ActT]):
    """The preprocessing of Machado et al. (2018), for environments with the emulator as `ale`.

    After a reset up to `noop_max` steps do nothing, from a stream of the wrapper's own. Each action is taken for
    `frame_skip` frames, which the environment must not skip itself; the brightest of the last two is shown, at
    `screen_size` (width and height), in grey or colour, as bytes or (`scale_obs`) from 0 to 1. An episode that ends
    early shows its last frame.

    In a batch the screens are the observations where these have the form asked for (`obs_type="grayscale"`, or `"rgb"`
    with `grayscale_obs=False`); otherwise, and for lives that no info tells of, the emulators have to be in reach.

    >>> AtariPreprocessing.using(frame_skip=4, screen_size=84).name
    'AtariPreprocessing'
    """

    lane_fields = ("lives", "game_over")

    def __init__(
        self,
        env: Env[Array, ActT],
        noop_max: int = 30,
        frame_skip: int = 4,
        screen_size: int | tuple[int, int] = 84,
        terminal_on_life_loss: bool = False,
        grayscale_obs: bool = True,
        grayscale_newaxis: bool = False,
        scale_obs: bool = False,
    ) -> None:
        super().__init__(env)
        self.noop_max, self.frame_skip = positive("noop_max", noop_max, 0), positive("frame_skip", frame_skip)
        self.screen_size = _size(screen_size)
        self.terminal_on_life_loss, self.scale_obs = terminal_on_life_loss, scale_obs
        self.grayscale_obs, self.grayscale_newaxis = grayscale_obs, grayscale_newaxis
        self.lives: int | Array = np.zeros(self._lead, np.int64) if self._lead else 0
        self.game_over: bool | Array = np.zeros(self._lead, np.bool_) if self._lead else False
        self._require_frames()
        self._lanes = AtariLanes(self) if self._lead else None
        shape: tuple[int, ...] = self.screen_size[::-1]
        if not grayscale_obs or grayscale_newaxis:
            shape = (*shape, 1 if grayscale_obs else 3)
        kind = np.float32 if scale_obs else np.uint8
        self.show_observation_space(Box(0, 1 if scale_obs else 255, shape, kind))

    def _require_frames(self) -> None:
        space: Space[object] = self.lane_observation_space
        if not isinstance(space, Box) or len(space.shape) not in (2, 3):
            raise InvalidSpace(f"AtariPreprocessing: expected images, a Box of 2 or 3 dimensions, got {space!r}")
        self.screen_shape = space.shape[:2] if self.grayscale_obs else (*space.shape[:2], 3)
        if not self._lead and not self.env.has_wrapper_attr("ale"):
            raise InvalidArgument(
                f"AtariPreprocessing: expected an environment with the emulator as `ale`, got {self.env}"
            )
        skipped = self._asked("_frameskip")
        if self.frame_skip > 1 and skipped != 1:
            raise InvalidArgument(
                f"AtariPreprocessing: expected an environment that skips no frames itself, got a frameskip of "
                f"{shorten(skipped)}; make it with frameskip=1"
            )
        meanings = self._asked("get_action_meanings") if self.noop_max else ["NOOP"]
        if meanings[0] != "NOOP":
            raise InvalidArgument(
                f"AtariPreprocessing: expected 'NOOP' as the meaning of action 0, got {meanings[0]!r}; set noop_max=0"
            )

    def fork(self, lanes: Lanes | None = None) -> Self:
        """Around a fork of the lanes, which go on with streams of their own."""
        twin = super().fork(lanes)
        if self._lanes is not None and lanes is not None:
            twin._lanes = AtariLanes(twin)
            twin._lanes.streams = self._lanes.streams.forked(lanes)
        return twin

    def _asked(self, name: str) -> Any:
        """What the environment, or the first lane, has under a name, called if it can be; None for nothing."""
        if self._lead:
            below: Any = self.unwrapped
            return below.call(name)[0]
        found = self.env.get_wrapper_attr(name) if self.env.has_wrapper_attr(name) else None
        return found() if callable(found) else found

    @property
    def ale(self) -> Any:
        """The emulator; of a batch, one for each lane."""
        below: Any = self.unwrapped
        return below.get_attr("ale") if self._lead else self.env.get_wrapper_attr("ale")

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[Array, Info]:
        """Reset, and do nothing for a while."""
        if self._lanes is not None:
            return self._lanes.reset(seed, options)
        _, info = self.env.reset(seed=seed, options=options)
        nothing: Any = 0  # as `_require_frames` has seen to
        idle = int(self.stream(STREAM).integers(1, self.noop_max + 1)) if self.noop_max else 0
        for _ in range(idle):
            _, _, terminated, truncated, more = self.env.step(nothing)
            info = {**info, **more}
            if terminated or truncated:
                _, info = self.env.reset(options=options)
        self.lives, self.game_over = self.ale.lives(), False
        return self.on_reset(self.shown(self._screen()), info, None)

    def advance(self, action: ActT) -> Step[Array]:
        """Take the action for several frames."""
        if self._lanes is not None:
            return self._lanes.advance(action)
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
        return Step(self.shown(np.maximum.reduce(frames)), total, terminated, truncated, info)

    def _over(self, terminated: bool) -> bool:
        if self.terminal_on_life_loss:
            lives = self.ale.lives()
            terminated, self.lives = terminated or lives < self.lives, lives
        self.game_over = terminated
        return terminated

    def _screen(self) -> Frame:
        return self.screen_of(self.ale)

    def screen_of(self, ale: Emulator) -> Frame:
        """The screen of an emulator, in grey or colour."""
        screen: Frame = np.empty(self.screen_shape, dtype=np.uint8)
        (ale.getScreenGrayscale if self.grayscale_obs else ale.getScreenRGB)(screen)
        return screen

    def shown(self, screen: Frame) -> Array:
        """A screen as it is shown."""
        shown: Array = resize(screen, self.screen_size)
        if self.scale_obs:
            shown = shown.astype(np.float32) / np.float32(255)
        return shown[..., None] if self.grayscale_obs and self.grayscale_newaxis else shown


def _size(given: object) -> tuple[int, int]:
    pair: tuple[object, ...] = given if is_tuple(given) else (given, given)
    lengths = [int(one) for one in pair if is_integer(one) and one > 0]
    if len(pair) != 2 or len(lengths) != 2:
        raise InvalidArgument(
            f"screen_size: expected a positive integer, or (width, height) of two, got {shorten(given)}"
        )
    return lengths[0], lengths[1]
