"""Hooks: `action`, `observation` and `reward` of a wrapper, and how a batch calls them.

A hook speaks of one environment; `actions`, `observations` and `rewards` of a whole batch. On a batch the form that the
most derived class defines is called: the batch's at once, the other lane by lane. Whatever wrapper a subclass derives
from, a hook that it defines is called: where that wrapper has none of that name, around what the wrapper does itself.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ludus.core.autoreset import AutoresetMode
from ludus.core.env import ActT, Env, ObsT
from ludus.core.options import Options
from ludus.core.step import Info, Step
from ludus.core.wrapper import WrapActT, WrapObsT, Wrapper
from ludus.seeding import Seed
from ludus.spaces import Space
from ludus.spaces.kinds import Array, is_array

__all__ = ["ActionWrapper", "Hooked", "ObservationWrapper", "RewardWrapper"]

Mask = npt.NDArray[np.bool_]
BATCH_FORMS = {"action": "actions", "observation": "observations", "reward": "rewards"}
"""The hooks, and what they are called for a whole batch."""


class Hooked(Wrapper[WrapObsT, WrapActT, ObsT, ActT]):
    """A wrapper whose subclasses may define hooks.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> from ludus.vector import SerialVectorEnv
    >>> from ludus.wrappers import TimeLimit
    >>> class Costly(TimeLimit):
    ...     def reward(self, reward):
    ...         return reward - 0.5
    >>> envs = Costly(SerialVectorEnv([GridWorld, GridWorld]), 9)
    >>> _ = envs.reset(seed=0)
    >>> envs.step([0, 1]).reward
    array([-0.5, -0.5])
    """

    lane_fields = ("_idle",)
    calls: ClassVar[frozenset[str]] = frozenset()
    """The hooks that the methods of this class call themselves."""
    _whole: ClassVar[dict[str, bool]] = dict.fromkeys(BATCH_FORMS, False)
    """Whether a batch is given to a hook at once."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls._whole = {hook: _takes_batches(cls, hook, form) for hook, form in BATCH_FORMS.items()}
        new = {hook for hook, form in BATCH_FORMS.items() if _defines(cls, hook) or _defines(cls, form)} - cls.calls
        if new:
            cls.calls = cls.calls | new
            Hooked._call_around(cls, new)

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        super().__init__(env)
        self._lead = env.batch_shape
        self._mode: AutoresetMode | None = self.autoreset_mode if self._lead else None
        self._idle: Mask | None = None
        """The lanes that the next step begins, where `reward` is called around: no action earns what it gives."""

    @staticmethod
    def _call_around(kind: "type[AnyHooked]", hooks: set[str]) -> None:
        """Have a class call hooks that its bases do not know of: the action first, observation and reward last."""
        inner_step, inner_reset = kind.step, kind.reset

        known = {hook for hook in hooks if _defines(kind, hook)}  # one environment has no use for a batch's form

        @wraps(inner_step)
        def step(self: "AnyHooked", action: object) -> Step[object]:
            called = hooks if self._lead else known
            if "action" in called:
                action = self._hooked_action(action)
            observation, reward, terminated, truncated, info = inner_step(self, action)
            if "reward" in called:
                reward = self._hooked_reward(reward, self._idle_lanes(terminated, truncated))
            if "observation" in called:
                info = self._hooked_finals(info, observation, self.observation_space)
                observation = self._hooked_observation(observation, self.observation_space)
            return Step(observation, reward, terminated, truncated, info)

        @wraps(inner_reset)
        def reset(
            self: "AnyHooked", *, seed: Seed | None = None, options: Options | None = None
        ) -> tuple[object, Info]:
            observation, info = inner_reset(self, seed=seed, options=options)
            self._begin_lanes(options)
            if "observation" in (hooks if self._lead else known):
                observation = self._hooked_observation(observation, self.observation_space)
            return observation, info

        kind.step, kind.reset = step, reset

    # --- calling them, for one environment or for a batch ---

    def _hooked_action(self, action: object) -> ActT:
        own: Any = self
        if not self._lead:
            return own.action(action)
        return own.actions(action) if self._whole["action"] else self._actions_by_lane(action)

    def _actions_by_lane(self, action: object) -> ActT:
        own: Any = self
        space = self._batch_below.single_action_space
        moves = _all_true(self._lead) if self.stepped is None else self.stepped
        given = zip(_lanes_of(self.action_space, action), moves.tolist(), strict=True)
        taken = [own.action(one) if moving else None for one, moving in given]
        chosen: list[object] = [one for one, moving in zip(taken, moves.tolist(), strict=True) if moving]
        filler = chosen[0] if chosen else space.default()  # lanes left out take no action
        each = [one if moving else filler for one, moving in zip(taken, moves.tolist(), strict=True)]
        return _packed(space, each)

    def _hooked_observation(self, observation: object, space: Space[object]) -> WrapObsT:
        own: Any = self
        if not self._lead:
            return own.observation(observation)
        if self._whole["observation"]:
            return own.observations(observation)
        return _packed(self.single_observation_space, [own.observation(one) for one in _lanes_of(space, observation)])

    def _hooked_finals(self, info: Info, observation: object, space: Space[object]) -> Info:
        """Infos with the last observations of episodes as the hook shows them; `observation` is the batch's own."""
        if self._mode is not AutoresetMode.SAME_STEP or "final_obs" not in info:
            return info
        own: Any = self
        column, kind = info["final_obs"].copy(), type(self)
        lanes: list[int] = np.flatnonzero(info["_final_obs"]).tolist()
        if self._whole["observation"] and _owner(kind, "observation") is not _owner(kind, "observations"):
            # Only the batch's form is of this class: last observations stand in for the others.
            rows = _lanes_of(space, observation)
            for lane in lanes:
                rows[lane] = column[lane]
            whole = _packed(self._batch_below.single_observation_space, rows)
            shown = _lanes_of(self.observation_space, own.observations(whole))
            for lane in lanes:
                column[lane] = shown[lane]
        else:
            for lane in lanes:
                column[lane] = own.observation(column[lane])
        return {**info, "final_obs": column}

    def _hooked_reward(self, reward: Any, idle: Mask | None) -> float | Array:
        """The reward to give; `idle` lanes made no step, and earn nothing."""
        own: Any = self
        if not self._lead:
            return own.reward(reward)
        if self._whole["reward"]:
            found = own.rewards(reward)
            return found if idle is None else np.where(idle, 0.0, found)
        lanes = range(len(reward)) if idle is None else np.flatnonzero(~idle).tolist()
        earned, each = np.zeros(self._lead), reward.tolist()
        for lane in lanes:
            earned[lane] = own.reward(each[lane])
        return earned

    def _idle_lanes(self, terminated: Mask, truncated: Mask) -> Mask | None:
        """The lanes that make no step of their own, this time; remembers who will make none the next time."""
        if not self._lead:
            return None
        stepped, before = self.stepped, self._idle
        if self._mode is AutoresetMode.NEXT_STEP:
            ended = terminated | truncated
            if stepped is not None and before is not None:
                ended = np.where(stepped, ended, before)
            self._idle = ended
        if stepped is None:
            return before
        return ~stepped if before is None else before | ~stepped

    def _begin_lanes(self, options: Options | None) -> None:
        mask: Mask | None = None if options is None else options.get("reset_mask")
        self._idle = None if mask is None or self._idle is None else self._idle & ~mask


