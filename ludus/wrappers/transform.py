"""`Transform`: the contract of wrappers for one environment and for a batch, with the law of episodes in one place.

The law: an observation either goes on with an episode or begins one. In a batch, which lanes begin depends on the
autoreset mode; `Transform` works it out once, so that no wrapper has to. Hooks use operators that act on numbers and
arrays alike and look at lanes only when some begin: a NumPy function on a Python number costs ten times an operator.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, Env, Hooked, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.options import Options
from ludus.core.wrapper import SomeLanes, WrapActT, WrapObsT
from ludus.errors import InvalidArgument, listing
from ludus.seeding import Seed
from ludus.spaces import Space
from ludus.spaces.kinds import class_of
from ludus.wrappers.streams import LaneStreams

__all__ = ["ActionTransform", "ObservationTransform", "RewardTransform", "Transform"]

Mask = npt.NDArray[np.bool_]
SAME_STEP = AutoresetMode.SAME_STEP


class Transform(Hooked[WrapObsT, WrapActT, ObsT, ActT]):
    """A wrapper for any batch shape; its fields are its constructor arguments.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> from ludus.vector import SerialVectorEnv
    >>> class Halved(Transform):
    ...     def after_step(self, step, begun):
    ...         return step._replace(reward=step.reward / 2)
    >>> Halved(SerialVectorEnv([GridWorld, GridWorld])).batch_shape
    (2,)
    """

    lane_fields = ("_ended",)
    state_fields: ClassVar[tuple[str, ...]] = ()
    """The attributes that `state_dict` saves."""

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        super().__init__(env)
        self._ended: Mask = np.zeros(self._lead, dtype=np.bool_)

    # --- hooks ---

    def before_step(self, action: WrapActT) -> ActT:
        """The action to pass on."""
        same: Any = action  # who leaves this as it is has actions of one type
        return same

    def after_step(self, step: Step[ObsT], begun: Mask | None) -> Step[WrapObsT]:
        """The step to give; `begun` says which lanes begin an episode with this observation, None that none does."""
        same: Any = step
        return same

    def on_reset(self, observation: ObsT, info: Info, begun: Mask | None) -> tuple[WrapObsT, Info]:
        """What to give for a reset of the lanes `begun`, or of everything (None)."""
        same: Any = observation
        return same, info

    # --- the law ---

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[WrapObsT, Info]:
        """Reset below, then `on_reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self.on_reset(observation, info, self._reset_lanes(options) if self._lead else None)

    def step(self, action: WrapActT) -> Step[WrapObsT]:
        """`before_step`, the step below, then `after_step`."""
        step = self.env.step(self.before_step(action))
        if class_of(step) is not Step:  # a wrapper of somebody's own may give a plain tuple of the five
            step = Step.of(step)
        return self.after_step(step, self._begun(step) if self._lead else None)

    def _reset_lanes(self, options: Options | None) -> Mask | None:
        if options is None or "reset_mask" not in options:
            self._ended = np.zeros(self._lead, dtype=np.bool_)
            return None
        mask: Mask = options["reset_mask"]
        self._ended = self._ended & ~mask
        return None if mask.all() else mask

    def _begun(self, step: Step[object]) -> Mask | None:
        ended: Mask = step[2] | step[3]
        if self._mode is AutoresetMode.DISABLED:
            return None
        if self._mode is SAME_STEP:
            return ended if np.count_nonzero(ended) else None  # in a third of the time of `any`
        begun, stepped = self._ended, self.stepped
        if stepped is not None:
            begun, ended = begun & stepped, np.where(stepped, ended, begun)
        self._ended = ended
        return begun if np.count_nonzero(begun) else None

    def idle(self, begun: Mask | None) -> Mask | None:
        """The lanes that made no step of their own: reset instead of stepped, or left alone. None for none."""
        reset, stepped = None if self._mode is SAME_STEP else begun, self.stepped
        if stepped is None:
            return reset
        return ~stepped if reset is None else reset | ~stepped

    def final_observations(self, info: Info) -> list[tuple[int, Any]]:
        """The lanes that ended in this very step, each with its last observation."""
        if self._mode is not SAME_STEP or "final_obs" not in info:
            return []
        return [(int(lane), info["final_obs"][lane]) for lane in np.flatnonzero(info["_final_obs"])]

    def with_final(self, info: Info, changed: Sequence[tuple[int, object]]) -> Info:
        """A copy of `info` with other last observations."""
        column = info["final_obs"].copy()
        for lane, observation in changed:
            column[lane] = observation
        return {**info, "final_obs": column}

    def note_streams(self, streams: LaneStreams, seed: Seed | None, options: Options | None) -> None:
        """Tell the streams of lanes of a reset, or of lanes that an autoreset began."""
        mask: Mask | None = None if options is None else options.get("reset_mask")
        lanes = np.ones(self._lead, dtype=np.bool_) if mask is None else mask
        if isinstance(self.env, SomeLanes):
            streams.begin(lanes)
        else:
            streams.reset(seed, lanes)

    # --- spaces: authors speak of one lane, the batch follows ---

    @property
    def lane_observation_space(self) -> Space[object]:
        """The observation space of one lane of the environment below."""
        return self.env.single_observation_space if self._lead else self.env.observation_space  # type: ignore[attr-defined]

    @property
    def lane_action_space(self) -> Space[object]:
        """The action space of one lane of the environment below."""
        return self.env.single_action_space if self._lead else self.env.action_space  # type: ignore[attr-defined]

    def show_observation_space(self, space: Space[Any]) -> None:
        """Give one lane this observation space."""
        if self._lead:
            self.single_observation_space = space
        self.observation_space = space.batch(self._lead[0]) if self._lead else space

    def show_action_space(self, space: Space[Any]) -> None:
        """Give one lane this action space."""
        if self._lead:
            self.single_action_space = space
        self.action_space = space.batch(self._lead[0]) if self._lead else space

    # --- saved state ---

    def state_dict(self) -> dict[str, object]:
        """The wrapper's own state (statistics, counters) as a copy."""
        return {name: deepcopy(getattr(self, name)) for name in self.state_fields}

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """Take on what `state_dict` gave."""
        if set(state) != set(self.state_fields):
            raise InvalidArgument(
                f"{type(self).__name__} state: expected the entries {listing(self.state_fields)}, got {listing(state)}"
            )
        for name, value in state.items():
            setattr(self, name, deepcopy(value))


class ObservationTransform(Transform[WrapObsT, ActT, ObsT, ActT]):
    """A transform that shows each observation in another form, last observations included.

    A subclass defines `convert`, for one and for a batch, or `observation`, for one alone.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class Doubled(ObservationTransform):
    ...     def convert(self, observation, lead):
    ...         return observation * 2
    >>> Doubled(GridWorld()).reset(seed=0)[0]
    array([0, 0])
    """

    calls = frozenset({"observation"})
    _quick: ClassVar[bool] = True
    """Whether nothing but `convert` and hooks of observations has been defined: then a step need not ask."""
    _plain: ClassVar[bool] = True
    """Whether nothing but `convert` has been defined."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        own = ObservationTransform[object, object, object]
        cls._quick = (cls.before_step, cls.after_step) == (own.before_step, own.after_step)
        cls._plain = cls._quick and cls.observation == own.observation

    def convert(self, observation: ObsT, lead: tuple[int, ...]) -> WrapObsT:
        """The observation to show; `lead` is the batch shape it has in front."""
        raise NotImplementedError(f"{type(self).__name__} defines no convert(observation, lead)")

    def observation(self, observation: ObsT) -> WrapObsT:
        """What is shown of one observation."""
        return self.convert(observation, ())

    def observations(self, observations: ObsT) -> WrapObsT:
        """What is shown of the observations of a batch."""
        return self.convert(observations, self._lead)

    def _shown(self, observation: ObsT) -> WrapObsT:
        if not self._lead:
            return self.observation(observation)
        return self._hooked_observation(observation, self.env.observation_space)

    def on_reset(self, observation: ObsT, info: Info, begun: Mask | None) -> tuple[WrapObsT, Info]:
        """Convert the first observation."""
        return self._shown(observation), info

    def after_step(self, step: Step[ObsT], begun: Mask | None) -> Step[WrapObsT]:
        """Convert the observation, and the last ones of lanes that ended."""
        observation, reward, terminated, truncated, info = step
        if self._mode is SAME_STEP:
            info = self._hooked_finals(info, observation, self.env.observation_space)
        return Step(self._shown(observation), reward, terminated, truncated, info)

    def step(self, action: ActT) -> Step[WrapObsT]:
        """Step, and convert."""
        if not self._quick:
            return super().step(action)
        if self._lead or not self._plain:
            return self.after_step(self.env.step(action), None)
        observation, reward, terminated, truncated, info = self.env.step(action)
        return Step(self.convert(observation, ()), reward, terminated, truncated, info)


class ActionTransform(Transform[ObsT, WrapActT, ObsT, ActT]):
    """A transform that takes each action in another form; `action` and `actions` say which.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class Mirrored(ActionTransform):
    ...     def action(self, action):
    ...         return 3 - action
    >>> env = Mirrored(GridWorld())
    >>> _ = env.reset(seed=0)
    >>> env.step(0).observation
    array([0, 1])
    """

    calls = frozenset({"action"})

    def action(self, action: WrapActT) -> ActT:
        """The action to pass on."""
        raise NotImplementedError(f"{type(self).__name__} defines no action(action)")

    def before_step(self, action: WrapActT) -> ActT:
        """Pass on another action."""
        return self._hooked_action(action) if self._lead else self.action(action)


class RewardTransform(Transform[ObsT, ActT, ObsT, ActT]):
    """A transform that gives another reward, 0 to lanes that made no step; `reward` and `rewards` say which.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class Costly(RewardTransform):
    ...     def reward(self, reward):
    ...         return reward - 0.5
    >>> env = Costly(GridWorld())
    >>> _ = env.reset(seed=0)
    >>> env.step(0).reward
    -0.5
    """

    calls = frozenset({"reward"})

    def reward(self, reward: Any) -> Any:
        """The reward to give."""
        raise NotImplementedError(f"{type(self).__name__} defines no reward(reward)")

    def after_step(self, step: Step[ObsT], begun: Mask | None) -> Step[ObsT]:
        """Give another reward."""
        reward = self._hooked_reward(step[1], self.idle(begun)) if self._lead else self.reward(step[1])
        return Step(step[0], reward, step[2], step[3], step[4])
