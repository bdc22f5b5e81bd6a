"""Arrays of another library: observations as torch tensors or JAX arrays, and actions back.

Between libraries an array passes through DLPack, which shares memory; only what cannot be shared (memory that may not
be written, another device) is copied. torch and JAX are imported here alone, and only when asked for.
"""

from importlib import import_module
from types import ModuleType
from typing import Any, Protocol, TypeGuard

import numpy as np

from ludus.core import Hooked, Info, Step
from ludus.core.env import AnyEnv
from ludus.core.options import Options
from ludus.errors import InvalidArgument, MissingExtra, listing, shorten
from ludus.seeding import Seed
from ludus.spaces.kinds import is_array, is_list_or_tuple, is_mapping, is_scalar

__all__ = ["ArrayConversion", "JaxToNumpy", "JaxToTorch", "NumpyToTorch", "array_conversion", "module_namespace"]

EXTRAS = ("jax", "torch")
LIBRARIES = ("numpy", "torch", "jax.numpy", "cupy", "dpnp", "mlx.core", "ndonnx", "dask.array", "array_api_strict")
"""What a name may stand for; besides, the same behind `array_api_compat`."""


class ArrayLibrary(Protocol):
    """What is asked of an array library's module."""

    def asarray(self, obj: object, /) -> object:
        """An array of its own of a number or a NumPy array."""
        ...

    def from_dlpack(self, x: object, /) -> object:
        """An array of its own on the memory of another library's."""
        ...


def module_namespace(xp: ModuleType | str) -> ArrayLibrary:
    """The module of an array library, from itself or its name; raises MissingExtra, and InvalidArgument for others."""
    library: object = _imported(xp) if isinstance(xp, str) else xp
    if not _is_library(library):
        raise InvalidArgument(
            f"array library: expected a module with asarray and from_dlpack, as numpy, torch and jax.numpy have, "
            f"got {shorten(library)}"
        )
    return library


def _is_library(module: object) -> TypeGuard[ArrayLibrary]:
    return all(callable(getattr(module, name, None)) for name in ("asarray", "from_dlpack"))


def _imported(name: str) -> ModuleType:
    # Specs name libraries, and specs come from anywhere: no other module is imported for one.
    if name.removeprefix("array_api_compat.") not in LIBRARIES:
        raise InvalidArgument(
            f"array library: expected one of {listing(LIBRARIES)} by name, got {name!r}; pass another as a module"
        )
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        top = name.partition(".")[0]
        if error.name != top:
            raise
        hint = f'pip install "ludus-rl[{top}]"' if top in EXTRAS else f"pip install {top}"
        raise MissingExtra(f"array library: expected the package {top}, got none; {hint}", name=top) from error


