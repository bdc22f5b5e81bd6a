"""Atari preprocessing of a batch: what one emulator is asked step by step, asked of the lanes that it concerns."""

from typing import TYPE_CHECKING

import numpy as np

from ludus.core import Info, Step, VectorEnv
from ludus.core.info import FINAL, add_final, info_of, joined
from ludus.core.options import Options
from ludus.errors import InvalidArgument
from ludus.seeding import Seed
from ludus.spaces import Space
from ludus.spaces.array_space import Array
from ludus.wrappers.lanes import expanded
from ludus.wrappers.streams import LaneStreams
from ludus.wrappers.transform import SAME_STEP, Mask

if TYPE_CHECKING:
    from ludus.wrappers.atari import AtariPreprocessing

__all__ = ["STREAM", "AtariLanes"]

STREAM = "AtariPreprocessing"


class AtariLanes:
    """The lanes under a wrapper. Snapshots and copies hold it as part of the wrapper's state.

    >>> AtariLanes.__name__
    'AtariLanes'
    """

    def __init__(self, owner: "AtariPreprocessing") -> None:
        self.owner = owner
        space: Space[object] = owner.lane_observation_space
        self.direct = space.shape == owner.screen_shape and space.dtype == np.uint8
        """Whether an observation is the screen that is asked for."""
        self.streams = LaneStreams(STREAM, owner.num_envs, getattr(owner.unwrapped, "episodes", None))
        if not self.direct:
            self._require_emulators()

    def _require_emulators(self) -> None:
        form = "grayscale" if self.owner.grayscale_obs else "rgb"
        if self.owner.autoreset_mode is SAME_STEP:
            raise InvalidArgument(
                "AtariPreprocessing: expected observations that are the screens asked for, since autoreset in the same "
                f"step draws over the last one; make the lanes with obs_type={form!r}, or autoreset_mode='NextStep'"
            )
        try:
            self._emulated()
        except Exception as error:
            raise InvalidArgument(
                "AtariPreprocessing: expected emulators in reach, or observations that are the screens asked for, got "
                f"{type(error).__name__}: {error}; make the environment with obs_type={form!r}"
            ) from error

    # --- what lanes show ---

    def _screens(self, observation: Array) -> Array:
        if self.direct:
            return observation.copy()
        return self._emulated()

    def _emulated(self) -> Array:
        return np.stack([self.owner.screen_of(ale) for ale in self.owner.ale])

    def _shown(self, screens: Array) -> Array:
        return np.stack([self.owner.shown(screen) for screen in screens])

    def _lives(self, info: Info) -> Array:
        """The lives of all lanes; of those whose info has none, what is known of them."""
        lives = np.asarray(self.owner.lives)
        if "lives" in info:
            reported: Array = np.asarray(info["lives"])
            lives = np.where(np.asarray(info.get("_lives", True)), reported, lives)
        elif self.owner.autoreset_mode is not SAME_STEP:
            return np.array([ale.lives() for ale in self.owner.ale])
        elif "lives" not in info.get("final_info", {}):
            raise InvalidArgument(
                "AtariPreprocessing: expected info['lives'], since autoreset in the same step forgets how many were "
                "left, got none; make the batch with autoreset_mode='NextStep', or leave terminal_on_life_loss out"
            )
        return lives

    def _last_lives(self, info: Info) -> Array:
        """The lives after a frame, also of lanes whose episode is over and that have begun another."""
        lives, final = self._lives(info), info.get("final_info", {})
        return np.where(final["_lives"], final["lives"], lives) if "lives" in final else lives

    # --- episodes that begin ---

    def reset(self, seed: Seed | None, options: Options | None) -> tuple[Array, Info]:
        """Reset lanes, and have them do nothing for a while."""
        owner = self.owner
        observation, info = owner.env.reset(seed=seed, options=options)
        begun = owner.note_reset(options)
        owner.note_streams(self.streams, seed, options)
        lanes = np.ones(owner.num_envs, np.bool_) if begun is None else begun
        observation, info = self._begin(lanes, observation, info)
        return owner.on_reset(self._shown(self._screens(observation)), info, begun)

    def _begin(self, lanes: Mask, observation: Array, info: Info) -> tuple[Array, Info]:
        """Have lanes that have just begun do nothing for a while."""
        owner, below = self.owner, self._below
        idle, nothing = np.zeros(owner.num_envs, np.int64), owner.env.action_space.default()
        if owner.noop_max:
            for lane in np.flatnonzero(lanes).tolist():
                idle[lane] = int(self.streams[lane].integers(1, owner.noop_max + 1))
        for _ in range(int(idle.max())):
            observation, _, terminated, truncated, more = below.step_masked(nothing, idle > 0)
            idle = np.maximum(idle - 1, 0)
            over = terminated | truncated
            if over.any():
                observation, more, info = self._begun_again(over, observation, more, info_of(info, ~over))
            info = joined(info, more)
        if owner.terminal_on_life_loss:
            owner.lives = np.where(lanes, self._lives(info), owner.lives)
        owner.game_over = owner.game_over & ~lanes
        return observation, info

    def _begun_again(self, over: Mask, observation: Array, more: Info, info: Info) -> tuple[Array, Info, Info]:
        """Begin lanes that ended while they did nothing, where the batch does not."""
        if self.owner.autoreset_mode is SAME_STEP:
            fresh = {key: one for key, one in more.items() if key.removeprefix("_") not in FINAL}
            return observation, fresh, info
        observation, fresh = self._below.autoreset(over)
        return observation, joined(info_of(more, ~over), fresh), info

    @property
    def _below(self) -> VectorEnv[Array, object]:
        return self.owner._batch_below  # pyright: ignore[reportPrivateUsage]

    # --- steps ---

    def advance(self, action: object) -> Step[Array]:
        """Take the action for several frames; lanes that begin do nothing for a while instead."""
        owner = self.owner
        begun = owner.beginning()
        step = owner.step_below(action)
        moved = ~begun if owner.stepped is None else owner.stepped & ~begun
        lost = self._lost(moved, step.info)
        shown, going = self._screens(step.observation), moved
        for frame in range(1, owner.frame_skip):
            going = going & ~(lost | step.terminated | step.truncated)
            if not going.any():
                break
            again = Step.of(self._below.step_masked(action, going))
            lost = lost | self._lost(going, again.info)
            screens = self._screens(again.observation)
            if frame == owner.frame_skip - 1:
                again, screens = self._pooled(again, shown, screens)
            shown = np.where(expanded(going, shown.ndim), screens, shown)
            info = joined(info_of(step.info, ~going), again.info)
            flags = step.terminated | again.terminated, step.truncated | again.truncated
            step = Step(again.observation, step.reward + again.reward, *flags, info)
        cut = lost & ~(step.terminated | step.truncated)
        step = step._replace(terminated=step.terminated | lost)
        owner.game_over = np.where(moved, step.terminated, owner.game_over)
        return self._ended(step, cut, shown, begun)

    def _lost(self, moved: Mask, info: Info) -> Mask:
        """The lanes that lost a life with this frame."""
        owner = self.owner
        if not owner.terminal_on_life_loss or not moved.any():
            return np.zeros_like(moved)
        lives = self._last_lives(info)
        lost = moved & (lives < owner.lives)
        owner.lives = np.where(moved, lives, owner.lives)
        return lost

    def _pooled(self, step: Step[Array], before: Array, screens: Array) -> tuple[Step[Array], Array]:
        """The brightest of the last two frames, also where the last one is of an episode that is over."""
        owner = self.owner
        final = owner.final_observations(step.info)
        if final:
            pooled = [(lane, np.maximum(before[lane], last)) for lane, last in final]
            step = step._replace(info=owner.with_final(step.info, pooled))
        return step, np.maximum(before, screens)

    def _ended(self, step: Step[Array], cut: Mask, shown: Array, begun: Mask) -> Step[Array]:
        """The step with its screens; lanes that are cut end here, and lanes that began do nothing for a while."""
        owner = self.owner
        observation, reward, terminated, truncated, info = step
        if owner.autoreset_mode is SAME_STEP:
            final = [(lane, owner.shown(last)) for lane, last in owner.final_observations(info)]
            info = owner.with_final(info, final) if final else info
            if cut.any():
                last = [owner.shown(shown[lane]) for lane in np.flatnonzero(cut).tolist()]
                observation, fresh = self._below.autoreset(cut)
                info = add_final(info, cut, last, fresh)
            begun = terminated | truncated
        elif cut.any():
            owner.wait_for_reset(cut)
        if begun.any():
            self.streams.begin(begun)
            final_info = {key: one for key, one in info.items() if key.removeprefix("_") in FINAL}
            own = {key: one for key, one in info.items() if key not in final_info}
            observation, fresh = self._begin(begun, observation, info_of(own, begun))
            info = joined(joined(info_of(own, ~begun), fresh), final_info)
            shown = np.where(expanded(begun, shown.ndim), self._screens(observation), shown)
        return Step(self._shown(shown), reward, terminated, truncated, info)