AnyHooked = Hooked[Any, Any, Any, Any]


def _owner(kind: type, name: str) -> type | None:
    return next((one for one in kind.__mro__ if callable(one.__dict__.get(name))), None)


def _defines(kind: type, name: str) -> bool:
    return _owner(kind, name) is not None


def _takes_batches(kind: type, hook: str, form: str) -> bool:
    """Whether the most derived class that defines either form defines the batch's."""
    one, many = _owner(kind, hook), _owner(kind, form)
    return many is not None and (one is None or kind.__mro__.index(many) <= kind.__mro__.index(one))


def _all_true(lead: tuple[int, ...]) -> Mask:
    return np.ones(lead, dtype=np.bool_)


def _lanes_of(space: Space[object], batch: object) -> list[object]:
    return list(batch) if is_array(batch) else list(space.iterate(batch))


def _packed(space: Space[object], lanes: list[Any]) -> Any:
    """Values of lanes as one, as the space's batch has them; numbers and arrays in the dtype they have."""
    kinds: Callable[[object], bool] = lambda one: isinstance(one, np.ndarray | np.generic | int | float)  # noqa: E731
    return np.stack(lanes) if all(map(kinds, lanes)) else space.concatenate(lanes)


class ObservationWrapper(Hooked[WrapObsT, ActT, ObsT, ActT]):
    """A wrapper that changes observations, by `observation`, or `observations` for a whole batch.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class Doubled(ObservationWrapper):
    ...     def observation(self, observation):
    ...         return observation * 2
    >>> Doubled(GridWorld()).reset(seed=0)[0]
    array([0, 0])
    """

    calls = frozenset({"observation"})

    def observation(self, observation: ObsT) -> WrapObsT:
        """The observation to show instead."""
        raise NotImplementedError(f"{type(self).__name__} defines no observation(observation)")

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[WrapObsT, Info]:
        """Reset, with the observation changed."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._hooked_observation(observation, self.env.observation_space), info

    def step(self, action: ActT) -> Step[WrapObsT]:
        """Step, with the observation changed."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if not self._lead:
            return Step(self.observation(observation), reward, terminated, truncated, info)
        space = self.env.observation_space
        info = self._hooked_finals(info, observation, space)
        return Step(self._hooked_observation(observation, space), reward, terminated, truncated, info)


