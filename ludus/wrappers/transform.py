"""`Transform`: the contract of wrappers for one environment and for a batch, with the law of episodes in one place.

The law: an observation either goes on with an episode or begins one. In a batch, which lanes begin depends on the
autoreset mode; `Transform` works it out once, so that no wrapper has to. Hooks use operators that act on numbers and
arrays alike and look at lanes only when some begin: a NumPy function on a Python number costs ten times an operator.
"""

from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, Env, Info, Step, VectorEnv, Wrapper
from ludus.errors import InvalidArgument, InvalidType, listing, shorten
from ludus.seeding import Seed
from ludus.spaces import Space

__all__ = ["LaneWise", "ObservationTransform", "Transform"]

Mask = npt.NDArray[np.bool_]
SAME_STEP = AutoresetMode.SAME_STEP


class Transform(Wrapper[Any, Any, Any, Any]):
    """A wrapper for any batch shape; its fields are its constructor arguments.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> from ludus.vector import SerialVectorEnv
    >>> class Halved(Transform):
    ...     def after_step(self, step, begun):
    ...         return step._replace(reward=step.reward / 2)
    >>> Halved(SerialVectorEnv([GridWorld, GridWorld])).batch_shape
    (2,)
    """

    state_fields: ClassVar[tuple[str, ...]] = ()
    """The attributes that `state_dict` saves."""

    def __init__(self, env: Env[Any, Any]) -> None:
        super().__init__(env)
        self._lead = env.batch_shape
        self._mode: AutoresetMode | None = self.autoreset_mode if self._lead else None
        self._ended: Mask = np.zeros(self._lead, dtype=np.bool_)

    # --- hooks ---

    def before_step(self, action: Any) -> Any:
        """The action to pass on."""
        return action

    def after_step(self, step: Step[Any], begun: Mask | None) -> Step[Any]:
        """The step to give; `begun` says which lanes begin an episode with this observation, None that none does."""
        return step

    def on_reset(self, observation: Any, info: Info, begun: Mask | None) -> tuple[Any, Info]:
        """What to give for a reset of the lanes `begun`, or of everything (None)."""
        return observation, info

    # --- the law ---

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Reset below, then `on_reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self.on_reset(observation, info, self._reset_lanes(options) if self._lead else None)

    def step(self, action: Any) -> Step[Any]:
        """`before_step`, the step below, then `after_step`."""
        step = self.env.step(self.before_step(action))
        if type(step) is not Step:  # a wrapper of somebody's own may give a plain tuple of the five
            step = Step(*step)
        return self.after_step(step, self._begun(step) if self._lead else None)

    def _reset_lanes(self, options: dict[str, Any] | None) -> Mask | None:
        if options is None or "reset_mask" not in options:
            self._ended = np.zeros(self._lead, dtype=np.bool_)
            return None
        mask: Mask = options["reset_mask"]
        self._ended = self._ended & ~mask
        return None if mask.all() else mask

    def _begun(self, step: Step[Any]) -> Mask | None:
        ended: Mask = step[2] | step[3]
        if self._mode is AutoresetMode.DISABLED:
            return None
        begun, self._ended = (ended, self._ended) if self._mode is SAME_STEP else (self._ended, ended)
        return begun if begun.any() else None

    def of_actions(self, reward: Any, begun: Mask | None) -> Any:
        """`reward`, but 0 for lanes that were reset instead of stepped: no action earned it."""
        return reward if begun is None or self._mode is SAME_STEP else np.where(begun, 0.0, reward)

    def _final(self, info: Info) -> list[tuple[int, Any]]:
        """The lanes that ended in this very step, each with its last observation."""
        if self._mode is not SAME_STEP or "final_obs" not in info:
            return []
        return [(int(lane), info["final_obs"][lane]) for lane in np.flatnonzero(info["_final_obs"])]

    def _with_final(self, info: Info, changed: list[tuple[int, Any]]) -> Info:
        """A copy of `info` with other last observations."""
        column = info["final_obs"].copy()
        for lane, observation in changed:
            column[lane] = observation
        return {**info, "final_obs": column}

    # --- spaces: authors speak of one lane, the batch follows ---

    @property
    def lane_observation_space(self) -> Space[Any]:
        """The observation space of one lane of the environment below."""
        return self.env.single_observation_space if self._lead else self.env.observation_space  # type: ignore[attr-defined]

    @property
    def lane_action_space(self) -> Space[Any]:
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

    def state_dict(self) -> dict[str, Any]:
        """The wrapper's own state (statistics, counters) as a copy."""
        return {name: deepcopy(getattr(self, name)) for name in self.state_fields}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take on what `state_dict` gave."""
        if set(state) != set(self.state_fields):
            raise InvalidArgument(
                f"{type(self).__name__} state: expected the entries {listing(self.state_fields)}, got {listing(state)}"
            )
        for name, value in state.items():
            setattr(self, name, deepcopy(value))


class ObservationTransform(Transform):
    """A transform that shows each observation in another form, last observations included.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class Doubled(ObservationTransform):
    ...     def convert(self, observation, lead):
    ...         return observation * 2
    >>> Doubled(GridWorld()).reset(seed=0)[0]
    array([0, 0])
    """

    def convert(self, observation: Any, lead: tuple[int, ...]) -> Any:
        """The observation to show; `lead` is the batch shape it has in front."""
        raise NotImplementedError(f"{type(self).__name__} defines no convert(observation, lead)")

    def observation(self, observation: Any) -> Any:
        """What `convert` makes of an observation of the environment below, one or a whole batch."""
        return self.convert(observation, self._lead)

    def on_reset(self, observation: Any, info: Info, begun: Mask | None) -> tuple[Any, Info]:
        """Convert the first observation."""
        return self.convert(observation, self._lead), info

    def step(self, action: Any) -> Step[Any]:
        """Convert the observation, and the last ones of lanes that ended."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self._mode is SAME_STEP:
            final = self._final(info)
            if final:
                info = self._with_final(info, [(lane, self.convert(one, ())) for lane, one in final])
        return Step(self.convert(observation, self._lead), reward, terminated, truncated, info)


class LaneWise(Wrapper[Any, Any, Any, Any]):
    """A wrapper that steers an environment step by step: on a batch it goes around every lane, inside the batch.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> from ludus.vector import SerialVectorEnv
    >>> from ludus.wrappers import RepeatAction
    >>> RepeatAction(SerialVectorEnv([GridWorld, GridWorld]), 3).unwrapped.envs[0]
    <RepeatAction(num_repeats=3)<GridWorld instance>>
    """

    def __init__(self, env: Env[Any, Any]) -> None:
        super().__init__(env)
        if env.batch_shape:
            self._move_inside(env)

    def _move_inside(self, env: Any) -> None:
        if not (isinstance(env, VectorEnv) and env.unwrapped is env):
            raise InvalidType(
                f"{type(self).__name__}: expected a batch without wrappers around it, got {shorten(env)}; "
                "it goes around each lane: apply it first, or pass it to make_vec(wrappers=[…])"
            )
        env.wrap_lanes(self.using(**self.arguments))
        # From here on the wrapper only names what the lanes do.
        self.reset, self.step = env.reset, env.step
        self.render = env.render

    @property
    def inside(self) -> bool:
        """Whether the work is done in the lanes of a batch."""
        return bool(self.env.batch_shape)
