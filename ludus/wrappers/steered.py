"""Wrappers that steer lanes step by step: several steps below for one above, or episodes that end only here."""

from typing import ClassVar

import numpy as np

from ludus.core import AutoresetMode, Env, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.info import add_final, joined
from ludus.core.options import Options
from ludus.core.wrapper import WrapActT, WrapObsT
from ludus.errors import ResetNeeded
from ludus.seeding import Seed
from ludus.spaces.kinds import class_of
from ludus.wrappers.lanes import lane_of
from ludus.wrappers.transform import SAME_STEP, Mask, Transform

__all__ = ["Cutting", "Steered"]


class Steered(Transform[WrapObsT, WrapActT, ObsT, ActT]):
    """A transform that makes steps below as it sees fit, in `advance`.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class Twice(Steered):
    ...     def advance(self, action):
    ...         self.env.step(action)
    ...         return self.env.step(action)
    >>> env = Twice(GridWorld())
    >>> _ = env.reset(seed=0)
    >>> env.step(1).observation
    array([2, 0])
    """

    _quick: ClassVar[bool] = True
    """Whether no subclass has hooks of its own around a step."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        own = Transform[object, object, object, object]
        cls._quick = (cls.before_step, cls.after_step) == (own.before_step, own.after_step)

    def advance(self, action: ActT) -> Step[ObsT]:
        """The step to give."""
        raise NotImplementedError(f"{type(self).__name__} defines no advance(action)")

    def step(self, action: WrapActT) -> Step[WrapObsT]:
        """`before_step`, `advance`, then `after_step`."""
        step = self.advance(self.before_step(action))
        return self.after_step(step, self._begun(step) if self._lead else None)

    def moving(self, step: Step[object]) -> Mask:
        """The lanes that made this step and can make another: not those that began with it, nor those that ended."""
        going: Mask = ~(step.terminated | step.truncated)
        if self._mode is AutoresetMode.NEXT_STEP:
            going &= ~self._ended
        return going if self.stepped is None else going & self.stepped


class Cutting(Steered[WrapObsT, WrapActT, ObsT, ActT]):
    """A transform that ends episodes of lanes below which they go on.

    >>> from ludus.wrappers import TimeLimit
    >>> issubclass(TimeLimit, Cutting)
    True
    """

    lane_fields = ("_cut",)

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        super().__init__(env)
        self._cut: Mask | None = None
        """The lanes whose episodes were ended here: their next step begins one, or is an error."""

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[WrapObsT, Info]:
        """Reset; lanes that begin here wait for it no longer."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self.on_reset(observation, info, self.note_reset(options) if self._lead else None)

    def note_reset(self, options: Options | None) -> Mask | None:
        """Which lanes a reset has begun, None for all: they wait for it no longer."""
        begun = self._reset_lanes(options)
        if self._cut is not None:
            cut = None if begun is None else self._cut & ~begun
            self._cut = cut if cut is not None and cut.any() else None
        return begun

    def beginning(self) -> Mask:
        """The lanes that the next step begins instead of stepping them."""
        if self._mode is not AutoresetMode.NEXT_STEP:
            return np.zeros(self._lead, np.bool_)
        return self._ended if self.stepped is None else self._ended & self.stepped

    def step_below(self, action: ActT) -> Step[ObsT]:
        """A step of the environment below; lanes that were cut begin instead."""
        if self._cut is None:
            step = self.env.step(action)
            return step if class_of(step) is Step else Step.of(step)
        stepped = self.stepped
        now = self._cut if stepped is None else self._cut & stepped
        below = self._batch_below
        if not now.any():
            return below.step(action)
        if self._mode is AutoresetMode.DISABLED:
            raise ResetNeeded(
                f"step: expected lanes under way, got ended lanes {np.flatnonzero(now).tolist()}; "
                "reset them with options={'reset_mask': mask}"
            )
        left = self._cut & ~now
        observation, fresh = below.autoreset(now)
        self._cut = left if left.any() else None
        rest = ~now if stepped is None else stepped & ~now
        if not rest.any():
            none = np.zeros(self._lead, np.bool_)
            return Step(observation, np.zeros(self._lead), none, none.copy(), fresh)
        observation, reward, terminated, truncated, info = below.step_masked(action, rest)
        return Step(observation, reward, terminated, truncated, joined(fresh, info))

    def cut(self, step: Step[ObsT], lanes: Mask) -> Step[ObsT]:
        """The step in which the episodes of these lanes end here; its flags say so already."""
        if self._mode is not SAME_STEP:
            self.wait_for_reset(lanes)
            return step
        space = self.lane_observation_space
        last = [lane_of(space, step.observation, lane) for lane in np.flatnonzero(lanes).tolist()]
        observation, fresh = self._batch_below.autoreset(lanes)
        return step._replace(observation=observation, info=add_final(step.info, lanes, last, fresh))

    def wait_for_reset(self, lanes: Mask) -> None:
        """Have lanes, whose episodes end here, begin with their next step, or be reset by the caller."""
        self._cut = lanes if self._cut is None else self._cut | lanes