class ActionWrapper(Hooked[ObsT, WrapActT, ObsT, ActT]):
    """A wrapper that changes actions, by `action`, or `actions` for a whole batch.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class Mirrored(ActionWrapper):
    ...     def action(self, action):
    ...         return 3 - action
    >>> env = Mirrored(GridWorld())
    >>> _ = env.reset(seed=0)
    >>> env.step(0).observation
    array([0, 1])
    """

    calls = frozenset({"action"})

    def action(self, action: WrapActT) -> ActT:
        """The action to take instead."""
        raise NotImplementedError(f"{type(self).__name__} defines no action(action)")

    def step(self, action: WrapActT) -> Step[ObsT]:
        """Step with the changed action."""
        return self.env.step(self._hooked_action(action) if self._lead else self.action(action))


class RewardWrapper(Hooked[ObsT, ActT, ObsT, ActT]):
    """A wrapper that changes rewards, by `reward`, or `rewards` for a whole batch.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class Penalty(RewardWrapper):
    ...     def reward(self, reward):
    ...         return reward - 0.5
    >>> env = Penalty(GridWorld())
    >>> _ = env.reset(seed=0)
    >>> env.step(0).reward
    -0.5
    """

    calls = frozenset({"reward"})

    def reward(self, reward: Any) -> Any:
        """The reward to give instead."""
        raise NotImplementedError(f"{type(self).__name__} defines no reward(reward)")

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Reset; no lane that begins here waits for it any more."""
        result = self.env.reset(seed=seed, options=options)
        self._begin_lanes(options)
        return result

    def step(self, action: ActT) -> Step[ObsT]:
        """Step, with the reward changed."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if not self._lead:
            return Step(observation, self.reward(reward), terminated, truncated, info)
        idle = self._idle_lanes(terminated, truncated)
        return Step(observation, self._hooked_reward(reward, idle), terminated, truncated, info)
