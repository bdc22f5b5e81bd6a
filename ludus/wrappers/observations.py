"""Observations in another form, with nothing remembered from step to step."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from ludus.core import Env, VectorEnv
from ludus.core.env import ActT, ObsT
from ludus.core.wrapper import WrapObsT
from ludus.errors import InvalidArgument, InvalidSpace, InvalidType, shorten
from ludus.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple
from ludus.spaces.array_space import Array
from ludus.wrappers.rescale import rescaling
from ludus.wrappers.transform import ObservationTransform

__all__ = [
    "DtypeObservation",
    "FilterObservation",
    "FlattenObservation",
    "GrayscaleObservation",
    "RescaleObservation",
    "ReshapeObservation",
    "TransformObservation",
]

DoneT = TypeVar("DoneT")
GRAY = np.array([0.2125, 0.7154, 0.0721])


class TransformObservation(ObservationTransform[WrapObsT, ActT, ObsT]):
    """Shows `func(observation)`; `observation_space` is where the results of one lane are, None for no change.

    In a batch the function is called lane by lane; with `vectorized=True` it takes the whole batch at once.

    >>> import ludus
    >>> env = TransformObservation(ludus.make("GridWorld-v0"), lambda seen: seen + 10)
    >>> env.reset(seed=0)[0]
    array([10, 10])
    """

    lane_fields = ()

    @overload
    def __init__(
        self: "TransformObservation[Any, DoneT, Any]",
        env: VectorEnv[Any, DoneT],
        func: Callable[[Any], object],
        observation_space: Space[object] | None = None,
        *,
        vectorized: bool = False,
    ) -> None: ...

    @overload
    def __init__(
        self,
        env: Env[ObsT, ActT],
        func: Callable[[ObsT], WrapObsT],
        observation_space: Space[object] | None = None,
        *,
        vectorized: bool = False,
    ) -> None: ...

    def __init__(
        self,
        env: Env[Any, ActT],
        func: Callable[[Any], Any],
        observation_space: Space[object] | None = None,
        *,
        vectorized: bool = False,
    ) -> None:
        super().__init__(env)
        if not callable(func):
            raise InvalidType(f"TransformObservation func: expected a function, got {shorten(func)}")
        self.func, self.vectorized = func, vectorized
        if observation_space is not None:
            self.show_observation_space(observation_space)

    def convert(self, observation: ObsT, lead: tuple[int, ...]) -> WrapObsT:
        """Call the function."""
        if not lead or self.vectorized:
            return self.func(observation)
        lanes = [self.func(one) for one in self.env.observation_space.iterate(observation)]
        return self.single_observation_space.concatenate(lanes)


class FilterObservation(ObservationTransform[Any, ActT, object]):
    """Keeps some keys of a `Dict` observation, or some places of a `Tuple`.

    >>> from ludus.core import Env
    >>> class Two(Env):
    ...     observation_space = Dict(a=Discrete(2), b=Discrete(3))
    ...     action_space = Discrete(2)
    ...     def reset(self, *, seed=None, options=None):
    ...         return {"a": 1, "b": 2}, {}
    >>> FilterObservation(Two(), ["b"]).reset()[0]
    {'b': 2}
    """

    lane_fields = ()

    def __init__(self, env: Env[object, ActT], filter_keys: Sequence[str | int]) -> None:
        super().__init__(env)
        space = self.lane_observation_space
        if not isinstance(space, Dict | Tuple):
            raise InvalidSpace(f"FilterObservation: expected a Dict or Tuple observation space, got {space!r}")
        if isinstance(filter_keys, str) or not isinstance(filter_keys, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(f"filter_keys: expected a sequence of keys, got {shorten(filter_keys)}")
        known = list(space.keys()) if isinstance(space, Dict) else list(range(-len(space), len(space)))
        unknown = [key for key in filter_keys if key not in known]
        if unknown or not filter_keys or len(set(filter_keys)) != len(filter_keys):
            raise InvalidArgument(
                f"filter_keys: expected different keys out of {known}, at least one, got {list(filter_keys)}"
            )
        self.filter_keys = filter_keys
        kept = [(key, _part(space, key)) for key in filter_keys]
        self.show_observation_space(Dict(kept) if isinstance(space, Dict) else Tuple([part for _, part in kept]))
        self._named = isinstance(space, Dict)

    def convert(self, observation: Any, lead: tuple[int, ...]) -> dict[str | int, object] | tuple[object, ...]:
        """Pick the parts."""
        if self._named:
            return {key: observation[key] for key in self.filter_keys}
        return tuple(observation[key] for key in self.filter_keys)


def _part(space: Dict[object] | Tuple[object], key: str | int) -> Space[object]:
    return space.spaces[key] if isinstance(space, Dict) else space.spaces[int(key)]


class FlattenObservation(ObservationTransform[Any, ActT, object]):
    """Shows the flat form of an observation, as `Space.flatten` gives it.

    >>> import ludus
    >>> env = FlattenObservation(ludus.make("Bandit-v0"))
    >>> env.reset(seed=0)[0]
    array([1])
    """

    lane_fields = ()

    def __init__(self, env: Env[object, ActT]) -> None:
        super().__init__(env)
        self._space = self.lane_observation_space
        self.show_observation_space(self._space.flat_space())

    def convert(self, observation: object, lead: tuple[int, ...]) -> object:
        """Flatten one, or every lane."""
        if not lead:
            return self._space.flatten(observation)
        if isinstance(self._space, Box | MultiBinary):
            return np.asarray(observation).reshape((*lead, -1)).copy()
        lanes = [self._space.flatten(one) for one in self.env.observation_space.iterate(observation)]
        return self.single_observation_space.concatenate(lanes)


def image_space(name: str, space: Space[object], dimensions: tuple[int, ...]) -> Box[object]:
    is_bytes = isinstance(space, Box) and space.dtype == np.uint8 and len(space.shape) in dimensions
    if not isinstance(space, Box) or not is_bytes or not ((space.low == 0).all() and (space.high == 255).all()):
        raise InvalidSpace(
            f"{name}: expected images, a uint8 Box from 0 to 255 of {dimensions} dimensions, got {space!r}"
        )
    return space


class GrayscaleObservation(ObservationTransform[Array, ActT, Array]):
    """Shows a colour image by its brightness; `keep_dim` keeps a last axis of 1.

    >>> GRAY.sum().round(6)
    np.float64(1.0)
    """

    lane_fields = ()

    def __init__(self, env: Env[Array, ActT], keep_dim: bool = False) -> None:
        super().__init__(env)
        space = image_space("GrayscaleObservation", self.lane_observation_space, (3,))
        if space.shape[-1] != 3:
            raise InvalidSpace(f"GrayscaleObservation: expected 3 channels, got shape {space.shape}")
        self.keep_dim = keep_dim
        self.show_observation_space(Box(0, 255, shape=space.shape[:2] + ((1,) if keep_dim else ()), dtype=np.uint8))

    def convert(self, observation: Array, lead: tuple[int, ...]) -> Array:
        """Weigh the channels."""
        gray = (observation * GRAY).sum(axis=-1).astype(np.uint8)
        return gray[..., None] if self.keep_dim else gray


class ReshapeObservation(ObservationTransform[Array, ActT, Array]):
    """Shows an array in another shape with as many numbers.

    >>> import ludus
    >>> ReshapeObservation(ludus.make("GridWorld-v0"), (2, 1)).reset(seed=0)[0].shape
    (2, 1)
    """

    lane_fields = ()

    def __init__(self, env: Env[Array, ActT], shape: tuple[int, ...]) -> None:
        super().__init__(env)
        space = self.lane_observation_space
        if not isinstance(space, Box):
            raise InvalidSpace(f"ReshapeObservation: expected a Box observation space, got {space!r}")
        if not isinstance(shape, tuple) or not all(isinstance(one, int | np.integer) for one in shape):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(f"ReshapeObservation shape: expected a tuple of integers, got {shorten(shape)}")
        try:
            low, high = space.low.reshape(shape), space.high.reshape(shape)
        except ValueError as error:
            raise InvalidArgument(
                f"ReshapeObservation shape: expected {space.flatdim} numbers in all, got {shape}"
            ) from error
        self.shape = low.shape
        self.show_observation_space(Box(low, high, dtype=space.dtype))

    def convert(self, observation: Array, lead: tuple[int, ...]) -> Array:
        """Reshape behind the lanes."""
        return observation.reshape(lead + self.shape)


class RescaleObservation(ObservationTransform[Array, ActT, Array]):
    """Maps a box onto another, linearly; infinite ends stay where they are.

    >>> import ludus
    >>> RescaleObservation(ludus.make("GridWorld-v0"), 0, 8).observation_space
    Box(0, 8, (2,), int64)
    """

    lane_fields = ()

    def __init__(self, env: Env[Array, ActT], min_obs: object, max_obs: object) -> None:
        super().__init__(env)
        space, self._gradient, self._intercept = rescaling(
            self.lane_observation_space, min_obs, max_obs, "RescaleObservation"
        )
        self.show_observation_space(space)

    def convert(self, observation: Array, lead: tuple[int, ...]) -> Array:
        """Scale and shift."""
        return self._gradient * observation + self._intercept


class DtypeObservation(ObservationTransform[Array, ActT, object]):
    """Shows numbers as another dtype.

    >>> import ludus
    >>> DtypeObservation(ludus.make("GridWorld-v0"), np.float32).reset(seed=0)[0].dtype
    dtype('float32')
    """

    lane_fields = ()

    def __init__(self, env: Env[object, ActT], dtype: npt.DTypeLike) -> None:
        super().__init__(env)
        self.dtype = np.dtype(dtype)
        space = self.lane_observation_space
        if isinstance(space, Box):
            shown: Space[Array] = Box(space.low, space.high, shape=space.shape, dtype=self.dtype)
        elif isinstance(space, Discrete):
            shown = Box(int(space.start), int(space.start + space.n - 1), shape=(), dtype=self.dtype)
        elif isinstance(space, MultiDiscrete):
            shown = MultiDiscrete(space.nvec, dtype=self.dtype, start=space.start)
        elif isinstance(space, MultiBinary):
            shown = Box(0, 1, shape=space.shape, dtype=self.dtype)
        else:
            raise InvalidSpace(f"DtypeObservation: expected a space of arrays or integers, got {space!r}")
        self.show_observation_space(shown)

    def convert(self, observation: object, lead: tuple[int, ...]) -> Array:
        """Cast."""
        return np.asarray(observation).astype(self.dtype)