def array_conversion(value: object, xp: ArrayLibrary, device: object = None, *, numbers: bool = True) -> Any:
    """`value` with every array in it, and, with `numbers`, every number, as an array of `xp`.

    Looks into dictionaries, tuples, named tuples and lists. What no array library holds stays what it is: None, text,
    objects, and arrays of them, whose elements are converted one by one.

    >>> array_conversion({"x": [1, None, "text"]}, np)
    {'x': [array(1), None, 'text']}
    """
    if is_mapping(value):
        return {key: array_conversion(one, xp, device, numbers=numbers) for key, one in value.items()}
    if is_list_or_tuple(value):
        parts = [array_conversion(one, xp, device, numbers=numbers) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if is_array(value) and value.dtype == object:
        column = np.empty_like(value)
        for place, one in np.ndenumerate(value):
            column[place] = array_conversion(one, xp, device, numbers=numbers)
        return column
    if (is_array(value) or is_scalar(value)) and value.dtype.kind not in "biufc":
        return value
    if isinstance(value, bool | int | float | complex) or is_scalar(value):
        return _placed(xp.asarray(value.item() if isinstance(value, np.bool_) else value), device) if numbers else value
    return _converted(value, xp, device) if hasattr(value, "__dlpack__") else value


def _converted(array: object, xp: ArrayLibrary, device: object) -> object:
    if isinstance(array, type(xp.asarray(0))):
        return _placed(array, device)
    if is_array(array) and min(array.strides, default=0) < 0:
        array = array.copy()  # not left to DLPack: torch ends the process over memory that runs backwards
    try:
        made = xp.from_dlpack(array)
    except (BufferError, RuntimeError, TypeError, ValueError):
        # Memory that may not be written, on another device, or part of a graph of derivatives: not to be shared.
        made = xp.asarray(_copied(array))
    return _placed(made, device)


def _copied(array: object) -> object:
    for step in ("detach", "cpu", "numpy"):  # torch has all three; others need none
        array = getattr(array, step, lambda same=array: same)()
    made = np.array(array)
    return made.astype(made.dtype.newbyteorder("="), copy=False)


def _placed(array: object, device: object) -> object:
    """The array on a device; where it already is there, itself."""
    if device is None:
        return array
    move = getattr(array, "to", None) or getattr(array, "to_device", None)
    return array if move is None else move(device)


class ArrayConversion(Hooked[Any, Any, object, Any]):
    """Shows an environment of `env_xp` arrays as one of `target_xp` arrays, in both directions.

    Both are modules or their names, as `"torch"`. One environment still gives a float reward and bool flags; a batch
    gives arrays. Pictures stay NumPy's.

    >>> import ludus
    >>> env = ArrayConversion(ludus.make("GridWorld-v0"), "numpy", np)
    >>> env.reset(seed=0)[0]
    array([0, 0])
    """

    lane_fields = ()

    def __init__(
        self,
        env: AnyEnv,
        env_xp: ModuleType | str,
        target_xp: ModuleType | str,
        env_device: object = None,
        target_device: object = None,
    ) -> None:
        super().__init__(env)
        self._env_xp, self._target_xp = module_namespace(env_xp), module_namespace(target_xp)
        self._env_device, self._target_device = env_device, target_device
        self._single = not env.batch_shape

    def step_masked(self, action: object, mask: object) -> Step[Any]:
        """Step some lanes; the mask is an array of either library."""
        found = self._batch_below.step_masked(
            array_conversion(action, self._env_xp, self._env_device), np.asarray(mask)
        )
        return Step(*(self._shown(one) for one in found))

    def autoreset(self, mask: object) -> tuple[Any, Info]:
        """Begin some lanes; the mask is an array of either library."""
        observation, info = self._batch_below.autoreset(np.asarray(mask))
        return self._shown(observation), self._shown(info)

    def _shown(self, value: object) -> Any:
        return array_conversion(value, self._target_xp, self._target_device)

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[Any, Info]:
        """Reset; arrays among the options are converted."""
        if options is not None:
            options = array_conversion(options, self._env_xp, self._env_device, numbers=False)
        observation, info = self.env.reset(seed=seed, options=options)
        return self._shown(observation), self._shown(info)

    def step(self, action: object) -> Step[Any]:
        """Step with the action converted, and convert what comes."""
        given = array_conversion(action, self._env_xp, self._env_device)
        observation, reward, terminated, truncated, info = self.env.step(given)
        if self._single:
            ends = float(reward), bool(terminated), bool(truncated)
        else:
            ends = self._shown(reward), self._shown(terminated), self._shown(truncated)
        return Step(self._shown(observation), *ends, self._shown(info))


class JaxToNumpy(ArrayConversion):
    """Shows an environment of JAX arrays as one of NumPy arrays.

    >>> JaxToNumpy.using().name
    'JaxToNumpy'
    """

    def __init__(self, env: AnyEnv) -> None:
        super().__init__(env, "jax.numpy", np)


class JaxToTorch(ArrayConversion):
    """Shows an environment of JAX arrays as one of torch tensors, on `device`.

    >>> JaxToTorch.using(device="cpu").kwargs
    {'device': 'cpu'}
    """

    def __init__(self, env: AnyEnv, device: object = None) -> None:
        super().__init__(env, "jax.numpy", "torch", target_device=device)
        self.device = device


class NumpyToTorch(ArrayConversion):
    """Shows an environment of NumPy arrays as one of torch tensors, on `device`.

    >>> NumpyToTorch.using(device="cpu").kwargs
    {'device': 'cpu'}
    """

    def __init__(self, env: AnyEnv, device: object = None) -> None:
        super().__init__(env, np, "torch", target_device=device)
        self.device = device
