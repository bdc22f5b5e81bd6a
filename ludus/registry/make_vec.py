"""`make_vec`: many environments of one spec, stepped together."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import index
from typing import Any

from ludus.core import AutoresetMode, Env, EnvSpec, VectorEnv
from ludus.errors import InvalidArgument, InvalidType, listing, shorten
from ludus.registry.make import Target, make, requested
from ludus.vector import SerialVectorEnv
from ludus.wrappers.wrapping import wrapper_of

__all__ = ["make_vec"]

WrapLane = Callable[[Env[Any, Any]], Env[Any, Any]]
EXECUTORS = {"serial": SerialVectorEnv}


def make_vec(
    id: Target,
    num_envs: int = 1,
    executor: str = "serial",
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    wrappers: Sequence[Any] = (),
    **kwargs: Any,
) -> VectorEnv[Any, Any]:
    """A batch of `num_envs` lanes, each made as `make(id, **kwargs)` makes it and then wrapped by each of `wrappers`.

    The executor says where lanes run; it never changes what they do. `spec` is that of one lane.

    >>> envs = make_vec("GridWorld-v0", num_envs=2, size=3)
    >>> envs.reset(seed=0)[1]["goal"]
    array([[2, 1],
           [1, 1]])
    """
    known = EXECUTORS.get(executor) if isinstance(executor, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
    if known is None:
        raise InvalidArgument(f"executor: expected one of {listing(EXECUTORS)}, got {shorten(executor)}")
    if callable(wrappers) or isinstance(wrappers, str | Mapping):
        raise InvalidType(f"wrappers: expected a sequence of wrappers, got {shorten(wrappers)}")
    lane = partial(_lane, requested(id), tuple(wrapper_of(one) for one in wrappers), kwargs)
    envs = known([lane] * _count(num_envs), autoreset_mode=autoreset_mode)
    envs.spec = envs.envs[0].spec
    return envs


def _count(num_envs: Any) -> int:
    try:
        number = index(num_envs)
    except TypeError:
        number = 0
    if isinstance(num_envs, bool) or number < 1:
        raise InvalidArgument(f"num_envs: expected a positive integer, got {shorten(num_envs)}")
    return number


def _lane(spec: EnvSpec, wrappers: tuple[WrapLane, ...], kwargs: dict[str, Any]) -> Env[Any, Any]:
    env = make(spec, **kwargs)
    for wrap in wrappers:
        env = wrap(env)
        if not isinstance(env, Env):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(f"wrappers: expected {shorten(wrap)} to return an Env, got {shorten(env)}")
    return env
