"""`Wrapper`: an environment around an environment. Its constructor arguments are remembered for it."""

from __future__ import annotations

from inspect import BoundArguments, Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ludus.core.autoreset import AutoresetMode
from ludus.core.env import ActT, AnyEnv, Env, Metadata, ObsT
from ludus.core.fork import Lanes, fork_state, lane_fields_of
from ludus.core.info import info_of
from ludus.core.options import Options
from ludus.core.spec import Arguments, EnvSpec, WrapperSpec
from ludus.core.step import Info, Step
from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.seeding import Seed
from ludus.spaces import Space

if TYPE_CHECKING:
    from typing_extensions import TypeVar as DefaultTypeVar

    from ludus.core.vector_env import VectorEnv

__all__ = ["SomeLanes", "Wrapper"]

if TYPE_CHECKING:
    WrapObsT = DefaultTypeVar("WrapObsT", default=Any)
    WrapActT = DefaultTypeVar("WrapActT", default=Any)
else:
    WrapObsT = TypeVar("WrapObsT")
    WrapActT = TypeVar("WrapActT")
Mask = npt.NDArray[np.bool_]


class Wrapper(Env[WrapObsT, WrapActT], Generic[WrapObsT, WrapActT, ObsT, ActT]):
    """Forwards everything to `env`; a subclass changes what it wants to.

    The arguments a wrapper was built with are recorded, so `spec`, `repr` and JSON need nothing from the author.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> class Scaled(Wrapper):
    ...     def __init__(self, env, factor=2.0):
    ...         super().__init__(env)
    ...         self.factor = factor
    ...     def step(self, action):
    ...         step = self.env.step(action)
    ...         return step._replace(reward=step.reward * self.factor)
    >>> Scaled(GridWorld(), factor=3.0)
    <Scaled(factor=3.0)<GridWorld instance>>
    """

    _constructed: tuple[tuple[object, ...], dict[str, object]]
    lane_fields: ClassVar[tuple[str, ...]] = ()
    """The attributes of this very class that have an entry for each lane of a batch: `fork` needs to know."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember the arguments, whatever `__init__` does with them."""
        self = super().__new__(cls)
        self._constructed = (args, kwargs)
        return self

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        if not isinstance(env, Env):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(
                f"{type(self).__name__} env: expected a ludus Env, got {shorten(env)}; "
                "adapt other libraries' environments first (ludus.core.legacy, ludus.interop)"
            )
        self.env: Env[ObsT, ActT] = env
        self._action_space: Space[WrapActT] | None = None
        self._observation_space: Space[WrapObsT] | None = None
        self._metadata: Metadata | None = None

    # --- the episode ---

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[WrapObsT, Info]:
        """Reset the environment below."""
        below: AnyEnv = self.env
        return below.reset(seed=seed, options=options)

    def step(self, action: WrapActT) -> Step[WrapObsT]:
        """Step the environment below."""
        below: AnyEnv = self.env
        return below.step(action)

    def render(self) -> Any:
        """The picture of the environment below."""
        return self.env.render()

    def close(self) -> None:
        """Close the environment below."""
        self.env.close()

    def state_data(self, *, private: bool = False) -> Info:
        """What the environment below shows of the episode."""
        return self.env.state_data(private=private)

    # --- some lanes of a batch ---

    @property
    def _batch_below(self) -> VectorEnv[ObsT, ActT]:
        """The environment below, for whoever knows that it is a batch: a wrapper around one counts as one, too."""
        return cast("VectorEnv[ObsT, ActT]", self.env)

    @property
    def stepped(self) -> Mask | None:
        """Which lanes the step under way moves; None for all of them."""
        return self.env.mask if isinstance(self.env, SomeLanes) else None

    def step_masked(self, action: WrapActT, mask: Mask) -> Step[WrapObsT]:
        """`step`, as every subclass has it, of the lanes of `mask` alone; the others stay as they are."""
        below = self.env
        if mask.all():
            return self.step(action)
        self.env = SomeLanes(below, mask)
        try:
            observation, reward, terminated, truncated, info = self.step(action)
        finally:
            self.env = below
        # Whatever a subclass makes of a step, lanes that made none have earned nothing.
        reward = np.where(mask, reward, 0.0)
        return Step(observation, reward, terminated & mask, truncated & mask, info_of(info, mask) if info else info)

    def autoreset(self, mask: Mask) -> tuple[WrapObsT, Info]:
        """`reset`, as every subclass has it, of the lanes of `mask`, which begin as autoreset begins them."""
        below = self.env
        self.env = SomeLanes(below, mask, begins=True)
        try:
            return self.reset(options={"reset_mask": mask})
        finally:
            self.env = below

    def fork(self, lanes: Lanes | None = None) -> Self:
        """This wrapper around a fork of the batch below: lane `j` goes on from where lane `lanes[j]` is."""
        if not self.batch_shape:
            raise InvalidType(
                "fork: expected a batch, got one environment; take a snapshot() of it, and restore() that into another"
            )
        if lanes is None:
            raise InvalidArgument("fork: expected the lanes to go on from, as in fork([0, 0]), got none")
        lane_fields_of(type(self))
        twin = type(self)(self._batch_below.fork(lanes), **self.arguments)
        fork_state(self, twin, lanes)
        return twin

    # --- arguments, spec and text ---

    @property
    def arguments(self) -> Arguments:
        """The constructor arguments as given, `env` left out."""
        args, kwargs = self._constructed
        return _named(signature(type(self)).bind(*args, **kwargs))

    @classmethod
    def class_name(cls) -> str:
        """The name of the class."""
        return cls.__name__

    @classmethod
    def wrapper_spec(cls, **kwargs: object) -> WrapperSpec:
        """This wrapper with these arguments, not yet applied."""
        return WrapperSpec(cls.class_name(), f"{cls.__module__}:{cls.__qualname__}", kwargs)

    @classmethod
    def using(cls, *args: object, **kwargs: object) -> WrapperSpec:
        """This wrapper with these arguments, not yet applied: the one spelling for pipes, lists, specs and files.

        >>> from ludus.envs.teaching.grid_world import GridWorld
        >>> from ludus.wrappers import TimeLimit
        >>> GridWorld() | TimeLimit.using(5)
        <TimeLimit(max_episode_steps=5)<GridWorld instance>>
        """
        bound = signature(cls).bind(None, *args, **kwargs)
        return cls.wrapper_spec(**_named(bound))

    @property
    def spec(self) -> EnvSpec | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The spec of the environment below, with this wrapper added."""
        below = self.env.spec
        return None if below is None else below.with_wrapper(self.wrapper_spec(**self.arguments))

    def __str__(self) -> str:
        arguments = ", ".join(f"{name}={shorten(value, 40)}" for name, value in self.arguments.items())
        return f"<{type(self).__name__}{f'({arguments})' if arguments else ''}{self.env}>"

    def __repr__(self) -> str:
        return str(self)

    # --- what it is ---

    @property
    def unwrapped(self) -> AnyEnv:
        """The environment under all wrappers."""
        return self.env.unwrapped

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The batch shape of the environment below."""
        return self.env.batch_shape

    @property
    def action_space(self) -> Space[WrapActT]:
        """The wrapper's own action space if it set one, else that of the environment below."""
        below: Space[Any] = self.env.action_space
        return below if self._action_space is None else self._action_space

    @action_space.setter
    def action_space(self, space: Space[WrapActT]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._action_space = space

    @property
    def observation_space(self) -> Space[WrapObsT]:
        """The wrapper's own observation space if it set one, else that of the environment below."""
        below: Space[Any] = self.env.observation_space
        return below if self._observation_space is None else self._observation_space

    @observation_space.setter
    def observation_space(self, space: Space[WrapObsT]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._observation_space = space

    @property
    def metadata(self) -> Metadata:
        """The wrapper's own metadata if it set some, else that of the environment below."""
        return self.env.metadata if self._metadata is None else self._metadata

    @metadata.setter
    def metadata(self, value: Metadata) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._metadata = value

    @property
    def render_mode(self) -> str | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The render mode of the environment below."""
        return self.env.render_mode

    @property
    def num_envs(self) -> int:
        """How many lanes the batch below has; no attribute of a single environment."""
        return self.env.num_envs  # type: ignore[attr-defined]

    @property
    def single_action_space(self) -> Space[Any]:
        """The action space of one lane."""
        return self._of_one_lane("single_action_space")

    @single_action_space.setter
    def single_action_space(self, space: Space[object]) -> None:
        self._single_action_space = space

    @property
    def single_observation_space(self) -> Space[Any]:
        """The observation space of one lane."""
        return self._of_one_lane("single_observation_space")

    @single_observation_space.setter
    def single_observation_space(self, space: Space[object]) -> None:
        self._single_observation_space = space

    def _of_one_lane(self, name: str) -> Space[object]:
        own = self.__dict__.get(f"_{name}")
        return getattr(self.env, name) if own is None else own

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """When the batch below resets its lanes."""
        return self.env.autoreset_mode  # type: ignore[attr-defined]

    # --- randomness: the streams belong to the environment at the bottom ---

    @property
    def np_random(self) -> np.random.Generator:
        """The stream of the environment below; a wrapper draws from `stream(name)` instead."""
        return self.env.np_random

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        self.env.np_random = value

    @property
    def np_random_seed(self) -> int:
        """The seed of the environment below."""
        return self.env.np_random_seed

    def stream(self, name: str) -> np.random.Generator:
        """The stream called `name` of the environment below."""
        return self.env.stream(name)

    # --- snapshots ---

    def _layers(self) -> list[AnyEnv]:
        return [self, *self.env._layers()]

    # --- attributes through wrappers ---

    def has_wrapper_attr(self, name: str) -> bool:
        """Whether this wrapper, or an environment under it, has the attribute."""
        return hasattr(self, name) or self.env.has_wrapper_attr(name)

    def get_wrapper_attr(self, name: str) -> Any:
        """The attribute of the nearest layer that has it; the error names the layers looked at."""
        layer = next((layer for layer in self._layers() if hasattr(layer, name)), None)
        if layer is None and self.unwrapped.has_wrapper_attr(name):  # of an environment elsewhere
            return self.unwrapped.get_wrapper_attr(name)
        if layer is None:
            looked = " → ".join(type(layer).__name__ for layer in self._layers())
            raise AttributeError(f"no attribute {name!r} in {looked}")
        return getattr(layer, name)

    def set_wrapper_attr(self, name: str, value: object, *, force: bool = True) -> bool:
        """Set the attribute on the nearest layer that has it, else here when `force`."""
        if hasattr(self, name):
            setattr(self, name, value)
            return True
        if self.env.set_wrapper_attr(name, value, force=False):
            return True
        if force:
            setattr(self, name, value)
        return force

    def __getattr__(self, name: str) -> Any:
        # Only reached when the attribute is missing. Nothing is forwarded: it would hide which layer answers.
        if not name.startswith("_") and "env" in self.__dict__:
            below = next((layer for layer in self.env._layers() if hasattr(layer, name)), None)
            if below is not None:
                raise AttributeError(
                    f"{type(self).__name__} has no attribute {name!r}, but {type(below).__name__} under it has: "
                    f"use env.get_wrapper_attr({name!r})"
                )
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


class SomeLanes(Wrapper[ObsT, ActT, ObsT, ActT]):
    """A batch as a wrapper sees it in a masked call: whatever it asks of its lanes is asked of those of `mask`.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> from ludus.vector import SerialVectorEnv
    >>> envs = SerialVectorEnv([GridWorld, GridWorld])
    >>> _ = envs.reset(seed=0)
    >>> SomeLanes(envs, np.array([False, True])).step([1, 1]).observation.tolist()
    [[0, 0], [1, 0]]
    """

    def __init__(self, env: Env[ObsT, ActT], mask: Mask, *, begins: bool = False) -> None:
        super().__init__(env)
        self.mask, self.begins = mask, begins
        self._batch = self._batch_below  # whoever steps some lanes of an environment has a batch

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """A reset, of which the first one of an autoreset begins the next episode."""
        if self.begins and seed is None:
            return self._batch.autoreset(self.mask)
        return self._batch.reset(seed=seed, options=options)

    def step(self, action: ActT) -> Step[ObsT]:
        """A step of the lanes of the mask."""
        return self._batch.step_masked(action, self.mask)

    def step_masked(self, action: ActT, mask: Mask) -> Step[ObsT]:
        """A step of the lanes that are in both masks."""
        return self._batch.step_masked(action, mask & self.mask)

    def autoreset(self, mask: Mask) -> tuple[ObsT, Info]:
        """Begins the lanes that are in both masks."""
        return self._batch.autoreset(mask & self.mask)


def _named(bound: BoundArguments) -> Arguments:
    """Bound arguments by name, without the environment, which comes first."""
    found: Arguments = {}
    for place, (name, value) in enumerate(bound.arguments.items()):
        kind = bound.signature.parameters[name].kind
        if kind is Parameter.VAR_KEYWORD:
            found |= {key: one for key, one in value.items() if key != "env"}
        elif kind is Parameter.VAR_POSITIONAL:  # shown, and refused when the wrapper is built again: never dropped
            rest = value[1:] if place == 0 else value
            found |= {f"*{name}": rest} if rest else {}
        elif place > 0 and name != "env":
            found[name] = value
    return found
